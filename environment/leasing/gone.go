package leasing

import (
	"context"
	"slices"
	"time"

	"berth/environment"
)

const (
	reasonGone = "provider_gone"
	// goneFor is how long after the first look the second one counts.
	goneFor = 30 * time.Second
)

// noteGone looks for what a lease holds among what its place listed afterwards. What
// is not there twice is believed to be gone: a row that nobody uses ends, and one
// in use is only marked, since its holder will find out.
func (s *Service) noteGone(ctx context.Context, p *place, l environment.Lease, held []environment.Held) int {
	if l.ProviderID == nil || l.ObjectKey == nil || !s.isIn(p, l) || ctx.Err() != nil {
		return 0
	}
	there := slices.ContainsFunc(held, func(h environment.Held) bool { return h.ProviderID == *l.ProviderID })
	if there && l.ProviderGoneAt == nil || !there && l.ProviderGoneAt != nil && (l.Status == environment.LeaseActive || l.Status == environment.LeaseReleasing) {
		return 0 // nothing new
	}
	var entry environment.Activity
	changed := 0
	after, err := s.store.UpdateLease(ctx, l.ID, func(row *environment.Lease) error {
		entry, changed = environment.Activity{}, 0
		now := s.now()
		switch {
		case row.Status.Ended():
		case there:
			row.ProviderGoneAt = nil
		case row.ProviderGoneAt == nil:
			row.ProviderGoneAt = &now
		case now.Sub(*row.ProviderGoneAt) < goneFor:
		case row.Status == environment.LeaseRetained, row.Status == environment.LeasePendingCleanup && s.free(*row):
			adopt(row)
			outcome, reason := environment.LeaseExpired, reasonGone
			if row.Status == environment.LeasePendingCleanup {
				outcome = meant(*row)
				if row.FailureReason != nil {
					reason = ""
				}
			}
			s.end(row, outcome, reason)
			cleaned(row)
			entry = s.ended(ctx, environment.System(), "environment.lease_released", *row)
			changed = 1
		}
		return nil
	}, &entry)
	switch {
	case err != nil:
		s.log.Warn("note that a sandbox is gone", "lease", l.ID, "err", err)
	case changed > 0:
		s.log.Warn("the sandbox of a lease is gone", "lease", l.ID, "provider_id", *l.ProviderID, "status", after.Status)
	case !there && l.ProviderGoneAt == nil:
		s.log.Warn("a place does not list the sandbox of a lease", "lease", l.ID, "provider_id", *l.ProviderID, "status", l.Status)
	}
	return changed
}

// stopKept stops what is kept to be used again and yet runs: a server died that was
// resuming it. What is being picked up at this moment is left alone, and so is what
// is kept to be looked at.
func (s *Service) stopKept(ctx context.Context, p *place, l environment.Lease, held []environment.Held) int {
	if l.Status != environment.LeaseRetained || l.ScopeKey == nil || l.ProviderID == nil || !s.isIn(p, l) || s.now().Sub(l.LastUsedAt) < goneFor || ctx.Err() != nil {
		return 0
	}
	if !slices.ContainsFunc(held, func(h environment.Held) bool { return h.ProviderID == *l.ProviderID && h.Running }) {
		return 0
	}
	after, err := s.finish(ctx, environment.System(), l.ID, environment.Spec{}, ending{outcome: environment.LeaseRetained, shelf: true})
	switch {
	case environment.CodeOf(err) == environment.CodeLeaseInUse:
		return 0
	case err != nil:
		s.log.Warn("stop what is kept and runs", "lease", l.ID, "provider_id", *l.ProviderID, "err", err)
		return 0
	}
	s.log.Warn("what is kept was running", "lease", l.ID, "provider_id", *l.ProviderID, "status", after.Status)
	return 1
}
