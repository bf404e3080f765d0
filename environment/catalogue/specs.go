package catalogue

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"berth/environment"
	"berth/environment/access"

	"github.com/google/uuid"
)

// Check validates a draft, merged over the stored row when baseID is given, and
// stores nothing: for errors on blur. Wrong fields are KindInvalid, all at once;
// else it returns the warnings and the normalised config.
func (s *Service) Check(ctx context.Context, actor environment.Actor, baseID *uuid.UUID, d environment.Draft) (environment.ConfigOutput, error) {
	none := environment.ConfigOutput{}
	if err := access.May(actor, access.ManageEnvironment, access.Instance); err != nil {
		return none, err
	}
	old, err := s.base(ctx, baseID)
	if err != nil {
		return none, err
	}
	var row *environment.Environment
	if old != nil {
		row = &old.Environment
	}
	c, err := s.plan(ctx, row, patchOf(d))
	if err != nil {
		return none, err
	}
	if old != nil {
		if err := statusRefusal(*old, c.next.Status); err != nil {
			return none, err
		}
	}
	if err := c.taken(ctx); err != nil {
		return none, err
	}
	if err := environment.InvalidFields(c.problems); err != nil {
		return none, err
	}
	c.output.Config = c.next.Config
	c.output.Secrets = nil // the caller has them; nobody needs them back
	return c.output, nil
}

// taken adds the problems that a save would meet in the store.
func (c *planned) taken(ctx context.Context) error {
	if c.old == nil && c.next.Driver == environment.DriverLocal {
		page, err := c.s.store.ListEnvironments(ctx, environment.ListFilter{Driver: environment.DriverLocal, Limit: 1})
		if err != nil {
			return err
		}
		if len(page.Items) > 0 {
			c.problem("driver", "There is one local environment already.")
		}
	}
	if c.next.Name == "" {
		return nil
	}
	other, found, err := c.s.named(ctx, c.next.Name)
	if err != nil {
		return err
	}
	if found && other.ID != c.next.ID {
		c.problem("name", "This name is taken.")
	}
	return nil
}

func (s *Service) base(ctx context.Context, id *uuid.UUID) (*environment.EnvironmentView, error) {
	if id == nil {
		return nil, nil
	}
	view, err := s.environment(ctx, *id)
	if err != nil {
		return nil, err
	}
	return &view, nil
}

// Spec opens what a saved environment needs: config, secrets, variables. A
// secret that cannot be opened is named in SecretProblems, by its field or as
// "envVars.NAME", and is no error.
func (s *Service) Spec(ctx context.Context, env environment.Environment, use environment.SecretUse) (environment.Spec, []environment.EnvValue, error) {
	spec := environment.Spec{
		EnvironmentID: env.ID, ConfigRevision: env.ConfigRevision, Driver: env.Driver, Config: env.Config,
		Secrets: map[string]environment.Secret{}, SecretProblems: map[string]string{},
	}
	if err := s.openConfig(ctx, &spec, env.ID); err != nil {
		return environment.Spec{}, nil, err
	}
	vars := []environment.EnvValue{}
	for _, name := range slices.Sorted(maps.Keys(env.EnvVars)) {
		v := env.EnvVars[name]
		if v.Ref == nil {
			vars = append(vars, environment.EnvValue{Name: name, Value: environment.NewSecret(v.Value)})
			continue
		}
		value, code, err := s.openFor(ctx, *v.Ref, env.ID)
		switch {
		case err != nil:
			return environment.Spec{}, nil, fmt.Errorf("open variable %s: %w", name, err)
		case code != "":
			spec.SecretProblems["envVars."+name] = code
		default:
			vars = append(vars, environment.EnvValue{Name: name, Value: value, Masked: true})
		}
	}
	return spec, vars, nil
}

// Serves tells whether an environment can work for a company.
func (s *Service) Serves(context.Context, environment.Environment, *uuid.UUID) error { return nil }

// DraftSpec validates a draft over its stored row (blank secrets are the stored
// ones) and opens it. Nothing is stored. A draft needs no name yet.
func (s *Service) DraftSpec(ctx context.Context, actor environment.Actor, baseID *uuid.UUID, d environment.Draft) (environment.Spec, error) {
	none := environment.Spec{}
	if err := access.May(actor, access.ManageEnvironment, access.Instance); err != nil {
		return none, err
	}
	if err := s.enabled(ctx); err != nil {
		return none, err
	}
	old, err := s.base(ctx, baseID)
	if err != nil {
		return none, err
	}
	p, row := patchOf(d), (*environment.Environment)(nil)
	if strings.TrimSpace(d.Name) == "" {
		p.Name = nil
	}
	if old != nil {
		row = &old.Environment
	}
	c, err := s.plan(ctx, row, p)
	if err != nil {
		return none, err
	}
	if err := environment.InvalidFields(c.problems); err != nil {
		return none, err
	}
	spec := environment.Spec{
		Driver: c.next.Driver, Config: c.next.Config,
		Secrets: maps.Clone(c.output.Secrets), SecretProblems: map[string]string{},
	}
	if spec.Secrets == nil {
		spec.Secrets = map[string]environment.Secret{}
	}
	return spec, s.openConfig(ctx, &spec, c.next.ID)
}

// openConfig opens the secrets that a spec's config refers to and that the spec
// does not hold yet. owner is whose own secrets may be opened.
func (s *Service) openConfig(ctx context.Context, spec *environment.Spec, owner uuid.UUID) error {
	config := object(spec.Config)
	for _, key := range slices.Sorted(maps.Keys(config)) {
		field, isRef := strings.CutSuffix(key, refSuffix)
		if !isRef || isNull(config[key]) {
			continue
		}
		if _, held := spec.Secrets[field]; held {
			continue
		}
		var ref environment.SecretRef
		if err := json.Unmarshal(config[key], &ref); err != nil {
			return fmt.Errorf("read reference %s: %w", key, err)
		}
		value, code, err := s.openFor(ctx, ref, owner)
		switch {
		case err != nil:
			return fmt.Errorf("open %s: %w", field, err)
		case code != "":
			spec.SecretProblems[field] = code
		default:
			spec.Secrets[field] = value
		}
	}
	return nil
}

// openFor opens a secret for the environment that refers to it. A secret that
// is gone, disabled or another environment's is a code.
func (s *Service) openFor(ctx context.Context, ref environment.SecretRef, owner uuid.UUID) (environment.Secret, string, error) {
	row, sealed, err := s.store.Secret(ctx, ref.SecretID, ref.Version)
	switch {
	case err != nil && environment.KindOf(err) == environment.KindNotFound:
		return environment.Secret{}, environment.CodeSecretMissing, nil
	case err != nil:
		return environment.Secret{}, "", err
	case row.EnvironmentID != nil && *row.EnvironmentID != owner:
		return environment.Secret{}, environment.CodeSecretMissing, nil
	case row.Disabled:
		return environment.Secret{}, environment.CodeSecretDisabled, nil
	}
	value, err := s.vault.Open(sealed.ID, sealed.Ciphertext)
	if err != nil {
		return environment.Secret{}, environment.CodeOf(err), nil
	}
	return value, "", nil
}
