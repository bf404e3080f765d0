// Package probing tests targets, stage by stage, as durable jobs.
package probing

import (
	"context"
	"log/slog"
	"runtime"
	"time"

	"berth/environment"
	"berth/environment/crew"
	"berth/environment/leasing"

	"github.com/google/uuid"
)

// Store is what probing needs of the database; each method is one transaction.
// Writes of stages and ends append an event and wake the probe's subject; the
// beginning and the end of a saved environment's also bump the catalogue and wake
// CatalogueSubject. The list shows no stages of a probe under way by itself.
type Store interface {
	Settings(context.Context) (environment.Settings, error)
	Environment(context.Context, uuid.UUID) (environment.EnvironmentView, error)
	ListEnvironments(context.Context, environment.ListFilter) (environment.Page[environment.EnvironmentView], error)
	// CreateProbe inserts a queued probe. When the saved environment has one
	// under way already (never for drafts), it returns that one and false.
	CreateProbe(context.Context, environment.Probe) (environment.Probe, bool, error)
	// BeginProbe moves queued to running; false when it is no longer queued.
	BeginProbe(ctx context.Context, id uuid.UUID) (bool, error)
	// ReportStages stores stages among the probe's stages, in order; nothing when
	// the probe has ended.
	ReportStages(ctx context.Context, id uuid.UUID, stages ...environment.Stage) error
	// FinishProbe stores the verdict when the probe has not ended yet. Unless
	// it is a draft, or the environment's config changed since (the verdict is
	// then kept in the history but is not the newest of what is saved), it
	// becomes the environment's last probe. An interrupted or cancelled one
	// becomes it only when there is none. In the same transaction change is done to
	// the qualification of the probe's environment and company. A record is stored
	// only while the environment's config is that of the probe and it is active;
	// else the stored probe's Qualification says config_changed_during_probe.
	FinishProbe(ctx context.Context, p environment.Probe, change environment.QualificationChange, a environment.Activity) (environment.Probe, error)
	// Qualification is what is recorded for an environment and a company; nil for
	// none.
	Qualification(ctx context.Context, environmentID, companyID uuid.UUID) (*environment.Qualification, error)
	// Usage is what an environment uses now and used today, in UTC.
	Usage(ctx context.Context, environmentID uuid.UUID) (environment.Usage, error)
	// Probe is KindNotFound with code probe_not_found.
	Probe(context.Context, uuid.UUID) (environment.Probe, error)
	// Probes are those of a saved environment, drafts not among them, newest first.
	Probes(context.Context, Filter) (environment.Page[environment.Probe], error)
	// AskCancel notes that a probe is to stop and wakes its subject.
	AskCancel(ctx context.Context, id uuid.UUID, by string) error
	// CancelAsked tells whether somebody asked.
	CancelAsked(ctx context.Context, id uuid.UUID) (bool, error)
	// InterruptOrphans ends every probe under way whose server is dead, each with
	// its entry of the log. Those of owner, who asks and so lives, are not among
	// them, however late its beat.
	InterruptOrphans(ctx context.Context, owner uuid.UUID) (int, error)
	// PruneDrafts deletes up to limit probes of drafts, with their events, that
	// ended longer than environment.DraftsKept ago, the oldest first. It returns
	// how many.
	PruneDrafts(ctx context.Context, limit int) (int, error)
	Events(ctx context.Context, subject uuid.UUID, after int64, limit int) ([]environment.Event, error)
}

// Filter narrows a list of probes of one saved environment.
type Filter struct {
	EnvironmentID uuid.UUID
	Companies     []uuid.UUID // probes for these; nil: all, those for no company too
	Limit         int
	Cursor        string
}

// Specs opens environments; catalogue.Service.
type Specs interface {
	// Spec opens an environment for a use. A secret of another company than the
	// use's is in SecretProblems, with code environment_company_mismatch.
	Spec(context.Context, environment.Environment, environment.SecretUse) (environment.Spec, []environment.EnvValue, error)
	// CompanyOf is the company that a probe is for: the given one, else that whose
	// secrets the environment refers to, else none. KindConflict with code
	// environment_company_mismatch when it refers to those of another.
	CompanyOf(ctx context.Context, env environment.Environment, given *uuid.UUID) (*uuid.UUID, error)
	// DraftSpec opens values that are not saved, for a company, over a saved row;
	// both may be nil. Its KindConflict is CompanyOf's.
	DraftSpec(ctx context.Context, actor environment.Actor, company, baseID *uuid.UUID, d environment.Draft) (environment.Spec, error)
	// Fingerprints are of the saved row and its secrets' versions now.
	Fingerprints(context.Context, environment.Environment) (environment.Fingerprints, error)
	// Admission is how native work in an environment stands for a company.
	Admission(ctx context.Context, env environment.Environment, company uuid.UUID) (environment.Admission, error)
	PinFirstUse(ctx context.Context, id uuid.UUID, knownHosts string) error
}

// Leases is leasing.Service as probing uses it.
type Leases interface {
	Acquire(context.Context, leasing.Request) (environment.Lease, environment.Ref, error)
	Finish(context.Context, uuid.UUID, environment.Spec, environment.LeaseStatus, string) (environment.Lease, error)
}

// Options are the numbers of a Service.
type Options struct {
	Owner    uuid.UUID     // this server
	Parallel int           // probes at once; cores × 8
	Limit    time.Duration // of one probe but a sandbox's, which has its own: 30 s
}

// Service runs probes.
type Service struct {
	store   Store
	specs   Specs
	leases  Leases
	drivers environment.Drivers
	feed    environment.Feed
	opts    Options
	now     func() time.Time
	log     *slog.Logger
	crew    crew.Crew
	slots   chan struct{} // one for each probe at work
}

// New returns the service. Nothing runs before Run. Options that are zero get
// the product's numbers.
func New(store Store, specs Specs, leases Leases, drivers environment.Drivers, feed environment.Feed, opts Options, now func() time.Time, log *slog.Logger) *Service {
	if opts.Parallel <= 0 {
		opts.Parallel = 8 * runtime.NumCPU()
	}
	if opts.Limit <= 0 {
		opts.Limit = DefaultLimit
	}
	return &Service{store: store, specs: specs, leases: leases, drivers: drivers, feed: feed, opts: opts, now: now, log: log,
		slots: make(chan struct{}, opts.Parallel)}
}

// DefaultLimit is the deadline of a probe, counted from its begin, but for that of
// a sandbox.
const DefaultLimit = 30 * time.Second

// sweepEvery is the time between looks for probes of dead servers.
const sweepEvery = 2 * time.Second

// Run is the service's loop: it interrupts what dead servers left, and returns
// when ctx ended and every probe of this process has been told to stop and has.
func (s *Service) Run(ctx context.Context) error {
	s.crew.Open(ctx)
	defer s.crew.Close()
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		if _, err := s.Tick(ctx); err != nil && ctx.Err() == nil {
			s.log.Warn("interrupt probes of dead servers", "err", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Tick interrupts what dead servers left and returns how many probes that were.
func (s *Service) Tick(ctx context.Context) (int, error) {
	n, err := s.store.InterruptOrphans(ctx, s.opts.Owner)
	if n > 0 {
		s.log.Info("probes of dead servers interrupted", "probes", n)
	}
	return n, err
}
