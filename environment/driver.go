package environment

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/google/uuid"
)

// Driver is the code for a kind of target. What a driver can do beyond this is
// said by the optional one-method interfaces below.
type Driver interface {
	// Name is the driver's key: "local", "ssh".
	Name() string
	// Acquire makes the target usable and returns what is needed to use it and
	// to clean it up later. Errors carry a probe code (connect_refused, ...); who
	// made something, and saw it gone again, returns an Undone.
	Acquire(context.Context, Spec) (Ref, error)
	// Release ends what Acquire made. Releasing twice, or what is gone, is not
	// an error: the receipt says what was found. A Ref without ProviderID is of an
	// Acquire whose answer never came: what carries its LeaseKey is ended. A
	// receipt is only given for what the provider confirmed; that something was
	// asked for is not enough.
	Release(context.Context, Ref, Disposition) (Receipt, error)
}

// Spec says what to reach and for whom. Config is normalised; Secrets holds the
// opened values by the field under which a request sends them ("privateKey").
type Spec struct {
	EnvironmentID  uuid.UUID // zero for a draft
	ConfigRevision int
	Driver         string
	Config         json.RawMessage
	Secrets        map[string]Secret
	// SecretProblems names the secrets that could not be opened: field to code
	// (secret_missing, secret_disabled). The driver fails where it needs one.
	SecretProblems map[string]string
	CompanyID      *uuid.UUID
	RunID          *uuid.UUID
	// IdempotencyKey is the lease's id. It becomes a label, and where the provider
	// has unique names a part of one, of what is made: a second Acquire with it
	// gives the same thing, and a Release of a Ref without ProviderID finds it.
	IdempotencyKey string
	// InstanceID is this installation's. What has another label or none is never
	// touched.
	InstanceID uuid.UUID
	OwnerKind  string // of the lease: "run", "probe", ...; a label
	// Pinned is the image to make a sandbox from, whatever the config names; nil:
	// what the config names. One that is gone is KindNotFound with code
	// image_deleted, and no name is looked up in its place.
	Pinned *ImageIdentity
	// Report is told of stages as they begin and end, from one goroutine at a time;
	// nil: nobody listens.
	Report func(Stage)
}

// Tell reports a stage to whoever listens.
func (s Spec) Tell(stage Stage) {
	if s.Report != nil {
		s.Report(stage)
	}
}

// Ref is a live target. It serialises, holds no secret, and is enough to clean
// up after the environment is gone (with Spec's secrets opened again).
type Ref struct {
	Driver     string          `json:"driver"`
	Provider   string          `json:"provider"`
	ProviderID string          `json:"providerId"`
	Dir        string          `json:"dir"` // the workspace, absolute, on the target
	Host       HostFacts       `json:"host"`
	Config     json.RawMessage `json:"config"`
	// ProviderVersion is the engine's or API's.
	ProviderVersion string `json:"providerVersion,omitempty"`
	// LeaseKey and InstanceID are the labels of what was made.
	LeaseKey   string         `json:"leaseKey,omitempty"`
	InstanceID uuid.UUID      `json:"instanceId,omitzero"`
	Image      *ImageIdentity `json:"image,omitempty"` // what a sandbox was really made from
	// Metadata is the driver's own.
	Metadata map[string]string `json:"metadata,omitempty"`
	// Spec is what it was made with. It is filled in again by whoever loads a
	// Ref from the store and never serialised.
	Spec Spec `json:"-"`
}

// Disposition is what a release leaves behind.
type Disposition string

// The dispositions.
const (
	Keep          Disposition = "keep"
	StopAndRetain Disposition = "stop_and_retain"
	Destroy       Disposition = "destroy"
)

// Receipt is the driver's word on a release.
type Receipt struct {
	Outcome    string         `json:"outcome"` // "released", "destroyed", "stopped", "gone"
	ProviderID string         `json:"providerId"`
	At         time.Time      `json:"at"`
	Details    map[string]any `json:"details"`
}

// Configurer checks and normalises a config before it is stored.
type Configurer interface {
	// Configure returns the normalised config and the secrets to store. Wrong
	// fields give an Error with Fields ("config.port"). It never reaches out.
	Configure(ConfigInput) (ConfigOutput, error)
}

// ConfigInput is a config as sent, merged over what is stored.
type ConfigInput struct {
	// Config has secret values in place under their request names, and the
	// references of stored ones under their stored names.
	Config map[string]json.RawMessage
	// Stored opens a secret that the config refers to, so that a new passphrase
	// can be tried on the stored key. It returns false when there is none.
	Stored func(field string) (Secret, bool)
}

// ConfigOutput is a config as it is stored.
type ConfigOutput struct {
	// Config has no secret values; a reference is under its stored name when it
	// was already stored. References of new secrets are put in by the caller.
	Config json.RawMessage
	// Secrets are new values to store, by request name.
	Secrets map[string]Secret
	// Drop names the request names whose stored secret is no longer wanted.
	Drop []string
	// SecretFields maps each request name to the config key of its reference.
	SecretFields map[string]string
	Warnings     []FieldError
}

// Prober tests a target stage by stage without leaving anything behind but the
// workspace folder.
type Prober interface {
	// Probe calls report when a stage begins and when it ends, and returns the
	// verdict. A target that fails is a result, not an error. It ends within
	// the deadline of ctx and leaves no connection.
	Probe(ctx context.Context, spec Spec, report func(Stage)) ProbeResult
}

