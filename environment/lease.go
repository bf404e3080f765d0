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
	LeaseRetained:       {LeaseReleased, LeaseReleasing, LeaseExpired, LeasePendingCleanup}, // released: handed over to the lease that resumed it
	LeasePendingCleanup: {LeaseReleased, LeaseExpired, LeaseFailed, LeaseRetained},          // retained: what was to be stopped and kept
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
	OwnerKind     string          `db:"owner_kind"` // open text: "run", "probe", later "setup_session", "operator", "task"
	Status        LeaseStatus     `db:"status"`
	Policy        LeasePolicy     `db:"lease_policy"`
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

	// EnvironmentName is as it was; it stays when the environment is deleted.
	EnvironmentName string     `db:"environment_name"`
	AgentID         *uuid.UUID `db:"agent_id"`
	WorkspaceID     *uuid.UUID `db:"workspace_id"`
	AdapterType     *string    `db:"adapter_type"`
	// HeartbeatAt is when its holder last said that it is in use; ExpiresAt moves
	// with it by TTLSec. A retained one has no holder: ExpiresAt is when it goes.
	HeartbeatAt time.Time `db:"heartbeat_at"`
	TTLSec      int       `db:"ttl_sec"`
	// RetainSec is how long a sandbox that is kept after this lease is kept.
	RetainSec int `db:"retain_sec"`
	// ScopeKey is the full scope within which a sandbox is picked up again; nil for
	// one that never is. At most one acquiring, active or releasing lease has it.
	ScopeKey *string `db:"scope_key"`
	// ObjectKey names the provider's exclusive object: place and provider id. At
	// most one active or releasing lease holds it. Nil for hosts that are shared.
	ObjectKey *string `db:"object_key"`
	// Resumes is the retained lease whose sandbox this one picks up, or tried to.
	Resumes *uuid.UUID `db:"resumes"`
	// Acquisition is "created", "resumed" or "replacement", and why.
	Acquisition       *string `db:"acquisition"`
	AcquisitionReason *string `db:"acquisition_reason"`
	// The queue of clean-ups: how often it was tried, when next, the code of the
	// last try, the state that is meant, who is at it, and since when it waits for
	// an operator.
	CleanupAttempts   int         `db:"cleanup_attempts"`
	CleanupNextAt     *time.Time  `db:"cleanup_next_at"`
	CleanupError      *string     `db:"cleanup_error"`
	CleanupOutcome    LeaseStatus `db:"cleanup_outcome"` // "" until a release began
	CleanupClaimUntil *time.Time  `db:"cleanup_claim_until"`
	DeadLetterAt      *time.Time  `db:"dead_letter_at"`
	// ProviderGoneAt is when the provider was first seen not to hold it any more.
	ProviderGoneAt *time.Time `db:"provider_gone_at"`
}

// LeasePolicy is what becomes of a sandbox after its lease.
type LeasePolicy string

// The policies.
const (
	PolicyEphemeral        LeasePolicy = "ephemeral"                    // destroyed
	PolicyReuseEnvironment LeasePolicy = "reuse_by_environment"         // stopped, and picked up by the next of its scope
	PolicyReuseWorkspace   LeasePolicy = "reuse_by_execution_workspace" // the same, for one workspace
	PolicyRetainOnFailure  LeasePolicy = "retain_on_failure"            // destroyed, but stopped and kept when the work failed
)

// LeasePolicies lists every policy.
func LeasePolicies() []LeasePolicy {
	return []LeasePolicy{PolicyEphemeral, PolicyReuseEnvironment, PolicyReuseWorkspace, PolicyRetainOnFailure}
}

// Reuses reports whether a lease of the policy may pick up a sandbox of before.
func (p LeasePolicy) Reuses() bool { return p == PolicyReuseEnvironment || p == PolicyReuseWorkspace }

// Words of Lease.Acquisition.
const (
	AcquisitionCreated     = "created"
	AcquisitionResumed     = "resumed"
	AcquisitionReplacement = "replacement"
)

// Owner kinds that Berth itself uses; any other text is as good.
const (
	OwnerRun      = "run"
	OwnerProbe    = "probe"
	OwnerSetup    = "setup_session"
	OwnerOperator = "operator"
	OwnerTask     = "task"
)
