package catalogue

import (
	"context"

	"berth/environment"

	"github.com/google/uuid"
)

// CONTRACT: bodies to be written in files of their own (companies.go,
// settings.go, environments.go, patch.go, secrets.go, hostkeys.go, keys.go,
// activity.go, specs.go); delete this file when the last one has moved.

func (s *Service) Companies(ctx context.Context, actor environment.Actor) ([]environment.Company, error) {
	panic("unwritten")
}
func (s *Service) Company(ctx context.Context, actor environment.Actor, id uuid.UUID) (environment.Company, error) {
	panic("unwritten")
}
func (s *Service) CreateCompany(ctx context.Context, actor environment.Actor, name string) (environment.Company, error) {
	panic("unwritten")
}

// CompanyFor picks the company of a request: the given one if it exists, else
// the only one (nil, nil when there is none or several and required is false;
// KindInvalid company_required when required).
func (s *Service) CompanyFor(ctx context.Context, actor environment.Actor, given *uuid.UUID, required bool) (*environment.Company, error) {
	panic("unwritten")
}

func (s *Service) Settings(ctx context.Context, actor environment.Actor) (environment.Settings, error) {
	panic("unwritten")
}
func (s *Service) UpdateSettings(ctx context.Context, actor environment.Actor, p environment.SettingsPatch) (environment.Settings, error) {
	panic("unwritten")
}

// EnsureLocal makes the Local row at start.
func (s *Service) EnsureLocal(ctx context.Context, asDefault bool) (environment.Environment, error) {
	panic("unwritten")
}

func (s *Service) List(ctx context.Context, actor environment.Actor, f environment.ListFilter) (environment.Page[environment.EnvironmentView], error) {
	panic("unwritten")
}

// Revision is the catalogue's revision, for caches.
func (s *Service) Revision(ctx context.Context) (int64, error) { panic("unwritten") }

func (s *Service) Get(ctx context.Context, actor environment.Actor, id uuid.UUID) (environment.EnvironmentView, error) {
	panic("unwritten")
}

// Find returns the environment with this id or, failing that, this name (case does not matter).
func (s *Service) Find(ctx context.Context, actor environment.Actor, idOrName string) (environment.EnvironmentView, error) {
	panic("unwritten")
}

func (s *Service) Create(ctx context.Context, actor environment.Actor, d environment.Draft) (environment.Environment, error) {
	panic("unwritten")
}

// Update applies a patch. ifRevision nil means "whatever it is now". KindStale
// carries details "current" (revision), "changedBy", "changedAt".
func (s *Service) Update(ctx context.Context, actor environment.Actor, id uuid.UUID, ifRevision *int, p environment.Patch) (environment.Environment, error) {
	panic("unwritten")
}
func (s *Service) Impact(ctx context.Context, actor environment.Actor, id uuid.UUID) (environment.Impact, error) {
	panic("unwritten")
}
func (s *Service) Delete(ctx context.Context, actor environment.Actor, id uuid.UUID, o environment.DeleteOptions) (environment.Environment, error) {
	panic("unwritten")
}

// Check validates a draft, merged over the stored row when baseID is given, and
// stores nothing: for errors on blur. It returns the field errors, warnings and
// the normalised config.
func (s *Service) Check(ctx context.Context, actor environment.Actor, baseID *uuid.UUID, d environment.Draft) (environment.ConfigOutput, error) {
	panic("unwritten")
}

// Spec opens what a saved environment needs: config, secrets, variables.
func (s *Service) Spec(ctx context.Context, env environment.Environment) (environment.Spec, []environment.EnvValue, error) {
	panic("unwritten")
}

// DraftSpec validates a draft over its stored row (blank secrets are the stored
// ones) and opens it. Nothing is stored.
func (s *Service) DraftSpec(ctx context.Context, actor environment.Actor, baseID *uuid.UUID, d environment.Draft) (environment.Spec, error) {
	panic("unwritten")
}

// ScanHostKeys asks host:port (through proxyJump, "" for none) for its keys.
// baseID gives the credentials for the hops; nil: none.
func (s *Service) ScanHostKeys(ctx context.Context, actor environment.Actor, baseID *uuid.UUID, host string, port int, proxyJump string) ([]environment.HostKey, error) {
	panic("unwritten")
}

// TrustHostKey scans again and pins the presented key of that fingerprint.
func (s *Service) TrustHostKey(ctx context.Context, actor environment.Actor, id uuid.UUID, fingerprint string, replace bool) (environment.Environment, error) {
	panic("unwritten")
}

// PinFirstUse stores the known_hosts text that a probe or run learned under
// strictHostKeyChecking false. It does not count as a change of config.
func (s *Service) PinFirstUse(ctx context.Context, id uuid.UUID, knownHosts string) error {
	panic("unwritten")
}
func (s *Service) GenerateKey(ctx context.Context, actor environment.Actor, comment string) (environment.Secret, environment.KeyFacts, error) {
	panic("unwritten")
}
func (s *Service) InspectKey(ctx context.Context, actor environment.Actor, text, passphrase environment.Secret) (environment.KeyFacts, error) {
	panic("unwritten")
}
func (s *Service) ReadSSHConfig(ctx context.Context, actor environment.Actor, text string) (map[string]any, []string, error) {
	panic("unwritten")
}
func (s *Service) Capabilities(ctx context.Context, actor environment.Actor) ([]environment.Capabilities, error) {
	panic("unwritten")
}
func (s *Service) Activity(ctx context.Context, actor environment.Actor, f environment.ActivityFilter) (environment.Page[environment.Activity], error) {
	panic("unwritten")
}
