package catalogue

import (
	"context"
	"maps"
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
	p := patchOf(d)
	if err := mayMake(actor, p.NewSecrets); err != nil {
		return none, err
	}
	c, err := s.plan(ctx, row, p)
	if err != nil {
		return none, err
	}
	if old != nil {
		if err := lockRefusal(*old, c.next); err != nil {
			return none, err
		}
		if err := statusRefusal(*old, c.next.Status); err != nil {
			return none, err
		}
	}
	if err := c.taken(ctx); err != nil {
		return none, err
	}
	if err := c.refusal(); err != nil {
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
// "envVars.NAME", and is no error. Each opening, and each try, is noted.
func (s *Service) Spec(ctx context.Context, env environment.Environment, use environment.SecretUse) (environment.Spec, []environment.EnvValue, error) {
	spec := environment.Spec{
		EnvironmentID: env.ID, ConfigRevision: env.ConfigRevision, Driver: env.Driver, Config: env.Config,
		Secrets: map[string]environment.Secret{}, SecretProblems: map[string]string{},
	}
	o := &opening{s: s, owner: env.ID, use: use}
	defer func() { o.finish(ctx) }()
	if err := o.config(ctx, &spec); err != nil {
		return environment.Spec{}, nil, err
	}
	vars, err := o.variables(ctx, &spec, env.EnvVars)
	if err != nil {
		return environment.Spec{}, nil, err
	}
	return spec, vars, nil
}

// DraftSpec validates a draft over its stored row (blank secrets are the stored
// ones) and opens it. Nothing is stored. A draft needs no name yet. KindConflict
// with code environment_company_mismatch when it refers to a secret of another
// company than the given; without a given one the spec's is that which it refers to.
func (s *Service) DraftSpec(ctx context.Context, actor environment.Actor, company, baseID *uuid.UUID, d environment.Draft) (environment.Spec, error) {
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
	if err := mayMake(actor, p.NewSecrets); err != nil {
		return none, err
	}
	c, err := s.plan(ctx, row, p)
	if err != nil {
		return none, err
	}
	if err := c.refusal(); err != nil {
		return none, err
	}
	return s.openDraft(ctx, c, environment.SecretUse{Purpose: environment.ForDraft, CompanyID: company, ActorName: actor.Name})
}

// openDraft opens what a plan refers to, and uses what it would store as it is.
func (s *Service) openDraft(ctx context.Context, c *planned, use environment.SecretUse) (environment.Spec, error) {
	none := environment.Spec{}
	if len(c.bindings) > 0 {
		if use.CompanyID != nil && c.bindings[0].CompanyID != *use.CompanyID {
			return none, mismatch()
		}
		use.CompanyID = &c.bindings[0].CompanyID
	}
	spec := environment.Spec{
		Driver: c.next.Driver, Config: c.next.Config, CompanyID: use.CompanyID,
		Secrets: maps.Clone(c.output.Secrets), SecretProblems: map[string]string{},
	}
	if spec.Secrets == nil {
		spec.Secrets = map[string]environment.Secret{}
	}
	o := &opening{s: s, owner: c.next.ID, use: use, fresh: c.fresh, unsaved: c.old == nil}
	defer func() { o.finish(ctx) }()
	if err := o.config(ctx, &spec); err != nil {
		return none, err
	}
	_, err := o.variables(ctx, &spec, c.next.EnvVars)
	return spec, err
}
