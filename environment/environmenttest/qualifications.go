package environmenttest

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"

	"berth/environment"

	"github.com/google/uuid"
)

// qualified is whose a qualification is.
type qualified struct{ environment, company uuid.UUID }

// Qualification implements catalogue.Store and probing.Store.
func (s *Store) Qualification(_ context.Context, environmentID, companyID uuid.UUID) (*environment.Qualification, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, ok := s.qualifications[qualified{environmentID, companyID}]
	if !ok {
		return nil, nil
	}
	q.Receipt = orNull(q.Receipt)
	return &q, nil
}

// RevokeQualification implements running.Store.
func (s *Store) RevokeQualification(_ context.Context, environmentID, companyID uuid.UUID, reason, by string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revoke(reason, by, func(q qualified) bool { return q == qualified{environmentID, companyID} })
	return nil
}

// revoke marks the valid ones that are meant; a marker that is there stays.
func (s *Store) revoke(reason, by string, meant func(qualified) bool) {
	revoked := false
	for key, q := range s.qualifications {
		if q.Status == environment.QualificationValid && meant(key) {
			now := s.now()
			q.Status, q.RevokedAt, q.RevokedFor, q.RevokedBy = environment.QualificationRevoked, &now, reason, by
			s.qualifications[key] = q
			revoked = true
		}
	}
	if revoked {
		s.bump()
	}
}

// revokeFor is revoke of all of an environment; "" leaves them.
func (s *Store) revokeFor(environmentID uuid.UUID, reason string, a environment.Activity) {
	if reason != "" {
		s.revoke(reason, a.ActorName, func(q qualified) bool { return q.environment == environmentID })
	}
}

// revokeForSecret is revoke of environments whose config refers to a secret: only
// those that refer to version, unless that is "".
func (s *Store) revokeForSecret(id uuid.UUID, version, by string) {
	s.revoke(environment.RevokedAccount, by, func(q qualified) bool {
		e := s.environments[q.environment]
		return e != nil && bytes.Contains(e.Config, []byte(id.String())) && s.secrets[id].EnvironmentID != nil ||
			slices.ContainsFunc(s.bindings[q.environment], func(b environment.SecretBinding) bool {
				return b.SecretID == id && strings.HasPrefix(b.ConfigPath, "config.") && (version == "" || b.Version == version)
			})
	})
}

// qualify does what a probe's end does to the qualification of its environment.
func (s *Store) qualify(p *savedProbe, change environment.QualificationChange, a environment.Activity) {
	if !saved(p.Probe) || p.State != environment.ProbeDone || p.CompanyID == nil {
		return
	}
	key := qualified{*p.EnvironmentID, *p.CompanyID}
	if change.Revoke != "" {
		s.revoke(change.Revoke, cmp.Or(a.ActorName, p.ActorName), func(q qualified) bool { return q == key })
	}
	if change.Record == nil {
		return
	}
	e := s.environments[key.environment]
	if e == nil || e.ConfigRevision != p.ConfigRevision || e.Status != environment.StatusActive {
		p.Qualification = environment.ConfigChangedDuringProbe()
		return
	}
	q := *change.Record
	q.EnvironmentID, q.CompanyID, q.ProbeID = key.environment, key.company, p.ID
	q.Status, q.MeasuredAt = environment.QualificationValid, s.orNow(q.MeasuredAt)
	q.RevokedAt, q.RevokedBy, q.RevokedFor, q.Receipt = nil, "", "", orNull(q.Receipt)
	s.qualifications[key] = q
}
