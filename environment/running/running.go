// Package running does bounded work in leased targets and never loses it: each
// step is a row before it is an act, and a restarted server takes up what its
// predecessor left.
package running

import (
	"context"
	"log/slog"
	"time"

	"berth/environment"
	"berth/environment/leasing"

	"github.com/google/uuid"
)

// Store is what running needs of the database; each method is one transaction
// and wakes the run's subject when it changed something.
type Store interface {
	Environment(context.Context, uuid.UUID) (environment.EnvironmentView, error)
	Settings(context.Context) (environment.Settings, error)
	Company(context.Context, uuid.UUID) (environment.Company, error)
	Lease(context.Context, uuid.UUID) (environment.Lease, error)

	CreateRun(context.Context, environment.Run, environment.Activity) error
	// Run is KindNotFound with code run_not_found.
	Run(context.Context, uuid.UUID) (environment.Run, error)
	Runs(context.Context, Filter) (environment.Page[environment.Run], error)
	// UpdateRun locks the row, lets change alter it, and stores it with a state
	// event (and an end event when it ended). A status that the old one cannot
	// become is KindConflict with code run_state_changed. A zero owner means
	// "whoever owns it"; another owner than the row's is KindConflict with code
	// run_taken_over.
	UpdateRun(ctx context.Context, id, owner uuid.UUID, change func(*environment.Run) error) (environment.Run, error)
	// AppendOutput stores chunks in the order given; Stream, StreamOffset and
	// Data are set, the rest is the store's. Bytes that are stored already (by
	// StreamOffset) are dropped. Beyond MaxRunLog the middle is cut.
	AppendOutput(ctx context.Context, id, owner uuid.UUID, chunks []environment.LogChunk) error
	// Received tells how many bytes of each stream arrived.
	Received(ctx context.Context, id uuid.UUID) (map[environment.Stream]int64, error)
	Log(ctx context.Context, id uuid.UUID, offset int64, limit int) (environment.LogPage, error)
	Events(ctx context.Context, subject uuid.UUID, after int64, limit int) ([]environment.Event, error)
	// OrphanedRuns takes over (sets Owner) runs under way whose server is dead.
	OrphanedRuns(ctx context.Context, owner uuid.UUID, limit int) ([]environment.Run, error)
}

// Filter narrows a list of runs; newest first.
type Filter struct {
	CompanyID     *uuid.UUID
	EnvironmentID *uuid.UUID
	Status        environment.RunStatus
	Limit         int
	Cursor        string
}

// Leases is leasing.Service as running uses it.
type Leases interface {
	Acquire(context.Context, leasing.Request) (environment.Lease, environment.Ref, error)
	Ref(environment.Lease, environment.Spec) (environment.Ref, error)
	Finish(context.Context, uuid.UUID, environment.Spec, environment.LeaseStatus, string) (environment.Lease, error)
}

// Specs opens environments; catalogue.Service.
type Specs interface {
	Spec(context.Context, environment.Environment) (environment.Spec, []environment.EnvValue, error)
	PinFirstUse(ctx context.Context, id uuid.UUID, knownHosts string) error
}

// Options are the numbers of a Service.
type Options struct {
	Owner uuid.UUID
	Grace time.Duration // environment.RunGrace, shortened by tests
}

// Service does the work.
type Service struct {
	store   Store
	specs   Specs
	leases  Leases
	drivers environment.Drivers
	vault   environment.Vault
	feed    environment.Feed
	opts    Options
	now     func() time.Time
	log     *slog.Logger
	// more fields as needed
}

// New returns the service. Nothing runs before Run.
func New(store Store, specs Specs, leases Leases, drivers environment.Drivers, vault environment.Vault, feed environment.Feed, opts Options, now func() time.Time, log *slog.Logger) *Service {
	return &Service{store: store, specs: specs, leases: leases, drivers: drivers, vault: vault, feed: feed, opts: opts, now: now, log: log}
}

// Input is a run as it is asked for.
type Input struct {
	CompanyID     uuid.UUID
	EnvironmentID *uuid.UUID
	Command       []string
	Title         *string
	Cwd           *string
	Env           map[string]string
	Stdin         []byte
	TimeoutSec    *int // nil: 900
}

// Run is the service's loop: it takes up what dead servers left. When ctx ends
// it lets go of running work (ErrDetach) and returns when that is done.
func (s *Service) Run(ctx context.Context) error { panic("unwritten") }

// Start validates, writes the queued run and begins. It returns at once.
func (s *Service) Start(ctx context.Context, actor environment.Actor, in Input) (environment.Run, error) {
	panic("unwritten")
}

func (s *Service) Get(ctx context.Context, actor environment.Actor, id uuid.UUID) (environment.Run, error) {
	panic("unwritten")
}

func (s *Service) List(ctx context.Context, actor environment.Actor, f Filter) (environment.Page[environment.Run], error) {
	panic("unwritten")
}

// Cancel asks for the end of a run, wherever it runs; 202. Cancelling what has
// ended changes nothing.
func (s *Service) Cancel(ctx context.Context, actor environment.Actor, id uuid.UUID) (environment.Run, error) {
	panic("unwritten")
}

// Log reads output from an offset.
func (s *Service) Log(ctx context.Context, actor environment.Actor, id uuid.UUID, offset int64, limit int) (environment.LogPage, error) {
	panic("unwritten")
}

// Events returns what happened to a run after a sequence number.
func (s *Service) Events(ctx context.Context, actor environment.Actor, id uuid.UUID, after int64) ([]environment.Event, error) {
	panic("unwritten")
}

// Files lists or reads the workspace of a run, on the target.
func (s *Service) Files(ctx context.Context, actor environment.Actor, id uuid.UUID, path string) (environment.WorkspaceEntry, error) {
	panic("unwritten")
}
