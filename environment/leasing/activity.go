package leasing

import (
	"context"

	"berth/environment"
)

// activity is the entry of the log for something that happened to a lease.
func (s *Service) activity(ctx context.Context, actor environment.Actor, l environment.Lease, action string) environment.Activity {
	details := map[string]any{"driver": l.Driver, "provider": l.Provider, "leasePolicy": string(l.Policy)}
	if l.EnvironmentID != nil {
		details["environmentId"] = l.EnvironmentID.String()
	}
	if l.RunID != nil {
		details["runId"] = l.RunID.String()
	}
	return environment.Activity{
		ID: environment.NewID(), CompanyID: &l.CompanyID, Action: action,
		EntityType: "environment_lease", EntityID: l.ID.String(), Details: details, CreatedAt: s.now(),
		RequestID: environment.RequestID(ctx),
	}.By(actor)
}

// ended is activity with what became of the lease.
func (s *Service) ended(ctx context.Context, actor environment.Actor, action string, l environment.Lease) environment.Activity {
	entry := s.activity(ctx, actor, l, action)
	entry.Details["status"] = string(l.Status)
	if l.FailureReason != nil {
		entry.Details["failureReason"] = *l.FailureReason
	}
	if l.CleanupStatus != nil {
		entry.Details["cleanupStatus"] = *l.CleanupStatus
	}
	return entry
}

// releasedOr is the action of a lease that was let go: the system's, of what a
// dead server left, is another than that of a lease whose work has ended.
func releasedOr(l environment.Lease, actor environment.Actor) string {
	if actor.Kind == environment.ActorSystem && l.Status == environment.LeaseExpired && l.FailureReason != nil && (*l.FailureReason == reasonInterrupted || *l.FailureReason == reasonExpired) {
		return "environment.lease_reaped"
	}
	return "environment.lease_released"
}

// postponed is the entry of a release that did not go through: of the first
// attempt, and of that after which people are told that it failed.
func (s *Service) postponed(ctx context.Context, actor environment.Actor, l environment.Lease) environment.Activity {
	if l.Status != environment.LeasePendingCleanup || l.CleanupAttempts != 1 && l.CleanupAttempts != givenUp {
		return environment.Activity{}
	}
	entry := s.ended(ctx, actor, "environment.lease_cleanup_failed", l)
	entry.Details["failedAttempts"] = l.CleanupAttempts
	if l.CleanupError != nil {
		entry.Details["code"] = *l.CleanupError
	}
	return entry
}
