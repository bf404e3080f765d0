package catalogue

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"berth/environment"

	"github.com/google/uuid"
)

// open returns a stored secret's value: KindNotFound with code secret_missing,
// KindConflict with code secret_disabled, or the vault's error.
func (s *Service) open(ctx context.Context, ref environment.SecretRef) (environment.Secret, error) {
	row, sealed, err := s.store.Secret(ctx, ref.SecretID, ref.Version)
	if err != nil {
		return environment.Secret{}, err
	}
	if row.Disabled {
		return environment.Secret{}, environment.Conflict(environment.CodeSecretDisabled, "The stored secret is disabled.").
			Remedy(environment.Remedy(environment.CodeSecretDisabled))
	}
	return s.vault.Open(sealed.ID, sealed.Ciphertext)
}

// storedValue opens the secret that a config refers to under a request name, to
// compare it with what was sent.
func (c *planned) storedValue(ctx context.Context, config map[string]json.RawMessage, field string) (environment.Secret, bool) {
	ref, ok := parseRef(config[strings.TrimSuffix(field, refSuffix)+refSuffix])
	if !ok {
		return environment.Secret{}, false
	}
	if f, fresh := c.fresh[ref.SecretID]; fresh {
		return f.value, true
	}
	value, err := c.s.open(ctx, ref)
	return value, err == nil
}

// drops are the environment's own secrets that the plan refers to no longer.
// A shared one never goes.
func (c *planned) drops(ctx context.Context) ([]uuid.UUID, error) {
	if c.old == nil {
		return nil, nil
	}
	kept := secretIDs(c.next)
	left := slices.DeleteFunc(secretIDs(*c.old), func(id uuid.UUID) bool { return slices.Contains(kept, id) })
	rows, err := c.s.store.StoredSecrets(ctx, left...)
	if err != nil {
		return nil, err
	}
	var gone []uuid.UUID
	for _, row := range rows {
		if row.EnvironmentID != nil && *row.EnvironmentID == c.old.ID {
			gone = append(gone, row.ID)
		}
	}
	return gone, nil
}

// secretIDs are the secrets that an environment refers to, each once.
func secretIDs(env environment.Environment) []uuid.UUID {
	var ids []uuid.UUID
	for _, raw := range object(env.Config) {
		if ref, ok := parseRef(raw); ok {
			ids = append(ids, ref.SecretID)
		}
	}
	for _, v := range env.EnvVars {
		if v.Ref != nil {
			ids = append(ids, v.Ref.SecretID)
		}
	}
	slices.SortFunc(ids, func(a, b uuid.UUID) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(ids)
}
