package leasing

import (
	"context"
	"encoding/json"
	"hash/fnv"
	"time"

	"berth/environment"

	"github.com/google/uuid"
)

// Words of Lease.CleanupStatus.
const (
	cleanupPending = "pending"
	cleanupSuccess = "success"
	cleanupFailed  = "failed"
)

// givenUp is the number of attempts after which a clean-up waits for an operator.
// It is still tried.
const givenUp = 10

// Pauses between attempts.
const (
	pauseFirst = 5 * time.Second
	pauseMost  = 30 * time.Minute
	// pauseMissing is that of a provider that is not installed.
	pauseMissing = time.Minute
)

// pause is the wait after a number of attempts: 5 s, doubled up to 30 min, less
// up to a fifth of it, so that what failed at once is not tried at once again.
func pause(attempts int, id uuid.UUID) time.Duration {
	wait := pauseFirst
	for range attempts - 1 {
		if wait *= 2; wait >= pauseMost {
			wait = pauseMost
			break
		}
	}
	h := fnv.New32a()
	_, _ = h.Write(append(id[:], byte(attempts))) // it never fails
	return wait - wait/5*time.Duration(h.Sum32()%1000)/1000
}

// adopt moves what an earlier version kept of a clean-up in a row's metadata into
// its columns.
func adopt(l *environment.Lease) {
	var m map[string]json.RawMessage
	if json.Unmarshal(l.Metadata, &m) != nil || m["cleanup"] == nil {
		return
	}
	var old struct {
		Outcome  environment.LeaseStatus `json:"outcome"`
		Attempts int                     `json:"attempts"`
		NextAt   *time.Time              `json:"nextAt"`
		Error    *string                 `json:"error"`
	}
	if json.Unmarshal(m["cleanup"], &old) == nil && l.CleanupOutcome == "" {
		l.CleanupOutcome, l.CleanupAttempts, l.CleanupNextAt, l.CleanupError = old.Outcome, old.Attempts, old.NextAt, old.Error
	}
	delete(m, "cleanup")
	l.Metadata = nil
	if len(m) > 0 {
		l.Metadata, _ = json.Marshal(m) // it was read from JSON
	}
}

// meant is the state in which a lease ends when nothing of it is left.
func meant(l environment.Lease) environment.LeaseStatus {
	switch l.CleanupOutcome {
	case "":
		return environment.LeaseExpired
	case environment.LeaseRetained: // it should have been kept
		if l.FailureReason != nil && *l.FailureReason != reasonCleanup {
			return environment.LeaseFailed
		}
		return environment.LeaseReleased
	}
	return l.CleanupOutcome
}

// enqueue makes a lease wait for its clean-up, due at once.
func (s *Service) enqueue(l *environment.Lease, outcome environment.LeaseStatus, reason string) {
	l.Status, l.CleanupStatus, l.CleanupOutcome = environment.LeasePendingCleanup, new(cleanupPending), outcome
	l.CleanupAttempts, l.CleanupError, l.CleanupNextAt, l.CleanupClaimUntil, l.DeadLetterAt = 0, nil, new(s.now()), nil, nil
	if reason != "" {
		l.FailureReason = &reason
	}
}

// count notes an attempt that failed, and when the next one is due.
func (s *Service) count(l *environment.Lease, id uuid.UUID, code string) {
	now := s.now()
	l.CleanupAttempts++
	l.CleanupError, l.CleanupClaimUntil = &code, nil
	l.CleanupNextAt = new(now.Add(pause(l.CleanupAttempts, id)))
	l.CleanupStatus = new(cleanupPending)
	if l.CleanupAttempts >= givenUp {
		l.CleanupStatus = new(cleanupFailed)
		if l.DeadLetterAt == nil {
			l.DeadLetterAt = &now
		}
	}
}

// postpone notes a release that did not go through.
func (s *Service) postpone(l *environment.Lease, code string) {
	if l.CleanupOutcome != environment.LeaseRetained { // what was to be kept is stopped when the provider answers again
		l.CleanupOutcome = meant(*l)
	}
	s.count(l, l.ID, code)
	l.Status = environment.LeasePendingCleanup
	if l.FailureReason == nil {
		l.FailureReason = new(reasonCleanup)
	}
}

// poke says that a clean-up is due now.
func (s *Service) poke() {
	select {
	case s.due <- struct{}{}:
	default:
	}
}

// cleaned clears what a row says of its clean-up, but for how it ended.
func cleaned(l *environment.Lease) {
	l.CleanupStatus = new(cleanupSuccess)
	l.CleanupNextAt, l.CleanupClaimUntil, l.DeadLetterAt, l.CleanupError = nil, nil, nil, nil
}

// spec opens what a clean-up of a lease needs, by the configuration that the lease
// itself was made with.
func (s *Service) cleanupSpec(ctx context.Context, l environment.Lease, ref environment.Ref) (environment.Spec, error) {
	spec := environment.Spec{Driver: ref.Driver, Config: ref.Config}
	if s.specs != nil {
		var err error
		if spec, err = s.specs.CleanupSpec(ctx, l.EnvironmentID, &l.CompanyID, ref.Driver, ref.Config); err != nil {
			return spec, err
		}
	}
	spec.CompanyID, spec.RunID, spec.OwnerKind = &l.CompanyID, l.RunID, l.OwnerKind
	spec.IdempotencyKey, spec.InstanceID = ref.LeaseKey, s.opts.InstanceID
	return spec, nil
}
