package leasing

import (
	"time"

	"berth/environment"

	"github.com/google/uuid"
)

// claim is a release that belongs to this server for a while. Two at once could
// reach a sandbox that the next holder has by then, so the driver is only asked
// within the time of the claim, counted from before it was made.
type claim struct {
	owner uuid.UUID
	began time.Time
	until time.Time // as the row has it
}

// cleanupHold is how long a release belongs to the server that began it: longer
// than the driver may take, by more than the clocks of servers are apart.
const cleanupHold = ReleaseLimit + patience + 8*time.Second

// claim takes a release.
func (s *Service) claim(l *environment.Lease) claim {
	now := s.now()
	c := claim{owner: s.owner, began: now, until: now.Add(cleanupHold).Truncate(time.Microsecond)} // as the database keeps it
	if l.Owner, l.LastUsedAt = s.owner, now; !l.Borrowed() {
		l.CleanupClaimUntil = &c.until
	}
	return c
}

// claimedAt is a claim that the store made, at the earliest when it was asked.
func claimedAt(l environment.Lease, asked time.Time) claim {
	c := claim{owner: l.Owner, began: asked}
	if l.CleanupClaimUntil != nil {
		c.until = *l.CleanupClaimUntil
	}
	return c
}

// has reports whether a row is still claimed so.
func (c claim) has(l environment.Lease) bool {
	return l.Owner == c.owner && l.CleanupClaimUntil != nil && l.CleanupClaimUntil.Equal(c.until)
}

// left is the time that a driver may still take.
func (c claim) left(now time.Time) time.Duration { return c.began.Add(ReleaseLimit).Sub(now) }

// free reports whether nobody is at the release of a lease. Hosts that are shared
// may be released by several at once.
func (s *Service) free(l environment.Lease) bool {
	return l.Borrowed() || l.CleanupClaimUntil == nil || !l.CleanupClaimUntil.After(s.now())
}
