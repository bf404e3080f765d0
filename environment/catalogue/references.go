package catalogue

import (
	"context"
	"fmt"

	"berth/environment"
	"berth/environment/access"

	"github.com/google/uuid"
)

// References tells what the secret references of an environment lead to, by
// path: "config.privateKey", "envVars.NAME". No secret is opened. What belongs to
// another environment reads as missing.
func (s *Service) References(ctx context.Context, actor environment.Actor, env environment.Environment) (map[string]environment.SecretReference, error) {
	if err := access.May(actor, access.SeeWhole, access.Instance); err != nil {
		return nil, err
	}
	refs := refsOf(env)
	names := map[uuid.UUID]string{}
	found := make(map[string]environment.SecretReference, len(refs))
	for path, ref := range refs {
		r, err := s.reference(ctx, env.ID, ref, names)
		if err != nil {
			return nil, fmt.Errorf("look up the secret of %s: %w", path, err)
		}
		found[path] = r
	}
	return found, nil
}

// reference looks one up; names remembers the companies' names.
func (s *Service) reference(ctx context.Context, owner uuid.UUID, ref environment.SecretRef, names map[uuid.UUID]string) (environment.SecretReference, error) {
	r := environment.SecretReference{Ref: ref}
	row, _, err := s.store.Secret(ctx, ref.SecretID, ref.Version)
	switch {
	case err != nil && environment.KindOf(err) == environment.KindNotFound:
		return r, nil
	case err != nil:
		return r, err
	case row.EnvironmentID != nil && *row.EnvironmentID != owner:
		return r, nil
	}
	r.Secret = &row
	if row.CompanyID == nil {
		return r, nil
	}
	name, known := names[*row.CompanyID]
	if !known {
		company, err := s.store.Company(ctx, *row.CompanyID)
		if err != nil && environment.KindOf(err) != environment.KindNotFound {
			return r, err
		}
		name = company.Name
		names[*row.CompanyID] = name
	}
	r.Company = name
	return r, nil
}
