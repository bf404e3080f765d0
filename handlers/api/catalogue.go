package api

import (
	"encoding/json"

	"berth/environment"

	"github.com/google/uuid"
)

// Capabilities is Paperclip's matrix, then ours: DriverAbilities says of each
// installed driver what it can do.
type Capabilities struct {
	Adapters         []AdapterSupport                    `json:"adapters"`
	Drivers          map[string]string                   `json:"drivers"` // "supported" or "unsupported"
	SandboxProviders map[string]SandboxProvider          `json:"sandboxProviders"`
	DriverAbilities  map[string]environment.Capabilities `json:"driverCapabilities"` // by "ssh", or "sandbox/docker"
}

// SandboxProvider is what a provider of sandboxes can do.
type SandboxProvider struct {
	Status                          string          `json:"status"` // "supported" or "unsupported"
	SupportsSavedProbe              bool            `json:"supportsSavedProbe"`
	SupportsUnsavedProbe            bool            `json:"supportsUnsavedProbe"`
	SupportsRunExecution            bool            `json:"supportsRunExecution"`
	SupportsReusableLeases          bool            `json:"supportsReusableLeases"`
	SupportsInteractiveSetup        bool            `json:"supportsInteractiveSetup"`
	InteractiveSetupConnectionTypes []string        `json:"interactiveSetupConnectionTypes"`
	SupportsTemplateCapture         bool            `json:"supportsTemplateCapture"`
	SupportsTemplateDelete          bool            `json:"supportsTemplateDelete"`
	TemplateRefKind                 *string         `json:"templateRefKind,omitempty"` // absent: captures nothing
	DisplayName                     string          `json:"displayName"`
	Description                     string          `json:"description"`
	Source                          string          `json:"source"` // "builtin"
	PluginKey                       *string         `json:"pluginKey"`
	PluginID                        *uuid.UUID      `json:"pluginId"`
	ConfigSchema                    json.RawMessage `json:"configSchema"` // a JSON Schema of an object; null: none

	Reason                *string `json:"reason"` // why it is unsupported, and what to do
	SupportsImageIdentity bool    `json:"supportsImageIdentity"`
	SupportsListing       bool    `json:"supportsListing"`
	StartupBudgetMs       int64   `json:"startupBudgetMs"` // how long a sandbox may take to start, unless its config says
}

// AdapterSupport says where agents of an adapter can run.
type AdapterSupport struct {
	AdapterType      string            `json:"adapterType"`
	Drivers          map[string]string `json:"drivers"`
	SandboxProviders map[string]string `json:"sandboxProviders"`
}

// BlastRadius is what deleting an environment would touch.
type BlastRadius struct {
	EnvironmentID        uuid.UUID        `json:"environmentId"`
	CanDelete            bool             `json:"canDelete"`
	DeleteBlockedReasons []string         `json:"deleteBlockedReasons"`
	StaticReferences     StaticReferences `json:"staticReferences"`
	ActiveRuntimeUse     ActiveRuntimeUse `json:"activeRuntimeUse"`
}

// StaticReferences count what points at an environment.
type StaticReferences struct {
	IsManagedLocal                   bool `json:"isManagedLocal"`
	IsInstanceDefault                bool `json:"isInstanceDefault"`
	AgentDefaultCount                int  `json:"agentDefaultCount"`
	ExecutionWorkspaceSelectionCount int  `json:"executionWorkspaceSelectionCount"`
	IssueSelectionCount              int  `json:"issueSelectionCount"`
	ProjectSelectionCount            int  `json:"projectSelectionCount"`
	SecretBindingCount               int  `json:"secretBindingCount"`
	RunCount                         int  `json:"runCount"`
}

// ActiveRuntimeUse counts what holds an environment's target.
type ActiveRuntimeUse struct {
	ActiveLeaseCount                   int  `json:"activeLeaseCount"`
	ActiveCustomImageSetupSessionCount int  `json:"activeCustomImageSetupSessionCount"`
	PendingCleanupLeaseCount           int  `json:"pendingCleanupLeaseCount"`
	ReusableSandboxLeaseCount          int  `json:"reusableSandboxLeaseCount"`
	ActiveRunCount                     int  `json:"activeRunCount"`
	HasActiveRuntimeUse                bool `json:"hasActiveRuntimeUse"`
}

// Check is what is wrong with values that are not saved. Config is normalised,
// null when something is wrong.
type Check struct {
	OK       bool                     `json:"ok"`
	Fields   []environment.FieldError `json:"fields"`
	Warnings []environment.FieldError `json:"warnings"`
	Config   json.RawMessage          `json:"config"`
}

// KeyPair is a new key. Its private half is nowhere but here.
type KeyPair struct {
	PrivateKey string `json:"privateKey"`
	environment.KeyFacts
}

// ClientConfig is what a block of an ssh client's config said.
type ClientConfig struct {
	Config  map[string]any `json:"config"`
	Ignored []string       `json:"ignored"`
}

// Activity is one entry of the log of who did what.
type Activity struct {
	ID         uuid.UUID      `json:"id"`
	CompanyID  *uuid.UUID     `json:"companyId"`
	ActorType  string         `json:"actorType"`
	ActorID    *uuid.UUID     `json:"actorId"` // of a person or agent; null for others
	ActorName  string         `json:"actorName"`
	Action     string         `json:"action"`
	EntityType string         `json:"entityType"`
	EntityID   string         `json:"entityId"`
	Details    map[string]any `json:"details"`
	RequestID  string         `json:"requestId"`
	CreatedAt  Time           `json:"createdAt"`
}

// Workspace is a folder's list or a file's text. Text is null for a folder and
// has U+FFFD for what is not text.
type Workspace struct {
	Path      string     `json:"path"`
	Type      string     `json:"type"` // "dir" or "file"
	Entries   []FileInfo `json:"entries"`
	Text      *string    `json:"text"`
	Size      int64      `json:"size"`
	Truncated bool       `json:"truncated"`
}

// FileInfo is one entry of a folder; Path is relative to the workspace.
type FileInfo struct {
	Name       string `json:"name"`
	Path       string `json:"path"`
	Type       string `json:"type"` // "file", "dir", "symlink", "other"
	Size       int64  `json:"size"`
	ModifiedAt Time   `json:"modifiedAt"`
}
