package catalogue

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"unicode/utf8"

	"berth/environment"

	"github.com/google/uuid"
)

// Limits on what is not limited elsewhere.
const (
	maxDescription = 2000
	maxMetadata    = 64 << 10
)

// planned is an environment on its way from one state to the next, with
// everything that is wrong about it. Nothing of it is stored yet.
type planned struct {
	s    *Service
	old  *environment.Environment // nil: a new one
	next environment.Environment
	// fresh are secrets that a save would store, by their new id.
	fresh map[uuid.UUID]freshSecret
	// made are those of fresh that are a company's, by the path that refers.
	made     map[string]uuid.UUID
	bindings []environment.SecretBinding // all references to companies' secrets
	mixed    int                         // how many problems are of another company's secret
	output   environment.ConfigOutput    // of the driver; zero when it was not asked
	problems []environment.FieldError
}

type freshSecret struct {
	name    string
	value   environment.Secret
	company *uuid.UUID // nil: the environment's own
}

// plan lays a patch over a row, or over nothing, and checks the result. What is
// wrong with single fields is in problems; an error is anything else.
func (s *Service) plan(ctx context.Context, old *environment.Environment, p environment.Patch) (*planned, error) {
	c := &planned{s: s, old: old, fresh: map[uuid.UUID]freshSecret{}, made: map[string]uuid.UUID{}}
	now := s.now()
	if old != nil {
		c.next = *old
		c.next.EnvVars = maps.Clone(old.EnvVars)
	} else {
		c.next = environment.Environment{ID: environment.NewID(), Status: environment.StatusActive, Revision: 1, ConfigRevision: 1, CreatedAt: now}
	}
	c.next.UpdatedAt = now
	c.name(p)
	c.status(p)
	c.metadata(p.Metadata)
	c.budget(p)
	if err := c.driver(p.Driver); err != nil {
		return nil, err
	}
	for _, step := range []func() error{
		func() error { return c.newSecrets(ctx, &p) },
		func() error { return c.config(ctx, p) },
		func() error { return c.envVars(ctx, p) },
		func() error { return c.bind(ctx) },
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (c *planned) problem(field, message string) {
	c.problems = append(c.problems, environment.FieldError{Field: field, Message: message})
}

func (c *planned) name(p environment.Patch) {
	if p.Name != nil {
		clean, problem := environment.CleanName(*p.Name)
		if problem != "" {
			c.problem("name", problem)
		} else {
			c.next.Name = clean
		}
	}
	if !p.SetDescription {
		return
	}
	c.next.Description = nil
	if p.Description == nil {
		return
	}
	text := strings.TrimSpace(*p.Description)
	switch {
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		c.problem("description", "The description holds characters that cannot be shown.")
	case utf8.RuneCountInString(text) > maxDescription:
		c.problem("description", fmt.Sprintf("A description has at most %d characters.", maxDescription))
	case text != "":
		c.next.Description = &text
	}
}

func (c *planned) status(p environment.Patch) {
	if p.Status == nil {
		return
	}
	switch *p.Status {
	case environment.StatusActive, environment.StatusArchived, environment.StatusMaintenance:
		c.next.Status = *p.Status
	default:
		c.problem("status", "The status is active, archived or maintenance.")
	}
}

// reservedMetadata are keys that only Berth itself sets.
func reservedMetadata() []string {
	return []string{"platformQualification", "managedByPaperclip", "defaultForInstance"}
}

func (c *planned) metadata(raw json.RawMessage) {
	if len(raw) == 0 {
		return
	}
	if isNull(raw) {
		c.next.Metadata = nil
		return
	}
	var m map[string]json.RawMessage
	switch err := json.Unmarshal(raw, &m); {
	case err != nil:
		c.problem("metadata", "Metadata is an object.")
		return
	case len(raw) > maxMetadata:
		c.problem("metadata", "Metadata has at most 64 KiB.")
		return
	case holdsNUL(raw):
		c.problem("metadata", "Metadata cannot hold a NUL character.")
		return
	}
	for _, key := range reservedMetadata() {
		if _, sent := m[key]; sent {
			c.problem("metadata."+key, "Only Berth itself sets "+key+".")
		}
	}
	c.next.Metadata = json.RawMessage(canonical(raw))
}

// driver checks that the driver is installed; what a driver that is gone left
// behind stays editable.
func (c *planned) driver(wanted *string) error {
	if wanted != nil {
		c.next.Driver = strings.TrimSpace(*wanted)
	}
	if c.old != nil && c.next.Driver == c.old.Driver {
		return nil
	}
	if c.old != nil && c.old.Driver == environment.DriverLocal {
		return environment.Conflict("managed_local", "The local environment cannot become another kind of target.").
			Remedy("Create a new environment for the other target.")
	}
	if c.old != nil && c.next.Driver == environment.DriverLocal {
		return environment.Conflict("local_exists", "There is one local environment, and this one cannot become a second.")
	}
	key := environment.KeyOf(c.next.Driver, "")
	switch _, installed := c.s.drivers.Driver(key); {
	case c.next.Driver == environment.DriverSandbox && c.s.hasSandboxes():
		return nil // the provider is the config's
	case c.next.Driver == environment.DriverSandbox:
		c.problem("driver", "No sandbox provider is installed on this server.")
		return nil
	case installed:
		if why := c.s.unsupported(key); why != "" {
			c.problem("driver", why)
		}
		return nil
	}
	switch c.next.Driver {
	case "":
		c.problem("driver", "Choose a driver.")
	case environment.DriverPlugin, environment.DriverSSH, environment.DriverLocal:
		c.problem("driver", "The driver "+c.next.Driver+" is not installed on this server.")
	default:
		c.problem("driver", "There is no driver of that name.")
	}
	return nil
}
