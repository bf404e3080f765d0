package catalogue

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"berth/environment"
)

// envVars lays the patch's variables over the stored ones. A plain value that
// looks like a secret is stored as one.
func (c *planned) envVars(ctx context.Context, p environment.Patch) error {
	if c.next.EnvVars == nil {
		c.next.EnvVars = map[string]environment.EnvVar{}
	}
	if p.EnvVars == nil {
		return nil
	}
	stored := maps.Clone(c.next.EnvVars)
	if p.ReplaceEnvVars {
		clear(c.next.EnvVars)
	}
	for _, name := range slices.Sorted(maps.Keys(p.EnvVars)) {
		draft := p.EnvVars[name]
		if draft.Remove {
			delete(c.next.EnvVars, name)
			continue
		}
		was, had := stored[name]
		v, problem, err := c.envVar(ctx, name, draft, was, had)
		if err != nil {
			return err
		}
		if problem != "" {
			c.problem("envVars."+name, problem)
			continue
		}
		c.next.EnvVars[name] = v
	}
	if len(c.next.EnvVars) > environment.MaxEnvVars {
		c.problem("envVars", fmt.Sprintf("An environment has at most %d variables.", environment.MaxEnvVars))
	}
	return nil
}

func (c *planned) envVar(ctx context.Context, name string, d environment.EnvVarDraft, was environment.EnvVar, had bool) (environment.EnvVar, string, error) {
	none := environment.EnvVar{}
	if problem := environment.EnvNameProblem(name); problem != "" {
		return none, problem, nil
	}
	keep := d.Keep || d.Type == "secret" && d.Value.Empty()
	switch {
	case keep && had && (d.Type != "secret" || was.Ref != nil):
		return was, "", nil
	case keep:
		return none, "Enter a value.", nil
	case d.Type == "secret_ref":
		return c.envReference(ctx, d, was)
	case d.Type != "plain" && d.Type != "secret":
		return none, "A variable is plain, secret or a reference to a secret.", nil
	}
	value := d.Value.Reveal()
	if problem := environment.EnvValueProblem(value); problem != "" {
		return none, problem, nil
	}
	if d.Type == "plain" && (value == "" || !environment.LooksSecret(name, value)) {
		return environment.EnvVar{Type: "plain", Value: value}, "", nil
	}
	if was.Ref != nil {
		if held, err := c.s.open(ctx, *was.Ref); err == nil && held.Equal(d.Value) {
			return was, "", nil // the same value again is no change
		}
	}
	ref := c.add("envVars."+name, d.Value)
	return environment.EnvVar{Type: "secret_ref", Ref: &ref}, "", nil
}

func (c *planned) envReference(ctx context.Context, d environment.EnvVarDraft, was environment.EnvVar) (environment.EnvVar, string, error) {
	if d.Ref == nil {
		return environment.EnvVar{}, "Name the secret: secretId.", nil
	}
	ref := *d.Ref
	ref.Type = "secret_ref"
	if ref.Version == "" {
		ref.Version = "latest"
	}
	if was.Ref != nil && *was.Ref == ref {
		return was, "", nil
	}
	if !validVersion(ref.Version) {
		return environment.EnvVar{}, "A version is \"latest\" or a positive number.", nil
	}
	problem, err := c.refProblem(ctx, ref)
	return environment.EnvVar{Type: "secret_ref", Ref: &ref}, problem, err
}
