package environmenttest

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"strings"

	"berth/environment"
	"berth/environment/secrets"

	"github.com/google/uuid"
)

func decimal(n int) string { return strconv.Itoa(n) }

// SharedSecret implements secrets.Store.
func (s *Store) SharedSecret(_ context.Context, id uuid.UUID) (environment.StoredSecret, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	secret, err := s.shared(id)
	if err != nil {
		return environment.StoredSecret{}, err
	}
	return secret.StoredSecret, nil
}

func (s *Store) shared(id uuid.UUID) (*savedSecret, error) {
	if secret, ok := s.secrets[id]; ok && secret.CompanyID != nil {
		return secret, nil
	}
	return nil, environment.NotFound("secret")
}

// SecretVersions implements secrets.Store.
func (s *Store) SecretVersions(_ context.Context, id uuid.UUID) ([]environment.SecretVersion, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := []environment.SecretVersion{}
	if secret, ok := s.secrets[id]; ok {
		for _, v := range slices.Backward(secret.versions) {
			v.Ciphertext = nil
			found = append(found, v)
		}
	}
	return found, nil
}

// CreateSecret implements secrets.Store.
func (s *Store) CreateSecret(_ context.Context, secret environment.SealedSecret, a environment.Activity) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.mayAddSecret(secret, nil); err != nil {
		return err
	}
	if err := s.sealedNow(secret.Ciphertext); err != nil {
		return err
	}
	s.addSecret(secret)
	s.record(a)
	return nil
}

// AddSecretVersion implements secrets.Store.
func (s *Store) AddSecretVersion(_ context.Context, v environment.SecretVersion, a environment.Activity) (environment.StoredSecret, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	secret, err := s.shared(v.SecretID)
	if err != nil {
		return environment.StoredSecret{}, err
	}
	if secret.LatestVersion != v.Version-1 {
		return environment.StoredSecret{}, environment.Conflict("secret_changed", "Somebody gave this secret a new value meanwhile.")
	}
	if err := s.sealedNow(v.Ciphertext); err != nil {
		return environment.StoredSecret{}, err
	}
	v.CreatedAt = s.orNow(v.CreatedAt)
	secret.versions = append(secret.versions, v)
	secret.LatestVersion, secret.UpdatedAt = v.Version, v.CreatedAt
	s.wantTests(secret.ID, "latest")
	s.revokeForSecret(secret.ID, "latest", a.ActorName)
	s.record(a)
	return secret.StoredSecret, nil
}

// wantTests marks the environments that refer to a secret as changed since their
// last test.
func (s *Store) wantTests(id uuid.UUID, version string) {
	for env, bindings := range s.bindings {
		refers := func(b environment.SecretBinding) bool {
			return b.SecretID == id && (version == "" || b.Version == version)
		}
		e := s.environments[env]
		if e == nil || !slices.ContainsFunc(bindings, refers) {
			continue
		}
		for pid, p := range s.probes {
			if p.EnvironmentID != nil && *p.EnvironmentID == env && !p.Draft && (e.last != nil && *e.last == pid || !p.State.Ended()) {
				p.ConfigRevision = 0
			}
		}
		s.bump()
	}
}

// UpdateSecret implements secrets.Store.
func (s *Store) UpdateSecret(_ context.Context, id uuid.UUID, p secrets.Patch, a environment.Activity) (environment.StoredSecret, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	secret, err := s.shared(id)
	if err != nil {
		return environment.StoredSecret{}, err
	}
	next := secret.StoredSecret
	p.Apply(&next)
	if err := s.secretNameFree(*next.CompanyID, next.Name, id); err != nil {
		return environment.StoredSecret{}, err
	}
	if next.Disabled != secret.Disabled {
		s.wantTests(id, "")
	}
	if next.Disabled && !secret.Disabled {
		s.revokeForSecret(id, "", a.ActorName)
	}
	next.UpdatedAt = s.orNow(a.CreatedAt)
	secret.StoredSecret = next
	s.record(a)
	return next, nil
}

// DeleteSecret implements secrets.Store.
func (s *Store) DeleteSecret(_ context.Context, id uuid.UUID, a environment.Activity) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	secret, err := s.shared(id)
	if err != nil {
		return err
	}
	if uses := s.usesOf(id); len(uses) > 0 || s.heldByLease(secret) {
		return secrets.InUse(secret.StoredSecret, uses)
	}
	delete(s.secrets, id)
	s.accesses = slices.DeleteFunc(s.accesses, func(a environment.SecretAccess) bool { return a.SecretID == id })
	s.record(a)
	return nil
}

func (s *Store) usesOf(id uuid.UUID) []environment.SecretBinding {
	found := []environment.SecretBinding{}
	for env, bindings := range s.bindings {
		for _, b := range bindings {
			if b.SecretID == id {
				b.EnvironmentID, b.EnvironmentName = env, s.environments[env].Name
				found = append(found, b)
			}
		}
	}
	slices.SortFunc(found, func(a, b environment.SecretBinding) int {
		return strings.Compare(environment.NameKey(a.EnvironmentName)+a.ConfigPath, environment.NameKey(b.EnvironmentName)+b.ConfigPath)
	})
	return found
}

// SecretBindings implements secrets.Store.
func (s *Store) SecretBindings(_ context.Context, id uuid.UUID) ([]environment.SecretBinding, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.usesOf(id), nil
}

// RecordAccess implements catalogue.Store.
func (s *Store) RecordAccess(_ context.Context, all ...environment.SecretAccess) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range all {
		if _, ok := s.secrets[a.SecretID]; ok {
			a.At = s.orNow(a.At)
			s.accesses = append(s.accesses, a)
		}
	}
	return nil
}

// SecretAccesses implements secrets.Store.
func (s *Store) SecretAccesses(_ context.Context, id uuid.UUID, limit int, cursor string) (environment.Page[environment.SecretAccess], error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := []environment.SecretAccess{}
	for _, a := range s.accesses {
		if a.SecretID == id {
			found = append(found, a)
		}
	}
	slices.SortFunc(found, func(a, b environment.SecretAccess) int { return newest(a.At, b.At, a.ID, b.ID) })
	return page(found, limit, cursor)
}

// sealedNow refuses what was sealed with a key that was turned over.
func (s *Store) sealedNow(ciphertext []byte) error {
	if slices.ContainsFunc(s.refused, func(mark []byte) bool { return bytes.HasPrefix(ciphertext, mark) }) {
		return environment.Conflict(environment.CodeKeysetChanged, "The master key was turned over meanwhile.")
	}
	return nil
}
