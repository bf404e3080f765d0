package environment

import (
	"fmt"
	"time"
)

// ReasonEnvironmentDeleted is why a sandbox that was kept goes.
const ReasonEnvironmentDeleted = "environment_deleted"

// ExpiredHold is how long a lease that expired is in the hands of the server that
// was given it; then any may take it again.
const ExpiredHold = time.Minute

// InUse reports whether a lease has a holder whose minutes count.
func (s LeaseStatus) InUse() bool {
	return s == LeaseAcquiring || s == LeaseActive || s == LeaseReleasing
}

// Abandon makes a kept sandbox wait for its clean-up because its environment goes.
func (l *Lease) Abandon(now time.Time) {
	pending, reason := "pending", ReasonEnvironmentDeleted
	l.Status, l.CleanupOutcome, l.CleanupStatus, l.FailureReason = LeasePendingCleanup, LeaseExpired, &pending, &reason
	l.CleanupNextAt, l.CleanupClaimUntil = &now, nil
}

// LeaseInUse refuses a second holder of a sandbox, or of a scope.
func LeaseInUse() *Error {
	return Conflict(CodeLeaseInUse, "Another lease is using this sandbox.").
		Remedy("Wait until the work that uses it has ended, or choose an environment whose sandboxes are not shared.")
}

// LeaseStateChanged refuses a move of a lease that is none.
func LeaseStateChanged(from, to LeaseStatus) *Error {
	return Conflict("lease_state_changed", "The lease is "+string(from)+" and cannot become "+string(to)+".")
}

// Refusal is KindConflict with code budget_exhausted, and details "limit",
// "allowed" and "used", when one more lease is too many; nil when it is not.
func (b Budget) Refusal(u Usage) *Error {
	limit := b.Exhausted(u)
	var used, allowed any
	var message string
	switch limit {
	case "":
		return nil
	case "maxLeases":
		used, allowed = u.ActiveLeases, b.MaxLeases
		message = fmt.Sprintf("The budget of this environment allows %d leases at once, and %d are in use.", b.MaxLeases, u.ActiveLeases)
	default:
		used, allowed = u.MinutesToday, b.LeaseMinutesPerDay
		message = fmt.Sprintf("The budget of this environment allows %d lease minutes a day, and %.0f are used today (UTC).", b.LeaseMinutesPerDay, u.MinutesToday)
	}
	return Conflict(CodeBudgetExhausted, message).Remedy("Wait until leases end, or raise the environment's budget.").
		With("limit", limit).With("allowed", allowed).With("used", used)
}

// ConfigChangedDuringProbe is what becomes of a record whose environment changed
// while it was measured.
func ConfigChangedDuringProbe() *QualificationResult {
	return &QualificationResult{Code: QualConfigChanged, Message: "The environment changed during the test, so nothing was recorded. Test it again."}
}