// ProbeResult is a probe's verdict.
type ProbeResult struct {
	OK        bool
	Code      string // of the first failed stage
	Summary   string // names the target, port and layer
	Stages    []Stage
	Host      *HostFacts
	Platform  *Platform
	Image     *ImageIdentity // of a draft: what its reference leads to now
	Presented []HostKey
	Trusted   []HostKey
	// Pin is the known_hosts text to store: first use under
	// strictHostKeyChecking false. "" when there is nothing to pin.
	Pin string
}

// Describer tells people where a config points, without a secret.
type Describer interface {
	// Describe returns "user@host:port" and the like.
	Describe(config json.RawMessage) string
}

// Readier gets ready for work while its lease is being written down.
type Readier interface {
	// Ready says that spec.RunID is about to acquire and to execute. It returns at
	// once and does nothing that leaves a trace: what it opens is closed by the
	// returned function, which is called when the work has ended or does not come,
	// and by itself when that takes more than a few seconds.
	Ready(spec Spec) (done func())
}

// Execer runs a command in a leased target.
type Execer interface {
	// Exec starts the command, or takes up the one that an earlier call of any
	// process started under the same Marker, and returns when it ended and its
	// output is delivered. A non-zero exit is a result. When ctx is cancelled
	// with the cause ErrDetach the work is left to its grace and Exec returns
	// ErrDetach; on any other cancellation, and on Stop, the whole group is
	// ended first. A connection that breaks is dialled again until the grace is
	// over; then the error has code connection_lost.
	Exec(context.Context, Ref, Exec) (ExecResult, error)
}

// ErrDetach is the cause with which a server that stops leaves work running.
var ErrDetach = errors.New("the server lets go of the work")

// Exec is a command for an Execer.
type Exec struct {
	Marker string   // run id: names the run folder, marks descendants; idempotency
	Argv   []string // at least one
	Dir    string   // absolute, or relative to Ref.Dir; "" is Ref.Dir
	Env    []EnvValue
	Stdin  []byte
	// Grace is how long the work lives on when no server renews it; Timeout how
	// long it may run, 0 for no limit of the supervisor's own.
	Grace   time.Duration
	Timeout time.Duration
	// Resume is true when an earlier call may have started it: it is then taken
	// up, and an Error with code not_found returned when nothing is there.
	Resume bool
	// Received is how many bytes of each stream are stored already.
	Received map[Stream]int64
	// OnStart is called once with the identity, before any output. An error of
	// OnStart or Output ends the work, but ErrDetach leaves it to its grace.
	OnStart func(Process, HostFacts, string) error // string: working folder
	// Output delivers bytes in order, each stream on its own offsets. offset is
	// the position in the stream. What it took without error is on its way into
	// the store; it may keep no reference to data after it returned.
	Output func(stream Stream, offset int64, data []byte) error
	// Settle, unless nil, is called once with the result, after the last Output
	// and before the run folder is removed from the target: it returns when
	// output and result are stored. With an error the folder stays, so that a
	// later call can have both again, and Exec returns that error.
	Settle func(ExecResult) error
	// Stop, when closed, ends the work; StopReason says why afterwards.
	Stop <-chan struct{}
}

// ExecResult is how a command ended.
type ExecResult struct {
	ExitCode int
	Signal   string // "TERM", ...; likely, where the shell cannot tell
	// Ended is how: "exit", "stopped", "timeout", "grace" (no server renewed it),
	// "output_limit", "not_started".
	Ended string
	// Proven is whether it was seen that no descendant is left.
	Proven bool
	// Leftover counts descendants that had left the group and were ended.
	Leftover int
}

// Filer reads the workspace of a lease.
type Filer interface {
	// Read lists a folder or reads a file. path is relative to the workspace;
	// one that leads out of it, by ".." or by a link, is KindForbidden with
	// code path_escapes; a missing one KindNotFound.
	Read(ctx context.Context, ref Ref, path string) (WorkspaceEntry, error)
}

// HostKeyScanner asks a server for its keys without logging in.
type HostKeyScanner interface {
	ScanHostKeys(ctx context.Context, spec Spec) ([]HostKey, error)
}

// KeyTool makes and reads SSH keys; nothing leaves the process.
type KeyTool interface {
	GenerateKey(comment string) (private Secret, facts KeyFacts, err error)
	InspectKey(text, passphrase Secret) (KeyFacts, error)
	// ReadClientConfig reads a pasted block of an ssh client's config into
	// config keys (host, port, username, proxyJump), and says what it ignored.
	ReadClientConfig(text string) (config map[string]any, ignored []string, err error)
}

// Closer is a driver that holds connections.
type Closer interface{ Close() error }

// Drivers is the registry as the use cases see it.
type Drivers interface {
	// Driver returns the driver of a key; false when none is installed.
	Driver(key DriverKey) (Driver, bool)
	// Capabilities returns what is installed, sorted by name and provider.
	Capabilities() []Capabilities
}

// NotInstalled is the refusal when a driver is gone.
func NotInstalled(key DriverKey) *Error {
	what := "The driver " + key.Driver
	if key.Provider != "" {
		what = "The sandbox provider " + key.Provider
	}
	return Unavailable(CodeProviderUnavailable, what+" is not installed on this server.").
		Remedy(Remedy(CodeProviderUnavailable))
}
