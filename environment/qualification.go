package environment

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"
)

// Qualification is server-owned proof: this image and configuration, for this
// company, was booted and measured as this platform, and cleaned up. Nobody but
// a probe of the saved environment writes it, and no read of the API shows it.
type Qualification struct {
	EnvironmentID   uuid.UUID
	CompanyID       uuid.UUID
	Status          QualificationStatus
	Provider        string
	ProviderVersion string
	Fingerprint     string // Fingerprints.Qualification then
	TemplateID      *uuid.UUID
	Image           ImageIdentity
	Platform        Platform
	ProbeID         uuid.UUID
	LeaseID         uuid.UUID
	ProviderID      string
	Receipt         json.RawMessage
	MeasuredAt      time.Time
	RevokedAt       *time.Time
	RevokedBy       string // actor; "" while it is valid
	RevokedFor      string // a reason below
}

// QualificationStatus is what is stored of a qualification.
type QualificationStatus string

// The stored statuses.
const (
	QualificationValid   QualificationStatus = "valid"
	QualificationRevoked QualificationStatus = "revoked"
)

// QualificationState is what people see.
type QualificationState string

// The states. Stale and not required are computed, never stored.
const (
	QualificationAbsent      QualificationState = "absent"
	QualificationRecorded    QualificationState = "recorded"
	QualificationStale       QualificationState = "stale"
	QualificationStateRevoke QualificationState = "revoked"
	QualificationNotRequired QualificationState = "not_required"
)

// QualificationStates lists every state.
func QualificationStates() []QualificationState {
	return []QualificationState{QualificationAbsent, QualificationRecorded, QualificationStale, QualificationStateRevoke, QualificationNotRequired}
}

// Reasons of a revocation.
const (
	RevokedTarget   = "target_changed"
	RevokedAccount  = "account_changed"
	RevokedImage    = "image_changed"
	RevokedTemplate = "template_changed"
	RevokedProbe    = "probe_failed"
	RevokedDeleted  = "image_deleted"
	RevokedDriver   = "driver_changed"
)

// QualificationResult says of one probe whether it recorded a qualification, and
// why or why not. Code is one of those below; the message names the target but no
// credential, address or token.
type QualificationResult struct {
	Recorded bool   `json:"recorded"`
	Code     string `json:"code"`
	Message  string `json:"message"`
}

// Codes of a QualificationResult.
const (
	QualRecorded         = "recorded"
	QualMutableImage     = "mutable_image"
	QualDefaultImage     = "provider_default_image"
	QualUnverified       = "snapshot_identity_unverified"
	QualMismatch         = "lease_identity_mismatch"
	QualUnmeasured       = "platform_unmeasured"
	QualCleanup          = "cleanup_unconfirmed"
	QualConfigChanged    = "config_changed_during_probe"
	QualTemplateChanged  = "template_changed_during_probe"
	QualCompanyRequired  = "company_context_required"
	QualUnsupported      = "provider_unsupported"
	QualProbeFailed      = "probe_failed_revoked"
	QualManagedNotNeeded = "managed_image_not_required"
	QualDraft            = "draft_cannot_qualify"
	QualCancelled        = "probe_cancelled"
)

// QualificationChange is what a probe's end does to a qualification.
type QualificationChange struct {
	// Record is stored when the environment's row still has ConfigRevision of the
	// probe, in the same transaction; else the probe's result becomes
	// config_changed_during_probe.
	Record *Qualification
	// Revoke marks what is recorded for the probe's environment and company, for
	// this reason; a marker that is there stays. "" does nothing.
	Revoke string
}

// Captured is how an environment's active captured image stands.
type Captured string

// The ways. An outdated one was captured of another configuration and is ignored.
const (
	CapturedNone      Captured = "none"
	CapturedMatching  Captured = "matching"
	CapturedOutdated  Captured = "outdated"
	CapturedMalformed Captured = "malformed"
)

// AdmissionFacts are all that Admit looks at. Gathering them opens no secret and
// asks no provider.
type AdmissionFacts struct {
	Driver    string
	Managed   bool // the row's own marker, which only the server sets
	Provider  string
	Provision string // provider of the managed sandbox that the instance provisions now; "" for none
	Captured  Captured
	CompanyID uuid.UUID
	Record    *Qualification // for the company; nil: none
	// Fingerprint and Template are those of now.
	Fingerprint string
	Template    *uuid.UUID
	// Pack is false when no runner is packed for the recorded platform; it matters
	// to discovery alone. Nil: not asked.
	Pack *bool
}

// Admission is whether work may be started natively, and from what.
type Admission struct {
	State    QualificationState
	Required bool           // whether a current record is needed
	Allowed  bool           // whether work may start natively
	Identity *ImageIdentity // to make the sandbox from; nil: what the config names now
	Code     string         // why not; "" when it is allowed
	Message  string
}
