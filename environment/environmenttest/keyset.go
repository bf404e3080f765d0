package environmenttest

import (
	"context"
	"slices"
	"strings"

	"berth/environment"

	"github.com/google/uuid"
)

// BindKeyset is store.DB's.
func (s *Store) BindKeyset(_ context.Context, primary string, others ...string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keyset == "" {
		s.keyset = primary
	}
	if s.keyset == primary || slices.Contains(others, s.keyset) {
		return nil
	}
	return environment.Conflict("keyset_mismatch", "The secrets in this database were sealed with another keyset.")
}

// KeysetFingerprint implements secrets.Store.
func (s *Store) KeysetFingerprint(context.Context) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keyset, nil
}

// WakeKeyset implements secrets.Store.
func (s *Store) WakeKeyset(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wake(environment.KeysetSubject)
	return nil
}

// MoveKeyset implements secrets.Store.
func (s *Store) MoveKeyset(_ context.Context, from, to string, refused [][]byte, a environment.Activity) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keyset != from {
		return environment.Conflict("keyset_mismatch", "Another key than this server's is in use by now.")
	}
	s.keyset, s.refused = to, append(s.refused, refused...)
	s.record(a)
	s.wake(environment.KeysetSubject)
	return nil
}

// Reseal implements secrets.Store. A place is the last id of what was offered.
func (s *Store) Reseal(_ context.Context, after string, limit int, again func(uuid.UUID, []byte) ([]byte, error)) (string, int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	type value struct {
		id     uuid.UUID
		sealed *[]byte
	}
	var all []value
	for _, secret := range s.secrets {
		for i := range secret.versions {
			all = append(all, value{secret.versions[i].ID, &secret.versions[i].Ciphertext})
		}
	}
	for id, r := range s.runs {
		if r.Input != nil {
			all = append(all, value{id, &r.Input})
		}
	}
	slices.SortFunc(all, func(a, b value) int { return strings.Compare(a.id.String(), b.id.String()) })
	all = slices.DeleteFunc(all, func(v value) bool { return v.id.String() <= after })
	next := ""
	if len(all) > limit {
		all = all[:limit]
		next = all[limit-1].id.String()
	}
	n := 0
	for _, v := range all {
		sealed, err := again(v.id, slices.Clone(*v.sealed))
		if err != nil {
			return "", 0, err
		}
		if sealed != nil {
			*v.sealed = sealed
			n++
		}
	}
	return next, n, nil
}
