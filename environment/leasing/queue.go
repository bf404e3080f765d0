package leasing

import (
	"context"
	"sync"
	"time"

	"berth/environment"
)

// cleanUpAtOnce is how many clean-ups a server does at the same time.
const cleanUpAtOnce = 16

// cleanUps is the loop that works off the queue. It begins what is due as soon as
// there is room for it, and waits for none of it before the next look.
func (s *Service) cleanUps(ctx context.Context) {
	var group sync.WaitGroup
	defer group.Wait()
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		if _, err := s.startDue(ctx, &group); err != nil && ctx.Err() == nil {
			s.log.Warn("claim clean-ups", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-s.due:
		}
	}
}

// startDue claims as many due clean-ups as there is room for and begins them, each
// in a goroutine of group. It returns how many those were.
func (s *Service) startDue(ctx context.Context, group *sync.WaitGroup) (int, error) {
	room := cap(s.slots) - len(s.slots)
	if room == 0 {
		return 0, nil
	}
	asked := s.now()
	claimed, err := s.store.ClaimCleanups(ctx, s.owner, room, cleanupHold)
	for _, l := range claimed {
		s.slots <- struct{}{}
		group.Go(func() {
			defer func() {
				<-s.slots
				if len(claimed) == room {
					s.poke() // there may be more
				}
			}()
			adopt(&l)
			if _, err := s.letGo(ctx, environment.System(), l, environment.Spec{}, claimedAt(l, asked)); err != nil && ctx.Err() == nil {
				s.log.Error("clean up after a lease", "lease", l.ID, "err", err)
			}
		})
	}
	return len(claimed), err
}

// deferUntilInstalled makes a lease wait for its driver, which is nobody's failed
// attempt.
func (s *Service) deferUntilInstalled(l *environment.Lease) {
	attempts, dead := l.CleanupAttempts, l.DeadLetterAt
	outcome := l.CleanupOutcome
	if outcome != environment.LeaseRetained {
		outcome = meant(*l)
	}
	s.enqueue(l, outcome, "")
	l.CleanupAttempts, l.DeadLetterAt = attempts, dead
	l.CleanupNextAt, l.CleanupError = new(s.now().Add(pauseMissing)), new(environment.CodeProviderUnavailable)
	if l.FailureReason == nil {
		l.FailureReason = new(reasonCleanup)
	}
}
