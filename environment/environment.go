package environment

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"
)

// Names of drivers.
const (
	DriverLocal   = "local"
	DriverSSH     = "ssh"
	DriverSandbox = "sandbox"
	DriverPlugin  = "plugin"
)

// Status is whether an environment is offered for work.
type Status string

// The statuses.
const (
	StatusActive      Status = "active"
	StatusArchived    Status = "archived"
	StatusMaintenance Status = "maintenance"
)

// Environment is a saved target. It belongs to the instance, not to a company.
type Environment struct {
	ID          uuid.UUID
	Name        string
	Description *string
	Driver      string
	Status      Status
	// Config is the driver's normalised settings: secrets only as references.
	Config   json.RawMessage
	EnvVars  map[string]EnvVar
	Metadata json.RawMessage // null or an object
	// Revision grows by one with every write; it is the ETag.
	Revision int
	// ConfigRevision is the Revision at which driver, config or variables last
	// changed. A probe of an older one proves nothing about this one.
	ConfigRevision int
	CreatedAt      time.Time
	UpdatedAt      time.Time
	// Managed marks the one row that the instance's configuration provisions. Only
	// the server sets it; all but the variables of such a row is locked.
	Managed bool
	// Budget is nil for none.
	Budget *Budget
}

// EnvironmentView is an environment with what the list shows beside it.
type EnvironmentView struct {
	Environment
	Last      *Probe      // newest finished probe of the saved row; nil: never tested
	Active    *Probe      // probe of the saved row under way; nil: none
	Recent    []ProbeMark // up to 12, oldest first
	IsDefault bool
	// Provisioned is true for the managed sandbox while a configuration provisions it.
	Provisioned bool
	Uses        Uses
}

// Uses counts what refers to an environment.
type Uses struct {
	ActiveLeases   int `db:"active_leases"`
	Retained       int `db:"retained_leases"` // stopped sandboxes, kept for reuse or for a look
	PendingCleanup int `db:"pending_cleanup"`
	ActiveRuns     int `db:"active_runs"`
	Runs           int `db:"runs"`
	AgentDefaults  int `db:"agent_defaults"` // agents that work there when a run names no environment
}

// ProbeMark is one bar of the latency line.
type ProbeMark struct {
	At         time.Time `json:"at"`
	OK         bool      `json:"ok"`
	DurationMs int64     `json:"durationMs"`
}

// Health is the word on an environment's pill.
type Health string

// The health words.
const (
	HealthUntested    Health = "untested"
	HealthTesting     Health = "testing"
	HealthReady       Health = "ready"
	HealthWarning     Health = "warning"
	HealthUnfit       Health = "unfit"
	HealthUnreachable Health = "unreachable"
	HealthUntrusted   Health = "untrusted"
	HealthInterrupted Health = "interrupted"
	HealthChanged     Health = "changed"
)

// Healths lists every health word, for previews and filters.
func Healths() []Health {
	return []Health{HealthUntested, HealthTesting, HealthReady, HealthWarning, HealthUnfit,
		HealthUnreachable, HealthUntrusted, HealthInterrupted, HealthChanged}
}

// Health tells how the environment is: from the probe under way, else from the
// last one if it tested what is saved now.
func (v EnvironmentView) Health() Health {
	switch {
	case v.Active != nil:
		return HealthTesting
	case v.Last == nil:
		return HealthUntested
	case v.Last.ConfigRevision != v.ConfigRevision:
		return HealthChanged
	}
	return v.Last.Health()
}

// ListFilter narrows and orders a list of environments.
type ListFilter struct {
	Status Status // "": active and maintenance and archived alike
	// NotArchived leaves archived ones out.
	NotArchived bool
	Driver      string // "": any
	Query       string // part of the name, description or config text, without regard to case
	// NamesOnly looks for Query in name and description only: a search must not
	// find by what the reader may not see.
	NamesOnly bool
	Health    Health // "": any
	Sort      string // "updated" (default, newest first), "name", "health", "driver", "tested"
	Limit     int    // 1 to 1000; 0 means 500
	Cursor    string // opaque; "" is the first page
}

// Page is one page of a list. Next is the cursor of the next; "" on the last.
type Page[T any] struct {
	Items []T
	Next  string
}

// Draft is an environment as a form or a program sends it: config with secret
// values in place, nothing normalised. A secret field that is absent or blank
// means "what is stored", when there is a stored row beside the draft.
type Draft struct {
	Name        string
	Description *string
	Driver      string
	Status      Status
	Config      map[string]json.RawMessage
	EnvVars     map[string]EnvVarDraft
	Metadata    json.RawMessage
	// NewSecrets makes company secrets in place, by the path that then refers to
	// them: "config.privateKey", "envVars.NAME".
	NewSecrets map[string]NewCompanySecret
	// Budget is nil for what is stored, or none.
	Budget *Budget
	// ClearBudget takes it away.
	ClearBudget bool
}

// EnvVarDraft is a variable as sent. Keep leaves the stored one as it is (a form
// with a blank secret); Remove deletes it.
type EnvVarDraft struct {
	Type   string // "plain", "secret" (Value becomes a stored secret) or "secret_ref"
	Value  Secret
	Ref    *SecretRef
	Keep   bool
	Remove bool
}

// Patch changes what is set. Config merges one level deep; a JSON null removes.
type Patch struct {
	Name        *string
	Description *string // with SetDescription; nil removes
	Driver      *string
	Status      *Status
	Config      map[string]json.RawMessage // nil: untouched
	EnvVars     map[string]EnvVarDraft     // nil: untouched
	Metadata    json.RawMessage            // nil: untouched; "null" removes

	NewSecrets     map[string]NewCompanySecret // as Draft's
	Budget         *Budget                     // nil: untouched
	ClearBudget    bool
	SetDescription bool
	// ReplaceEnvVars drops every variable that EnvVars does not name: a form
	// sends the whole list.
	ReplaceEnvVars bool
}

// Impact is what deleting an environment would touch.
type Impact struct {
	EnvironmentID  uuid.UUID
	Blocked        []string // "managed_local", "instance_default", "agent_default", "active_use", "pending_sandbox_cleanup"
	IsManagedLocal bool
	IsDefault      bool
	Uses           Uses
	SecretCount    int
}

// CanDelete reports whether a plain delete goes through.
func (i Impact) CanDelete() bool { return len(i.Blocked) == 0 }

// IsTheDefault is the refusal to take the default environment out of use.
func IsTheDefault(name string) *Error {
	return Conflict("environment_is_default", "“"+name+"” is the default environment.").
		Remedy("Choose another default environment first.")
}

// DeleteOptions say what to do with what refers to the environment.
type DeleteOptions struct {
	// ReassignTo takes over what pointed here, as the instance's default and as
	// agents' defaults. It unblocks "instance_default" and "agent_default".
	ReassignTo *uuid.UUID
	// IfRevision refuses a row with another revision; nil: any.
	IfRevision *int
}
