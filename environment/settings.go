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
	MaxRunTimeout int `db:"max_run_timeout_sec"`
	// ManagedProvider is the provider of the managed sandbox that the instance's
	// configuration provisions now; "" while none does.
	ManagedProvider string    `db:"managed_provider"`
	Revision        int       `db:"revision"`
	UpdatedAt       time.Time `db:"updated_at"`
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

// Refusal is KindConflict with code environments_disabled while environments are
// off: reading, cancelling, releasing and cleaning up go on, nothing else does.
func (s Settings) Refusal() error {
	if s.EnableEnvironments {
		return nil
	}
	return Conflict(CodeEnvironmentsDisabled, "Environments are turned off on this instance.").
		Remedy(Remedy(CodeEnvironmentsDisabled))
}

// Hides reports whether a driver's environments are as if they did not exist:
// Local, while only managed sandboxes are allowed.
func (s Settings) Hides(driver string) bool {
	return s.EnableManagedSandboxOnly && driver == DriverLocal
}

// ManagedSandboxOnly refuses what would run on Local while that is hidden.
func ManagedSandboxOnly() *Error {
	return Conflict(CodeManagedSandboxOnly, "This instance runs work in its managed sandbox only, and has none.").
		Remedy("Choose another environment, or have an instance admin allow others.")
}
