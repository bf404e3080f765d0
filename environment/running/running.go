// Package running does bounded work in leased targets and never loses it: each
// step is a row before it is an act, and a restarted server takes up what its
// predecessor left.
package running

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"berth/environment"
	"berth/environment/crew"
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
	// Agent is KindNotFound with code agent_not_found.
	Agent(context.Context, uuid.UUID) (environment.Agent, error)

	CreateRun(context.Context, environment.Run, environment.Activity) error
	// Run is KindNotFound with code run_not_found.
	Run(context.Context, uuid.UUID) (environment.Run, error)
	Runs(context.Context, Filter) (environment.Page[environment.Run], error)
	// UpdateRun locks the row, lets change alter it, and stores it with a state
	// event (and an end event when it ended). A status that the old one cannot
	// become is KindConflict with code run_state_changed. A zero owner means
	// "whoever owns it"; another owner than the row's is KindConflict with code
	// run_taken_over. The entries of the activity log, which change may still fill
	// in, are written when it changed something; one without an action is none.
	UpdateRun(ctx context.Context, id, owner uuid.UUID, change func(*environment.Run) error, activity ...*environment.Activity) (environment.Run, error)
	// AppendOutput stores chunks in the order given; Stream, StreamOffset and
	// Data are set, the rest is the store's. Bytes that are stored already (by
	// StreamOffset) are dropped. Beyond MaxRunLog the middle is cut.
	AppendOutput(ctx context.Context, id, owner uuid.UUID, chunks []environment.LogChunk) error
	// Received tells how many bytes of each stream arrived.
	Received(ctx context.Context, id uuid.UUID) (map[environment.Stream]int64, error)
	Log(ctx context.Context, id uuid.UUID, offset int64, limit int) (environment.LogPage, error)
	Events(ctx context.Context, subject uuid.UUID, after int64, limit int) ([]environment.Event, error)
	// OrphanedRuns takes over (sets Owner) runs under way whose server is dead, with
	// the active leases that they work in, so that their new server can beat for them;
	// never those of owner itself: they are in its hands, even when it could not
	// beat for a while.
	OrphanedRuns(ctx context.Context, owner uuid.UUID, limit int) ([]environment.Run, error)

	// RevokeQualification marks what is recorded for an environment and a company.
	RevokeQualification(ctx context.Context, environmentID, companyID uuid.UUID, reason, by string) error
	// ManagedEnvironment is the managed sandbox; KindNotFound with code
	// environment_not_found when there is none.
	ManagedEnvironment(context.Context) (environment.EnvironmentView, error)
	// KeepRemains notes that a run may have left something on the target of a
	// lease, to be removed once the run has ended, for environment.RemainsKept at
	// most. A second note changes nothing.
	KeepRemains(ctx context.Context, run, lease uuid.UUID) error
	// ClaimRemains gives owner what is due of ended runs, and what a dead server
	// was at, for the time of hold. Nobody else gets it meanwhile.
	ClaimRemains(ctx context.Context, owner uuid.UUID, limit int, hold time.Duration) ([]environment.Remains, error)
	// PostponeRemains notes that owner's try failed and the next one is due after
	// wait; true when the time for tries is over and they are forgotten.
	PostponeRemains(ctx context.Context, run, owner uuid.UUID, wait time.Duration) (bool, error)
	// DropRemains forgets what owner has removed.
	DropRemains(ctx context.Context, run, owner uuid.UUID) error
}

// Filter narrows a list of runs; newest first.
type Filter struct {
	CompanyID     *uuid.UUID
	Companies     []uuid.UUID // runs of these; nil: of all
	AgentID       *uuid.UUID
	EnvironmentID *uuid.UUID
	Status        environment.RunStatus
	Query         string // in title, environment's name or command
	Limit         int
	Cursor        string
}

// Leases is leasing.Service as running uses it.
type Leases interface {
	Acquire(context.Context, leasing.Request) (environment.Lease, environment.Ref, error)
	Ref(environment.Lease, environment.Spec) (environment.Ref, error)
	Finish(context.Context, uuid.UUID, environment.Spec, environment.LeaseStatus, string) (environment.Lease, error)
	// Hold beats for a lease that an earlier server acquired, until Finish or LetGo.
	Hold(uuid.UUID)
	// LetGo ends the beating for a lease without releasing it: the next server
	// takes it up.
	LetGo(uuid.UUID)
}

// Specs opens environments; catalogue.Service.
type Specs interface {
	// Spec opens an environment for a use. A secret of another company than the
	// use's is in SecretProblems, with code environment_company_mismatch.
	Spec(context.Context, environment.Environment, environment.SecretUse) (environment.Spec, []environment.EnvValue, error)
	// Serves is KindConflict with code environment_company_mismatch when the
	// environment refers to a secret of another company than the given.
	Serves(context.Context, environment.Environment, *uuid.UUID) error
	// Fingerprints are of the saved row and its secrets' versions now.
	Fingerprints(context.Context, environment.Environment) (environment.Fingerprints, error)
	// Admission is whether native work may start in an environment for a company,
	// and from what.
	Admission(ctx context.Context, env environment.Environment, company uuid.UUID) (environment.Admission, error)
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
	crew    crew.Crew

	mu     sync.Mutex
	active map[uuid.UUID]*worker // by run

	clearing int // tries to remove what runs left, under way
}

// New returns the service. Nothing runs before Run. A zero Grace is
// environment.RunGrace.
func New(store Store, specs Specs, leases Leases, drivers environment.Drivers, vault environment.Vault, feed environment.Feed, opts Options, now func() time.Time, log *slog.Logger) *Service {
	if opts.Grace <= 0 {
		opts.Grace = environment.RunGrace
	}
	return &Service{store: store, specs: specs, leases: leases, drivers: drivers, vault: vault, feed: feed, opts: opts, now: now, log: log,
		active: map[uuid.UUID]*worker{}}
}

const (
	takeOverEvery = time.Second
	takeOverBatch = 100
)

// Run is the service's loop: it takes up what dead servers left, and removes
// what lost runs left on targets that can be reached again. When ctx ends
// it lets go of running work (ErrDetach) and returns when that is done.
func (s *Service) Run(ctx context.Context) error {
	s.crew.Open(ctx)
	defer s.crew.Close()
	tick := time.NewTicker(takeOverEvery)
	defer tick.Stop()
	for {
		if _, err := s.Tick(ctx); err != nil && ctx.Err() == nil {
			s.log.Warn("take over runs of dead servers", "err", err)
		}
		if err := s.clearRemains(ctx); err != nil && ctx.Err() == nil {
			s.log.Warn("claim what lost runs left", "err", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Tick takes over a batch of runs of dead servers and goes on with them. It
// returns how many those were.
func (s *Service) Tick(ctx context.Context) (int, error) {
	runs, err := s.store.OrphanedRuns(ctx, s.opts.Owner, takeOverBatch)
	for _, run := range runs {
		s.log.Info("run taken over", "run", run.ID, "status", run.Status)
		// Refused only while this server stops; the next one takes it over.
		s.crew.Go(func(ctx context.Context) { s.work(ctx, run, nil) })
	}
	return len(runs), err
}
