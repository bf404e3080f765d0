package catalogue

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
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

// storedValue opens the secret that a config refers to under a request name.
func (s *Service) storedValue(ctx context.Context, config map[string]json.RawMessage, field string) (environment.Secret, bool) {
	ref, ok := parseRef(config[strings.TrimSuffix(field, refSuffix)+refSuffix])
	if !ok {
		return environment.Secret{}, false
	}
	value, err := s.open(ctx, ref)
	return value, err == nil
}

// seal encrypts what the plan would store.
func (c *planned) seal() ([]environment.SealedSecret, error) {
	var sealed []environment.SealedSecret
	for _, id := range slices.SortedFunc(maps.Keys(c.fresh), func(a, b uuid.UUID) int { return strings.Compare(a.String(), b.String()) }) {
		ciphertext, err := c.s.vault.Seal(id, c.fresh[id].value)
		if err != nil {
			return nil, fmt.Errorf("seal %s: %w", c.fresh[id].name, err)
		}
		sealed = append(sealed, environment.SealedSecret{
			StoredSecret: environment.StoredSecret{ID: id, EnvironmentID: &c.next.ID, Name: c.fresh[id].name},
			Ciphertext:   ciphertext,
		})
	}
	return sealed, nil
}

// drops are the environment's own secrets that the plan refers to no longer.
// A shared one never goes.
func (c *planned) drops(ctx context.Context) ([]uuid.UUID, error) {
	if c.old == nil {
		return nil, nil
	}
	kept := secretIDs(c.next)
	var gone []uuid.UUID
	for _, id := range secretIDs(*c.old) {
		if slices.Contains(kept, id) {
			continue
		}
		row, _, err := c.s.store.Secret(ctx, id, "latest")
		switch {
		case err != nil && environment.KindOf(err) == environment.KindNotFound:
			continue
		case err != nil:
			return nil, err
		case row.EnvironmentID != nil && *row.EnvironmentID == c.old.ID:
			gone = append(gone, id)
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
