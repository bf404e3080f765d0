package environment

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/google/uuid"
)

// Provided is a driver that is one of several of its name.
type Provided interface {
	// Provider is the provider's key: "docker".
	Provider() string
}

// Schemer describes its config as data, from which forms, the API's checks and
// the command line are made.
type Schemer interface {
	// Schema is a JSON Schema (2020-12) of an object. Beside the standard words a
	// property may say: "format": "secret-ref" (a secret, stored apart),
	// "x-order" (integer; place in the form), "x-group" ("advanced", "limits",
	// "network", ...; none: the main part), "x-unit" ("MiB", "s", "cores"),
	// "x-placeholder", "x-multiline" (boolean), "x-labels" (words for an enum's
	// values, in its order) and "x-role", which says what a change of it means:
	// "image", "target" (which engine, which region), "account" (who one is there),
	// "runtime" (neither; it only matters while something runs). No role: "target".
	Schema() json.RawMessage
}

// Budgeter says how long its sandboxes may take to start or to resume.
type Budgeter interface {
	// StartupBudget is from the configuration, else the provider's own.
	StartupBudget(config json.RawMessage) time.Duration
}

// Resumer makes a stopped sandbox usable again.
type Resumer interface {
	// Resume starts what ref holds and returns what is needed to use it. An error
	// of code sandbox_gone (KindNotFound) is proof that it does not exist any more,
	// one of code sandbox_mismatch (KindConflict) that it is not what the lease
	// holds; any other error proves nothing, and the sandbox stays as it is. One
	// that runs already is returned as it is.
	Resume(ctx context.Context, ref Ref, spec Spec) (Ref, error)
}

// ImageIdentity names content, not a name.
type ImageIdentity struct {
	// Kind is how it is known: "oci_digest" (a manifest's digest together with the
	// id of the image that was made from it), "image_id" (an image of the engine's
	// own, such as a committed one), "provider_snapshot".
	Kind       string `json:"kind"`
	Reference  string `json:"reference"`            // as it was configured
	Repository string `json:"repository,omitempty"` // "registry.example:5000/team/app"
	Digest     string `json:"digest,omitempty"`     // of the manifest: "sha256:..."
	ImageID    string `json:"imageId,omitempty"`    // the engine's
	SnapshotID string `json:"snapshotId,omitempty"`
}

// Kinds of ImageIdentity.
const (
	ImageDigest   = "oci_digest"
	ImageLocal    = "image_id"
	ImageSnapshot = "provider_snapshot"
)

// Same reports whether two identities name the same content: of the same kind,
// and by the digest or snapshot and, where both know it, the image's id.
func (i ImageIdentity) Same(o ImageIdentity) bool {
	return i.Kind == o.Kind && i.Digest == o.Digest && i.SnapshotID == o.SnapshotID &&
		(i.ImageID == o.ImageID || i.Kind == ImageDigest && (i.ImageID == "" || o.ImageID == "")) &&
		(i.Digest != "" || i.ImageID != "" || i.SnapshotID != "")
}

// Identifier tells which image is chosen and which one really runs.
type Identifier interface {
	// Selected reads the identity out of a config, without reaching out; false
	// with a code of a QualificationResult when the config names none that stays
	// (mutable_image, provider_default_image).
	Selected(config json.RawMessage) (ImageIdentity, string, bool)
	// Identity asks the provider what a live sandbox was made from. Digest is what
	// the provider vouches for; for a tag it is what the tag was then.
	Identity(ctx context.Context, ref Ref) (ImageIdentity, error)
}

// Held is an object that a provider holds under an installation's label.
type Held struct {
	ProviderID string
	LeaseKey   string // Spec.IdempotencyKey of what made it; "" when it has none
	CreatedAt  time.Time
	Running    bool
}

// Lister says what the provider holds.
type Lister interface {
	// Place names the engine or account of a config, without a secret: what is
	// listed for two configs of one place is the same.
	Place(config json.RawMessage) string
	// List returns what is there with spec.InstanceID's label, stopped or not.
	// What has another label, or none, is not among it.
	List(ctx context.Context, spec Spec) ([]Held, error)
}

// Terminal is an interactive shell with a pty.
type Terminal interface {
	io.ReadWriteCloser // Close ends the shell and what it started
	// Resize sets columns and rows, 1 to 500 each.
	Resize(cols, rows int) error
	// Wait returns the shell's exit code when it has ended.
	Wait() (int, error)
}

