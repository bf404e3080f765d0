package environmenttest

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"

	"berth/environment"
	"berth/environment/catalogue"
	"berth/environment/secrets"

	"github.com/google/uuid"
)

type savedSecret struct {
	environment.StoredSecret
	versions []environment.SecretVersion // oldest first
}

// Secret implements catalogue.Store.
func (s *Store) Secret(_ context.Context, id uuid.UUID, version string) (environment.StoredSecret, environment.SecretVersion, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	missing := environment.NewError(environment.KindNotFound, environment.CodeSecretMissing, "There is no such secret.")
	secret, ok := s.secrets[id]
	if !ok {
		return environment.StoredSecret{}, environment.SecretVersion{}, missing
	}
	for _, v := range secret.versions {
		if version == "" || version == "latest" || version == decimal(v.Version) {
			if version == decimal(v.Version) || v.Version == secret.LatestVersion {
				v.Ciphertext = slices.Clone(v.Ciphertext)
				return secret.StoredSecret, environment.SecretVersion{ID: v.ID, SecretID: id, Version: v.Version, Ciphertext: v.Ciphertext}, nil
			}
		}
	}
	return environment.StoredSecret{}, environment.SecretVersion{}, missing
}

// StoredSecrets implements catalogue.Store.
func (s *Store) StoredSecrets(_ context.Context, ids ...uuid.UUID) ([]environment.StoredSecret, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := []environment.StoredSecret{}
	for id, secret := range s.secrets {
		if slices.Contains(ids, id) {
			found = append(found, secret.StoredSecret)
		}
	}
	return found, nil
}

// EnvironmentBindings implements catalogue.Store.
func (s *Store) EnvironmentBindings(_ context.Context, id uuid.UUID) ([]environment.SecretBinding, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := []environment.SecretBinding{}
	for _, b := range s.bindings[id] {
		b.EnvironmentID, b.EnvironmentName = id, s.environments[id].Name
		found = append(found, b)
	}
	slices.SortFunc(found, func(a, b environment.SecretBinding) int { return cmp.Compare(a.ConfigPath, b.ConfigPath) })
	return found, nil
}

// mayWriteSecrets refuses what writeSecrets cannot do.
func (s *Store) mayWriteSecrets(w catalogue.Write) error {
	for i, secret := range w.NewSecrets {
		if secret.CompanyID == nil {
			continue
		}
		if err := s.mayAddSecret(secret, w.NewSecrets[:i]); err != nil {
			return err
		}
	}
	for _, b := range w.Bindings {
		isNew := slices.ContainsFunc(w.NewSecrets, func(n environment.SealedSecret) bool { return n.ID == b.SecretID })
		if _, ok := s.secrets[b.SecretID]; !ok && !isNew {
			return environment.Invalid(environment.CodeSecretMissing, "There is no such secret.")
		}
	}
	return nil
}

func (s *Store) mayAddSecret(secret environment.SealedSecret, before []environment.SealedSecret) error {
	if _, err := s.company(*secret.CompanyID); err != nil {
		return err
	}
	same := func(id *uuid.UUID) bool { return id != nil && *id == *secret.CompanyID }
	n := 0
	for _, other := range before {
		if same(other.CompanyID) {
			n++
			if environment.NameKey(other.Name) == environment.NameKey(secret.Name) {
				return environment.SecretNameTaken(secret.Name)
			}
		}
	}
	for _, other := range s.secrets {
		if same(other.CompanyID) {
			n++
		}
	}
	if n >= environment.MaxCompanySecrets {
		return environment.TooManySecrets()
	}
	return s.secretNameFree(*secret.CompanyID, secret.Name, secret.ID)
}

func (s *Store) secretNameFree(company uuid.UUID, name string, but uuid.UUID) error {
	for id, other := range s.secrets {
		if id != but && other.CompanyID != nil && *other.CompanyID == company && environment.NameKey(other.Name) == environment.NameKey(name) {
			return environment.SecretNameTaken(name)
		}
	}
	return nil
}

