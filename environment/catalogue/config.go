package catalogue

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"berth/environment"

	"github.com/google/uuid"
)

// config lets the driver check and normalise the merged config. A row whose
// config and driver the patch leaves alone keeps what is stored.
func (c *planned) config(ctx context.Context, p environment.Patch) error {
	same := c.old != nil && c.old.Driver == c.next.Driver
	if same && p.Config == nil {
		return nil
	}
	base := map[string]json.RawMessage{}
	if same {
		base = object(c.old.Config)
	}
	c.next.Config = json.RawMessage("{}")
	driver, installed := c.s.drivers.Driver(c.next.Key())
	if !installed {
		if same {
			c.next.Config = c.old.Config
			return environment.NotInstalled(c.next.Key())
		}
		return nil // the field driver has its error already
	}
	merged := mergeConfig(base, p.Config)
	if err := c.references(ctx, base, merged); err != nil {
		return err
	}
	configurer, ok := driver.(environment.Configurer)
	if !ok {
		for _, key := range slices.Sorted(maps.Keys(merged)) {
			c.problem("config."+key, "The driver "+c.next.Driver+" has no settings.")
		}
		return nil
	}
	output, err := configurer.Configure(environment.ConfigInput{
		Config: merged,
		Stored: func(field string) (environment.Secret, bool) { return c.storedValue(ctx, merged, field) },
	})
	if err != nil {
		if e, is := errors.AsType[*environment.Error](err); is && len(e.Fields) > 0 {
			c.problems = append(c.problems, e.Fields...)
			return nil
		}
		return err
	}
	return c.take(ctx, merged, output)
}

// take puts references of new secrets into the driver's config.
func (c *planned) take(ctx context.Context, merged map[string]json.RawMessage, output environment.ConfigOutput) error {
	config := object(output.Config)
	for _, name := range output.Drop {
		config[refKey(output, name)] = json.RawMessage("null")
	}
	for _, name := range slices.Sorted(maps.Keys(output.Secrets)) {
		value := output.Secrets[name]
		if len(value.Reveal()) > environment.MaxSecret {
			c.problem("config."+name, "A secret has at most 64 KiB.")
			continue
		}
		if stored, ok := c.storedValue(ctx, merged, name); ok && stored.Equal(value) {
			config[refKey(output, name)] = merged[name+refSuffix]
			continue // the same value again is no change
		}
		ref, err := json.Marshal(c.add("config."+name, value))
		if err != nil {
			return err
		}
		config[refKey(output, name)] = ref
	}
	raw, err := json.Marshal(config)
	if err != nil {
		return err
	}
	if holdsNUL(raw) {
		c.problem("config", "A setting cannot hold a NUL character.")
	}
	output.Config = raw
	c.next.Config, c.output = raw, output
	return nil
}

func refKey(output environment.ConfigOutput, name string) string {
	if key := output.SecretFields[name]; key != "" {
		return key
	}
	return name + refSuffix
}

// add plans a new secret and returns its reference.
func (c *planned) add(name string, value environment.Secret) environment.SecretRef {
	id := environment.NewID()
	c.fresh[id] = freshSecret{name: name, value: value}
	return environment.RefTo(id)
}

// references checks and normalises the secret references that were not stored
// before: each must be there, and be shared or this environment's own.
func (c *planned) references(ctx context.Context, base, merged map[string]json.RawMessage) error {
	for _, key := range slices.Sorted(maps.Keys(merged)) {
		if !strings.HasSuffix(key, refSuffix) || canonical(merged[key]) == canonical(base[key]) {
			continue
		}
		ref, ok := parseRef(merged[key])
		if !ok {
			c.problem("config."+key, "A reference to a secret is {type: \"secret_ref\", secretId, version}.")
			delete(merged, key)
			continue
		}
		problem, err := c.refProblem(ctx, ref)
		if err != nil {
			return err
		}
		if problem != "" {
			c.problem("config."+key, problem)
		}
		normal, err := json.Marshal(ref)
		if err != nil {
			return err
		}
		merged[key] = normal
	}
	return nil
}

// refProblem says why a reference cannot be used; "" when it can.
func (c *planned) refProblem(ctx context.Context, ref environment.SecretRef) (string, error) {
	if _, fresh := c.fresh[ref.SecretID]; fresh {
		return "", nil
	}
	row, _, err := c.s.store.Secret(ctx, ref.SecretID, ref.Version)
	if err != nil {
		if environment.KindOf(err) == environment.KindNotFound {
			return "There is no such secret.", nil
		}
		return "", err
	}
	if row.CompanyID == nil && (row.EnvironmentID == nil || *row.EnvironmentID != c.next.ID || row.RetiredAt != nil) {
		return "There is no such secret.", nil // another environment's own; its existence does not show
	}
	return "", nil
}

// parseRef reads a reference; a version may be a number, and is "latest" when
// there is none.
func parseRef(raw json.RawMessage) (environment.SecretRef, bool) {
	var sent struct {
		Type     string          `json:"type"`
		SecretID uuid.UUID       `json:"secretId"`
		Version  json.RawMessage `json:"version"`
	}
	if json.Unmarshal(raw, &sent) != nil || sent.Type != "secret_ref" || sent.SecretID == uuid.Nil {
		return environment.SecretRef{}, false
	}
	version := "latest"
	if !isNull(sent.Version) {
		version = strings.Trim(string(sent.Version), `"`)
	}
	if version == "" {
		version = "latest"
	}
	return environment.SecretRef{Type: sent.Type, SecretID: sent.SecretID, Version: version}, validVersion(version)
}

func validVersion(v string) bool {
	if v == "latest" {
		return true
	}
	return v != "" && len(v) < 10 && v[0] != '0' && strings.Trim(v, "0123456789") == ""
}
