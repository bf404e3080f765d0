package environment

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/google/uuid"
)

// LeaseStatus is where a lease is.
type LeaseStatus string

// The states of a lease.
const (
	LeaseAcquiring      LeaseStatus = "acquiring"
	LeaseActive         LeaseStatus = "active"
	LeaseReleasing      LeaseStatus = "releasing"
	LeaseReleased       LeaseStatus = "released"
	LeaseExpired        LeaseStatus = "expired"
	LeaseFailed         LeaseStatus = "failed"
	LeaseRetained       LeaseStatus = "retained"
	LeasePendingCleanup LeaseStatus = "pending_cleanup"
)

// LeaseStatuses lists every state.
func LeaseStatuses() []LeaseStatus {
	return []LeaseStatus{LeaseAcquiring, LeaseActive, LeaseReleasing, LeaseReleased, LeaseExpired, LeaseFailed,
		LeaseRetained, LeasePendingCleanup}
}

var leaseMoves = map[LeaseStatus][]LeaseStatus{
	LeaseAcquiring:      {LeaseActive, LeaseFailed, LeasePendingCleanup},
	LeaseActive:         {LeaseReleasing, LeasePendingCleanup},
	LeaseReleasing:      {LeaseReleased, LeaseExpired, LeaseFailed, LeaseRetained, LeasePendingCleanup},
	LeaseRetained:       {LeaseActive, LeaseReleasing, LeasePendingCleanup},
	LeasePendingCleanup: {LeaseReleased, LeaseExpired, LeaseFailed},
}

// CanBecome reports whether a lease may go from s to next. Stores move a lease
// by compare-and-set and refuse what this refuses.
func (s LeaseStatus) CanBecome(next LeaseStatus) bool { return slices.Contains(leaseMoves[s], next) }

// Ended reports whether nothing is held any more.
func (s LeaseStatus) Ended() bool { return len(leaseMoves[s]) == 0 }

// Borrowed reports whether the target is somebody's own host: nothing is made for
// the lease, so nothing is left behind when it is forgotten.
func (l Lease) Borrowed() bool { return BorrowedHost(l.Driver) }

// BorrowedHost reports whether a driver's targets are hosts of somebody's own.
func BorrowedHost(driver string) bool { return driver == DriverLocal || driver == DriverSSH }

// Lease is the right to use a live target for one purpose.
type Lease struct {
	ID            uuid.UUID       `db:"id"`
	CompanyID     uuid.UUID       `db:"company_id"`
	EnvironmentID *uuid.UUID      `db:"environment_id"` // nil: the environment was deleted since
	RunID         *uuid.UUID      `db:"run_id"`
	OwnerKind     string          `db:"owner_kind"` // "run", later "probe", "setup_session", "operator", "task"
	Status        LeaseStatus     `db:"status"`
	Policy        string          `db:"lease_policy"` // "ephemeral"
	Driver        string          `db:"driver"`
	Provider      string          `db:"provider"`
	ProviderID    *string         `db:"provider_lease_id"` // for ssh "ssh://user@host:port/cwd"
	Ref           json.RawMessage `db:"ref"`               // the driver's own; enough to clean up later
	AcquiredAt    time.Time       `db:"acquired_at"`
	LastUsedAt    time.Time       `db:"last_used_at"`
	ExpiresAt     *time.Time      `db:"expires_at"`
	ReleasedAt    *time.Time      `db:"released_at"`
	FailureReason *string         `db:"failure_reason"`
	CleanupStatus *string         `db:"cleanup_status"` // of what acquiring made: "pending", "success", "failed"; not of the run's processes
	Receipt       json.RawMessage `db:"receipt"`        // what the driver confirmed at release; null until then
	Metadata      json.RawMessage `db:"metadata"`
	Owner         uuid.UUID       `db:"owner"` // server
	CreatedAt     time.Time       `db:"created_at"`
	UpdatedAt     time.Time       `db:"updated_at"`
}
