// Package api holds the JSON shapes of Berth's API, in both directions. The
// handlers make them from domain values and the command line reads them.
package api

import (
	"encoding/json"
	"time"

	"berth/environment"

	"github.com/google/uuid"
)

// Time is RFC 3339 in UTC with milliseconds and Z.
type Time time.Time

// MarshalJSON writes the time; the zero time is null.
func (t Time) MarshalJSON() ([]byte, error) {
	if time.Time(t).IsZero() {
		return []byte("null"), nil
	}
	return []byte(time.Time(t).UTC().Format(`"2006-01-02T15:04:05.000Z"`)), nil
}

// UnmarshalJSON reads what MarshalJSON writes, and any RFC 3339 time.
func (t *Time) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*t = Time{}
		return nil
	}
	var std time.Time
	if err := std.UnmarshalJSON(b); err != nil {
		return err
	}
	*t = Time(std)
	return nil
}

// TimePtr is nil for nil.
func TimePtr(t *time.Time) *Time {
	if t == nil {
		return nil
	}
	v := Time(*t)
	return &v
}

// Error is the body of every refusal. Details carries "fields" ([{field,
// message}]) when single fields are wrong.
type Error struct {
	Error       string         `json:"error"`
	Code        string         `json:"code"`
	Details     map[string]any `json:"details,omitempty"`
	Remediation string         `json:"remediation,omitempty"`
}

// Company is a tenant.
type Company struct {
	ID        uuid.UUID `json:"id"`
	Name      string    `json:"name"`
	CreatedAt Time      `json:"createdAt"`
	UpdatedAt Time      `json:"updatedAt"`
}

// EnvVar is a variable in an answer: {type: plain, value} or {type:
// secret_ref, secretId, version}.
type EnvVar struct {
	Type     string     `json:"type"`
	Value    *string    `json:"value,omitempty"`
	SecretID *uuid.UUID `json:"secretId,omitempty"`
	Version  string     `json:"version,omitempty"`
}

// Environment is Paperclip's shape, then ours.
type Environment struct {
	ID          uuid.UUID         `json:"id"`
	Name        string            `json:"name"`
	Description *string           `json:"description"`
	Driver      string            `json:"driver"`
	Status      string            `json:"status"`
	Config      json.RawMessage   `json:"config"`
	EnvVars     map[string]EnvVar `json:"envVars"`
	Metadata    json.RawMessage   `json:"metadata"`
	CreatedAt   Time              `json:"createdAt"`
	UpdatedAt   Time              `json:"updatedAt"`

	Revision  int         `json:"revision"`
	Health    string      `json:"health"`
	IsDefault bool        `json:"isDefault"`
	LastProbe *ProbeBrief `json:"lastProbe"`
	Managed   bool        `json:"managed"` // the instance's configuration provisions it
	Budget    *Budget     `json:"budget"`
	// ConfigProblems are what of the stored config the driver that is installed now
	// would not take; only where one environment is read, and there are any.
	ConfigProblems []environment.FieldError `json:"configProblems,omitempty"`
}

// ProbeBrief is the newest verdict beside an environment.
type ProbeBrief struct {
	ID         uuid.UUID `json:"id"`
	OK         bool      `json:"ok"`
	Code       string    `json:"code"`
	Summary    string    `json:"summary"`
	DurationMs int64     `json:"durationMs"`
	FinishedAt *Time     `json:"finishedAt"`
}

// ProbeResult is Paperclip's answer to a probe: 200 whether ok or not.
type ProbeResult struct {
	OK      bool         `json:"ok"`
	Driver  string       `json:"driver"`
	Summary string       `json:"summary"`
	Details ProbeDetails `json:"details"`
	QualificationOutcome
}

// QualificationOutcome says whether a probe recorded the platform of a sandbox's
// image. Both are left out for drivers that cannot, and while the probe runs.
type QualificationOutcome struct {
	Recorded   *bool       `json:"platformQualificationRecorded,omitempty"`
	Diagnostic *Diagnostic `json:"platformQualificationDiagnostic,omitempty"`
}