// Sheller opens interactive shells in a lease.
type Sheller interface {
	Shell(ctx context.Context, ref Ref, cols, rows int) (Terminal, error)
}

// CaptureRequest says what an image that is made of a sandbox is called.
type CaptureRequest struct {
	Key    string            // idempotency: a second call with it gives the same image
	Labels map[string]string // beside the installation's own
}

// Capturer makes an image of a sandbox.
type Capturer interface {
	Capture(ctx context.Context, ref Ref, r CaptureRequest) (ImageIdentity, error)
}

// ImageDeleter deletes an image that Capture made. One that is gone is no error;
// one without the installation's label is KindForbidden.
type ImageDeleter interface {
	DeleteImage(ctx context.Context, spec Spec, image ImageIdentity) error
}

// Codes of sandboxes.
const (
	CodeEngineDenied         = "engine_denied"
	CodeEngineTooOld         = "engine_too_old"
	CodeImageNotFound        = "image_not_found"
	CodeImageDenied          = "image_denied"
	CodeRegistryUnreachable  = "registry_unreachable"
	CodeImageDigestMismatch  = "image_digest_mismatch"
	CodeImageDeleted         = "image_deleted"
	CodeCreateFailed         = "create_failed"
	CodeStartFailed          = "start_failed"
	CodeCleanupUnconfirmed   = "cleanup_unconfirmed"
	CodeSandboxGone          = "sandbox_gone"
	CodeSandboxMismatch      = "sandbox_mismatch"
	CodeLeaseAcquireFailed   = "lease_acquire_failed"
	CodeLeaseInUse           = "lease_in_use"
	CodeBudgetExhausted      = "budget_exhausted"
	CodeQualificationMissing = "sandbox_snapshot_qualification_required"
	CodeEnvironmentManaged   = "environment_managed"
)

// DockerStages are the stages of a probe of a sandbox, in order.
func DockerStages() []string {
	return []string{"engine", "image", "create", "start", "shell", "platform", "workspace", "tools", "cleanup"}
}

// Limits of sandboxes.
const (
	SandboxProbeLimit    = 180 * time.Second // unless the driver declares a longer startup budget
	DefaultStartupBudget = 120 * time.Second
	MaxStartupBudget     = 15 * time.Minute
	// LeaseTTL is how long a lease lives without a beat of whoever holds it.
	LeaseTTL = 120 * time.Second
	// RetainedFor is how long a stopped sandbox is kept for reuse, unless its
	// config says.
	RetainedFor = 24 * time.Hour
	// ArchivedFor is how long a sandbox that was archived on release is kept.
	ArchivedFor = time.Hour
	MaxRetained = 30 * 24 * time.Hour
)

// Budget is what an environment's account may be used for.
type Budget struct {
	AccountLabel       string `json:"accountLabel"`       // "" for none; up to 120 characters
	MaxLeases          int    `json:"maxLeases"`          // at once; 0: no limit
	LeaseMinutesPerDay int    `json:"leaseMinutesPerDay"` // of all leases, a day in UTC; 0: no limit
	Note               string `json:"note"`               // up to 2000 characters
}

// Usage is what of a budget is used.
type Usage struct {
	ActiveLeases int     `json:"activeLeases"` // acquiring, active, releasing
	MinutesToday float64 `json:"leaseMinutesToday"`
}

// Exhausted says which limit stands in the way of one more lease; "" when none.
func (b Budget) Exhausted(u Usage) string {
	switch {
	case b.MaxLeases > 0 && u.ActiveLeases >= b.MaxLeases:
		return "maxLeases"
	case b.LeaseMinutesPerDay > 0 && u.MinutesToday >= float64(b.LeaseMinutesPerDay):
		return "leaseMinutesPerDay"
	}
	return ""
}

// ManagedSandbox is the one environment that the instance's own configuration
// provisions.
type ManagedSandbox struct {
	Name        string                     `json:"name"`
	Description string                     `json:"description,omitempty"`
	Provider    string                     `json:"provider"`
	Config      map[string]json.RawMessage `json:"config"` // secrets in place; "provider" may be left out
	Budget      *Budget                    `json:"budget,omitempty"`
}

// Fingerprints are of what an environment is made with, secrets by the version
// that their references lead to; no secret is opened for them.
type Fingerprints struct {
	// Qualification is of the effective configuration but for what only matters at
	// run time (x-role "runtime").
	Qualification string
	// Reuse is of all of it: a sandbox is picked up again for the same one only.
	Reuse string
	// Template is the active captured image that applies; nil while there is none.
	Template *uuid.UUID
}