func (s *Store) writeSecrets(w catalogue.Write) {
	for _, secret := range w.NewSecrets {
		s.addSecret(secret)
	}
	if w.Bindings != nil {
		s.bindings[w.Environment.ID] = slices.Clone(w.Bindings)
	}
	for _, id := range w.DropSecrets {
		if secret := s.secrets[id]; secret != nil && secret.EnvironmentID != nil && *secret.EnvironmentID == w.Environment.ID {
			s.retire(secret)
		}
	}
	s.record(w.Activity)
	for _, a := range w.MoreActivity {
		s.record(a)
	}
}

func (s *Store) addSecret(secret environment.SealedSecret) {
	row := secret.StoredSecret
	row.LatestVersion, row.CreatedAt, row.UpdatedAt = 1, s.orNow(row.CreatedAt), s.orNow(row.UpdatedAt)
	s.secrets[secret.ID] = &savedSecret{StoredSecret: row, versions: []environment.SecretVersion{{
		ID: row.ID, SecretID: row.ID, Version: 1, Ciphertext: slices.Clone(secret.Ciphertext), CreatedAt: row.CreatedAt, CreatedBy: row.CreatedBy}}}
}

// retire drops an environment's own secret, at once or by a later sweep.
func (s *Store) retire(secret *savedSecret) {
	if secret.RetiredAt == nil {
		now := s.now()
		secret.RetiredAt = &now
	}
	if !s.needed(secret) {
		delete(s.secrets, secret.ID)
	}
}

// needed tells whether work that has not ended may need an environment's own secret.
func (s *Store) needed(secret *savedSecret) bool {
	for _, r := range s.runs {
		if r.EnvironmentID != nil && *r.EnvironmentID == *secret.EnvironmentID && !r.Status.Ended() {
			return true
		}
	}
	for _, x := range s.remains {
		if bytes.Contains(s.leases[x.LeaseID].Ref, []byte(secret.ID.String())) {
			return true
		}
	}
	return s.heldByLease(secret)
}

func (s *Store) heldByLease(secret *savedSecret) bool {
	for _, l := range s.leases {
		if l.Status.Ended() {
			continue
		}
		if bytes.Contains(l.Ref, []byte(secret.ID.String())) {
			return true
		}
		if len(l.Ref) > 0 && string(l.Ref) != "null" || l.EnvironmentID == nil {
			continue
		}
		bound := slices.ContainsFunc(s.bindings[*l.EnvironmentID], func(b environment.SecretBinding) bool { return b.SecretID == secret.ID })
		if bound || secret.EnvironmentID != nil && *secret.EnvironmentID == *l.EnvironmentID {
			return true
		}
	}
	return false
}

// SweepSecrets implements secrets.Store.
func (s *Store) SweepSecrets(context.Context) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for id, secret := range s.secrets {
		if secret.RetiredAt != nil && !s.needed(secret) {
			delete(s.secrets, id)
			n++
		}
	}
	return n, nil
}

// DisableSecret disables any secret, an environment's own too, which no use case does.
func (s *Store) DisableSecret(id uuid.UUID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if secret, ok := s.secrets[id]; ok {
		secret.Disabled = true
	}
}

// Secrets implements secrets.Store.
func (s *Store) Secrets(_ context.Context, company uuid.UUID, search string, limit int, cursor string) (environment.Page[environment.StoredSecret], error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := []environment.StoredSecret{}
	for _, secret := range s.secrets {
		if secret.CompanyID != nil && *secret.CompanyID == company && contains(secret.Name, search) {
			found = append(found, secret.StoredSecret)
		}
	}
	slices.SortFunc(found, func(a, b environment.StoredSecret) int {
		return strings.Compare(environment.NameKey(a.Name), environment.NameKey(b.Name))
	})
	return page(found, limit, cursor)
}

var _ secrets.Store = (*Store)(nil)

// ReferredVersions implements catalogue.Store.
func (s *Store) ReferredVersions(_ context.Context, refs ...environment.SecretRef) (map[environment.SecretRef]uuid.UUID, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := map[environment.SecretRef]uuid.UUID{}
	for _, ref := range refs {
		secret := s.secrets[ref.SecretID]
		if secret == nil {
			continue
		}
		for _, v := range secret.versions {
			if ref.Version == decimal(v.Version) || (ref.Version == "" || ref.Version == "latest") && v.Version == secret.LatestVersion {
				found[ref] = v.ID
			}
		}
	}
	return found, nil
}