// Diagnostic says why.
type Diagnostic struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// ProbeDetails is the rest of a probe.
type ProbeDetails struct {
	ProbeID       uuid.UUID              `json:"probeId"`
	EnvironmentID *uuid.UUID             `json:"environmentId"`
	CompanyID     *uuid.UUID             `json:"companyId"`
	Draft         bool                   `json:"draft"`
	State         string                 `json:"state"`
	Health        string                 `json:"health"`
	Code          string                 `json:"code"`
	Target        string                 `json:"target"`
	Stages        []Stage                `json:"stages"`
	Host          *environment.HostFacts `json:"host"`
	Platform      *environment.Platform  `json:"platform"`
	Presented     []environment.HostKey  `json:"presentedHostKeys"`
	Trusted       []environment.HostKey  `json:"trustedHostKeys"`
	CreatedAt     Time                   `json:"createdAt"`
	StartedAt     *Time                  `json:"startedAt"`
	FinishedAt    *Time                  `json:"finishedAt"`
	DurationMs    int64                  `json:"durationMs"`

	Image   *environment.ImageIdentity `json:"image"`   // what a sandbox was made from
	LeaseID *uuid.UUID                 `json:"leaseId"` // of a saved sandbox's probe
	Proves  string                     `json:"proves"`  // what the result proves and what not
	QualificationOutcome
}

// Stage is environment.Stage with API times.
type Stage struct {
	Name        string         `json:"name"`
	Status      string         `json:"status"`
	Code        string         `json:"code"`
	Severity    string         `json:"severity"`
	Message     string         `json:"message"`
	Measured    map[string]any `json:"measured"`
	Limit       map[string]any `json:"limit"`
	StartedAt   *Time          `json:"startedAt"`
	DurationMs  int64          `json:"durationMs"`
	Remediation string         `json:"remediation"`
}

// StartRun is the body of POST /api/companies/:c/runs.
type StartRun struct {
	EnvironmentID *uuid.UUID        `json:"environmentId,omitempty"`
	Command       []string          `json:"command"`
	Title         *string           `json:"title,omitempty"`
	Cwd           *string           `json:"cwd,omitempty"`
	Env           map[string]string `json:"env,omitempty"`
	Stdin         *string           `json:"stdin,omitempty" nul:"ok"`
	TimeoutSec    *int              `json:"timeoutSec,omitempty"`
	// Native demands a current qualification, and runs from exactly its image.
	Native *bool `json:"native,omitempty"`
}

// RunEnvironment names where a run was sent.
type RunEnvironment struct {
	ID       *uuid.UUID `json:"id"` // null: deleted since
	Name     string     `json:"name"`
	Driver   string     `json:"driver"`
	Provider string     `json:"provider"` // of a sandbox; "" for other drivers
	Target   string     `json:"target"`
}

// Phase is one step of a run.
type Phase struct {
	Name       string `json:"name"`
	StartedAt  Time   `json:"startedAt"`
	FinishedAt *Time  `json:"finishedAt"`
	DurationMs int64  `json:"durationMs"`
}

// Run is one run.
type Run struct {
	ID          uuid.UUID              `json:"id"`
	CompanyID   uuid.UUID              `json:"companyId"`
	Kind        string                 `json:"kind"`
	Title       *string                `json:"title"`
	Command     []string               `json:"command"`
	Cwd         *string                `json:"cwd"`
	WorkingDir  *string                `json:"workingDir"`
	EnvNames    []string               `json:"envNames"`
	TimeoutSec  int                    `json:"timeoutSec"`
	Native      bool                   `json:"native"`
	Status      string                 `json:"status"`
	ExitCode    *int                   `json:"exitCode"`
	Signal      *string                `json:"signal"`
	Failure     *environment.Failure   `json:"failure"`
	Environment RunEnvironment         `json:"environment"`
	Lease       *Lease                 `json:"lease"`
	Host        *environment.HostFacts `json:"host"`
	Phases      []Phase                `json:"phases"`
	Termination string                 `json:"termination"`
	LogSize     int64                  `json:"logSize"`
	LogCut      int64                  `json:"logCut"`
	CreatedAt   Time                   `json:"createdAt"`
	StartedAt   *Time                  `json:"startedAt"`
	Deadline    *Time                  `json:"deadline"`
	FinishedAt  *Time                  `json:"finishedAt"`
}

