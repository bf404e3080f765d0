package catalogue

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"berth/environment"
	"berth/environment/access"

	"github.com/google/uuid"
)

// mayMake asks whether an actor may make the companies' secrets of a save.
func mayMake(actor environment.Actor, wanted map[string]environment.NewCompanySecret) error {
	for _, path := range slices.Sorted(maps.Keys(wanted)) {
		if err := access.May(actor, access.ManageSecrets, access.Company(wanted[path].CompanyID)); err != nil {
			return err
		}
	}
	return nil
}

// newSecrets plans companies' secrets that are made in place: from here on the
// patch refers to them as to any other.
func (c *planned) newSecrets(ctx context.Context, p *environment.Patch) error {
	if len(p.NewSecrets) == 0 {
		return nil
	}
	if p.Config = maps.Clone(p.Config); p.Config == nil {
		p.Config = map[string]json.RawMessage{}
	}
	vars := maps.Clone(p.EnvVars)
	for _, path := range slices.Sorted(maps.Keys(p.NewSecrets)) {
		in := p.NewSecrets[path]
		if _, err := c.s.store.Company(ctx, in.CompanyID); err != nil {
			return err
		}
		ref, ok := c.make(path, in)
		if !ok {
			continue
		}
		if name, isVar := strings.CutPrefix(path, "envVars."); isVar {
			if vars == nil {
				vars = map[string]environment.EnvVarDraft{}
			}
			vars[name] = environment.EnvVarDraft{Type: "secret_ref", Ref: &ref}
			continue
		}
		raw, err := json.Marshal(ref)
		if err != nil {
			return err
		}
		field := strings.TrimPrefix(path, "config.")
		delete(p.Config, field)
		p.Config[field+refSuffix] = raw
	}
	p.EnvVars = vars
	return nil
}

// make checks one and plans it; false when something is wrong with it.
func (c *planned) make(path string, in environment.NewCompanySecret) (environment.SecretRef, bool) {
	field := "newSecrets." + path
	config, isConfig := strings.CutPrefix(path, "config.")
	variable, isVar := strings.CutPrefix(path, "envVars.")
	if !isConfig && !isVar || config == "" && variable == "" || strings.HasSuffix(config, refSuffix) {
		c.problem(field, "Name what refers to the secret: config.privateKey or envVars.NAME.")
		return environment.SecretRef{}, false
	}
	name, problem := environment.CleanName(in.Name)
	if problem != "" {
		c.problem(field+".name", problem)
	}
	for _, other := range c.fresh {
		if other.company != nil && *other.company == in.CompanyID && environment.NameKey(other.name) == environment.NameKey(name) {
			problem = "Two new secrets of one company have this name."
			c.problem(field+".name", problem)
		}
	}
	wrong := environment.SecretProblem(in.Value)
	if wrong == "" && isVar {
		wrong = environment.EnvValueProblem(in.Value.Reveal())
	}
	if wrong != "" {
		c.problem(field+".value", wrong)
	}
	if problem != "" || wrong != "" {
		return environment.SecretRef{}, false
	}
	id := environment.NewID()
	c.fresh[id] = freshSecret{name: name, value: in.Value, company: &in.CompanyID}
	c.made[path] = id
	return environment.RefTo(id), true
}

// atSecret puts the store's refusal of a new company secret at its field.
func (c *planned) atSecret(err error) error {
	e, ok := errors.AsType[*environment.Error](err)
	if !ok || e.Details["secret"] == nil {
		return err
	}
	placed := *e
	placed.Fields = nil
	for _, path := range slices.Sorted(maps.Keys(c.made)) {
		if c.fresh[c.made[path]].name == e.Details["secret"] {
			placed.Fields = []environment.FieldError{{Field: "newSecrets." + path + ".name", Message: e.Message}}
		}
	}
	return &placed
}

// seal encrypts what the plan would store, and says in the log which companies'
// secrets were made: names only.
func (c *planned) seal(ctx context.Context, actor environment.Actor) ([]environment.SealedSecret, []environment.Activity, error) {
	var sealed []environment.SealedSecret
	var entries []environment.Activity
	for _, id := range slices.SortedFunc(maps.Keys(c.fresh), func(a, b uuid.UUID) int { return strings.Compare(a.String(), b.String()) }) {
		f := c.fresh[id]
		ciphertext, err := c.s.vault.Seal(id, f.value)
		if err != nil {
			return nil, nil, err
		}
		now := c.s.now()
		row := environment.StoredSecret{ID: id, Name: f.name, LatestVersion: 1, CreatedBy: actor.Name, CreatedAt: now, UpdatedAt: now}
		if f.company == nil {
			row.EnvironmentID = &c.next.ID
		} else {
			row.CompanyID = f.company
			a := c.s.activity(ctx, actor, "secret.created", "secret", id.String(), map[string]any{"name": f.name, "environmentId": c.next.ID.String()})
			a.CompanyID = f.company
			entries = append(entries, a)
		}
		sealed = append(sealed, environment.SealedSecret{StoredSecret: row, Ciphertext: ciphertext})
	}
	return sealed, entries, nil
}
