package catalogue

import (
	"context"
	"maps"
	"slices"
	"strings"

	"berth/environment"

	"github.com/google/uuid"
)

// Serves tells whether an environment can work for a company: KindConflict with
// code environment_company_mismatch when it refers to a secret of another one.
func (s *Service) Serves(ctx context.Context, env environment.Environment, company *uuid.UUID) error {
	_, err := s.CompanyOf(ctx, env, company)
	return err
}

// CompanyOf is the company that work in an environment is for: the given one, else
// that whose secrets it refers to, else none. Its error is Serves'.
func (s *Service) CompanyOf(ctx context.Context, env environment.Environment, given *uuid.UUID) (*uuid.UUID, error) {
	if len(secretIDs(env)) == 0 {
		return given, nil
	}
	bindings, err := s.store.EnvironmentBindings(ctx, env.ID)
	if err != nil {
		return nil, err
	}
	for _, b := range bindings {
		if given == nil {
			given = &b.CompanyID
		}
		if b.CompanyID != *given {
			return nil, mismatch()
		}
	}
	return given, nil
}

func mismatch() *environment.Error {
	return environment.Conflict(environment.CodeCompanyMismatch, "This environment uses a secret of another company.").
		Remedy(environment.Remedy(environment.CodeCompanyMismatch))
}

// refsOf are an environment's references, by the path of what refers.
func refsOf(env environment.Environment) map[string]environment.SecretRef {
	refs := map[string]environment.SecretRef{}
	for key, raw := range object(env.Config) {
		field, isRef := strings.CutSuffix(key, refSuffix)
		if ref, ok := parseRef(raw); isRef && ok {
			refs["config."+field] = ref
		}
	}
	for name, v := range env.EnvVars {
		if v.Ref != nil {
			refs["envVars."+name] = *v.Ref
		}
	}
	return refs
}

// bind finds which company's secrets the plan refers to, and for which fields. All
// must be of one company: what is new and of another is a problem of its field.
func (c *planned) bind(ctx context.Context) error {
	refs := refsOf(c.next)
	rows, err := c.s.store.StoredSecrets(ctx, secretIDs(c.next)...)
	if err != nil {
		return err
	}
	companies := map[uuid.UUID]uuid.UUID{}
	for _, row := range rows {
		if row.CompanyID != nil {
			companies[row.ID] = *row.CompanyID
		}
	}
	for id, f := range c.fresh {
		if f.company != nil {
			companies[id] = *f.company
		}
	}
	before := map[string]environment.SecretRef{}
	if c.old != nil {
		before = refsOf(*c.old)
	}
	paths := slices.Sorted(maps.Keys(refs))
	// What stays comes first: its company is the environment's.
	slices.SortStableFunc(paths, func(a, b string) int { return order(before[a] == refs[a]) - order(before[b] == refs[b]) })
	c.bindings = []environment.SecretBinding{}
	for _, path := range paths {
		company, shared := companies[refs[path].SecretID]
		if !shared {
			continue
		}
		if len(c.bindings) > 0 && c.bindings[0].CompanyID != company {
			c.mixed++
			c.problem(c.fieldOf(path), "An environment uses the secrets of one company: this one is of another than the rest.")
			continue
		}
		c.bindings = append(c.bindings, environment.SecretBinding{EnvironmentID: c.next.ID, ConfigPath: path,
			SecretID: refs[path].SecretID, CompanyID: company, Version: refs[path].Version})
	}
	return nil
}

func order(first bool) int {
	if first {
		return 0
	}
	return 1
}

// fieldOf is the field of a request at which a reference's problem belongs.
func (c *planned) fieldOf(path string) string {
	if _, made := c.made[path]; made {
		return "newSecrets." + path
	}
	if strings.HasPrefix(path, "config.") {
		return path + refSuffix
	}
	return path
}

// refusal is what is wrong with the plan; nil when nothing is. That it mixes
// companies has a code of its own.
func (c *planned) refusal() error {
	err := environment.InvalidFields(c.problems)
	if err == nil || c.mixed == 0 || c.mixed < len(c.problems) {
		return err
	}
	e := environment.Invalid(environment.CodeCompanyMismatch, c.problems[0].Message).Remedy("Choose secrets of one company only.")
	e.Fields = c.problems
	return e
}