// Lease is Paperclip's shape, then ours.
type Lease struct {
	ID                   uuid.UUID       `json:"id"`
	CompanyID            uuid.UUID       `json:"companyId"`
	EnvironmentID        *uuid.UUID      `json:"environmentId"`
	ExecutionWorkspaceID *uuid.UUID      `json:"executionWorkspaceId"`
	IssueID              *uuid.UUID      `json:"issueId"`
	HeartbeatRunID       *uuid.UUID      `json:"heartbeatRunId"`
	Status               string          `json:"status"`
	LeasePolicy          string          `json:"leasePolicy"`
	Provider             string          `json:"provider"`
	ProviderLeaseID      *string         `json:"providerLeaseId"`
	AcquiredAt           Time            `json:"acquiredAt"`
	LastUsedAt           Time            `json:"lastUsedAt"`
	ExpiresAt            *Time           `json:"expiresAt"`
	ReleasedAt           *Time           `json:"releasedAt"`
	FailureReason        *string         `json:"failureReason"`
	CleanupStatus        *string         `json:"cleanupStatus"`
	Metadata             json.RawMessage `json:"metadata"`
	CreatedAt            Time            `json:"createdAt"`
	UpdatedAt            Time            `json:"updatedAt"`

	RunID     *uuid.UUID      `json:"runId"`
	OwnerKind string          `json:"ownerKind"`
	Receipt   json.RawMessage `json:"receipt"`

	EnvironmentName   string     `json:"environmentName"`
	AgentID           *uuid.UUID `json:"agentId"`
	HeartbeatAt       Time       `json:"heartbeatAt"`
	Acquisition       *string    `json:"acquisition"` // "created", "resumed", "replacement"
	AcquisitionReason *string    `json:"acquisitionReason"`
	ResumesLeaseID    *uuid.UUID `json:"resumesLeaseId"`
	CleanupAttempts   int        `json:"cleanupAttempts"`
	CleanupNextAt     *Time      `json:"cleanupNextAt"`
	CleanupError      *string    `json:"cleanupError"`
	DeadLetterAt      *Time      `json:"deadLetterAt"`
}

// Budget is what an environment's account may be used for; 0 is no limit.
type Budget struct {
	AccountLabel       string `json:"accountLabel"`
	MaxLeases          int    `json:"maxLeases"`
	LeaseMinutesPerDay int    `json:"leaseMinutesPerDay"`
	Note               string `json:"note"`
}

// Usage is what of a budget is used now and was used today, in UTC.
type Usage struct {
	ActiveLeases      int     `json:"activeLeases"`
	LeaseMinutesToday float64 `json:"leaseMinutesToday"`
}

// LogChunk is a piece of output. Text has U+FFFD for invalid bytes and for NUL;
// Data has the bytes themselves and is there only when it was asked for.
type LogChunk struct {
	Stream string `json:"stream"`
	Offset int64  `json:"offset"`
	Text   string `json:"text"`
	Data   []byte `json:"data,omitempty"`
}

// Log answers GET /api/runs/:id/log.
type Log struct {
	NextOffset int64      `json:"nextOffset"`
	Done       bool       `json:"done"`
	Truncated  bool       `json:"truncated"`
	Chunks     []LogChunk `json:"chunks"`
}

// Settings is GET and PATCH /api/instance/settings.
type Settings struct {
	DefaultEnvironmentID *uuid.UUID `json:"defaultEnvironmentId"`
	MaxRunTimeoutSec     int        `json:"maxRunTimeoutSec"`
}

// Experimental is GET and PATCH /api/instance/settings/experimental.
type Experimental struct {
	EnableEnvironments       bool `json:"enableEnvironments"`
	EnableManagedSandboxOnly bool `json:"enableManagedSandboxOnly"`
}
