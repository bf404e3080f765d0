package environment

import (
	"time"

	"github.com/google/uuid"
)

// Settings are the instance's own.
type Settings struct {
	EnableEnvironments       bool       `db:"enable_environments"`
	EnableManagedSandboxOnly bool       `db:"enable_managed_sandbox_only"`
	DefaultEnvironmentID     *uuid.UUID `db:"default_environment_id"`
	// MaxRunTimeout is the cap on a run's timeout, in seconds.
	MaxRunTimeout int       `db:"max_run_timeout_sec"`
	Revision      int       `db:"revision"`
	UpdatedAt     time.Time `db:"updated_at"`
}

// SettingsPatch changes what is not nil. ClearDefault sets the default
// environment to none.
type SettingsPatch struct {
	EnableEnvironments       *bool
	EnableManagedSandboxOnly *bool
	DefaultEnvironmentID     *uuid.UUID
	ClearDefault             bool
	MaxRunTimeout            *int
}
