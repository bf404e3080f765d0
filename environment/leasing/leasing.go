// Package leasing gives out and takes back the right to use a live target.
package leasing

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"berth/environment"
	"berth/environment/crew"

	"github.com/google/uuid"
)

// Store is what leasing needs of the database; each method is one transaction.
type Store interface {
	// Run is KindNotFound with code run_not_found.
	Run(context.Context, uuid.UUID) (environment.Run, error)
	// CreateLease writes an intent row. KindConflict with code budget_exhausted, and
	// details "limit", "allowed" and "used", when the environment's budget is used
	// up, judged in the same transaction by the database's clock; with code
	// lease_in_use when another lease of its scope is acquiring, active or
	// releasing, or another acquires what it would resume.
	CreateLease(context.Context, environment.Lease) error
	// UpdateLease lets change alter the row, and stores it if nothing else was stored
	// meanwhile; else change sees the new row and is called again. A status that the
	// old one cannot become is KindConflict with code lease_state_changed. activity,
	// which change may still fill in, is written with it; nil, and one without an
	// action, is none.
	// Its ExpiresAt is the database's now plus TTLSec while it is acquiring or
	// active, and plus RetainSec from when it became retained, whatever change says.
	// A second holder of one ObjectKey is KindConflict with code lease_in_use.
	UpdateLease(ctx context.Context, id uuid.UUID, change func(*environment.Lease) error, activity *environment.Activity) (environment.Lease, error)
	// HandOver is UpdateLease of the lease to, which acquires, with the end of the
	// retained lease from (released, cleanup_status null, metadata unchanged) in one
	// transaction: the sandbox has a new holder. KindConflict with code
	// lease_state_changed when either is not as said.
	HandOver(ctx context.Context, from, to uuid.UUID, change func(to *environment.Lease) error, activity *environment.Activity) (environment.Lease, error)
	// Retained are an environment's retained leases with the scope's company, agent
	// and workspace, newest first: those that may be resumed, and those of another
	// configuration, which are in the way.
	Retained(ctx context.Context, scope Scope) ([]environment.Lease, error)
	// BeatLeases says that owner holds these: HeartbeatAt is now and ExpiresAt moves.
	// It returns those that it cannot say it of: they ended, went, or are another's.
	BeatLeases(ctx context.Context, owner uuid.UUID, ids []uuid.UUID) ([]uuid.UUID, error)
	// ExpiredLeases takes over (sets Owner) leases whose ExpiresAt is over by the
	// database's clock: retained ones that nobody is picking up, and acquiring or
	// active ones that nobody has beaten for and whose run, if any, has ended. They
	// are the owner's for environment.ExpiredHold; then any server may take them. It
	// returns none within environment.LeaseTTL of the start of the database.
	ExpiredLeases(ctx context.Context, owner uuid.UUID, limit int) ([]environment.Lease, error)
	// ClaimCleanups gives owner up to limit leases in pending_cleanup whose next try
	// is due and that nobody is at, each for the time of hold. Any server may. A
	// server that has ended is at nothing any more, whatever it had claimed.
	ClaimCleanups(ctx context.Context, owner uuid.UUID, limit int, hold time.Duration) ([]environment.Lease, error)
	// LeasesByID are the rows of those that are there.
	LeasesByID(ctx context.Context, ids []uuid.UUID) ([]environment.Lease, error)
	// HeldLeases are those of a driver and provider that hold something by their
	// row: active, releasing and retained ones, and pending_cleanup.
	HeldLeases(ctx context.Context, key environment.DriverKey) ([]environment.Lease, error)
	// Sources are the configurations in which this installation may hold something:
	// of every sandbox environment, and of leases of the last 7 days and of all that
	// are not clean, each once by driver and config.
	Sources(context.Context) ([]Source, error)
	// Usage is what an environment uses now and used today, in UTC.
	Usage(ctx context.Context, environmentID uuid.UUID) (environment.Usage, error)
	// Lease is KindNotFound with code lease_not_found.
	Lease(context.Context, uuid.UUID) (environment.Lease, error)
	Leases(context.Context, Filter) (environment.Page[environment.Lease], error)
	// OrphanedLeases takes over (sets Owner to owner) the leases that hold
	// something, whose server is dead, and whose run has ended or is none. Those
	// of owner, who asks and so lives, are not among them. What a server had claimed
	// that has ended is claimed no more; one that is only silent may still be at it.
	OrphanedLeases(ctx context.Context, owner uuid.UUID, limit int) ([]environment.Lease, error)
	// Record writes an entry of the log that goes with no change of a row.
	Record(context.Context, environment.Activity) error
}

// Scope is for whom a sandbox may be picked up again.
type Scope struct {
	EnvironmentID uuid.UUID
	CompanyID     uuid.UUID
	AgentID       *uuid.UUID
	WorkspaceID   *uuid.UUID
}

// Source is a configuration by which a provider can be asked what it holds.
type Source struct {
	EnvironmentID *uuid.UUID      `db:"environment_id"` // nil: deleted
	CompanyID     *uuid.UUID      `db:"company_id"`     // of a lease; nil: of an environment
	Driver        string          `db:"driver"`
	Config        json.RawMessage `db:"config"`
}

// Specs opens secrets for cleanup; catalogue.Service.
type Specs interface {
	// CleanupSpec opens what a configuration refers to, for cleanup only, whether
	// or not its environment is there still. A secret that cannot be opened is in
	// SecretProblems.
	CleanupSpec(ctx context.Context, environmentID, companyID *uuid.UUID, driver string, config json.RawMessage) (environment.Spec, error)
}

// Filter narrows a list of leases; newest use first.
type Filter struct {
	OwnerKind     string
	Held          bool // only those that hold something, or may
	DeadLetter    bool // only those whose clean-up waits for an operator
	Driver        environment.DriverKey
	EnvironmentID *uuid.UUID
	CompanyID     *uuid.UUID
	Companies     []uuid.UUID // leases of these; nil: of all
	Status        environment.LeaseStatus
	Limit         int
	Cursor        string
}

// Options are what a Service is made with.
type Options struct {
	Owner      uuid.UUID // this server
	InstanceID uuid.UUID // the installation, in the labels of all that is made
	// ReconcileEvery is the time between comparisons of rows with what providers
	// hold; 0: ReconcileEvery.
	ReconcileEvery time.Duration
}

// Service gives out leases.
type Service struct {
	store   Store
	specs   Specs
	drivers environment.Drivers
	opts    Options
	owner   uuid.UUID
	now     func() time.Time
	log     *slog.Logger

	// due says that a clean-up waits that need not wait for the next look.
	due chan struct{}
	// slots has one for each clean-up under way.
	slots chan struct{}

	mu sync.Mutex
	// stranded are leases that have to end and whose rows could not be written
	// then. After a restart they are orphans.
	stranded map[uuid.UUID]ending
	held     map[uuid.UUID]holding
	halfway  time.Time // when to look for them next
}

// New returns the service. Nothing is beaten for, and nothing swept, before Run.
func New(store Store, specs Specs, drivers environment.Drivers, opts Options, now func() time.Time, log *slog.Logger) *Service {
	opts.ReconcileEvery = cmp.Or(opts.ReconcileEvery, ReconcileEvery)
	return &Service{store: store, specs: specs, drivers: drivers, opts: opts, owner: opts.Owner, now: now, log: log,
		due: make(chan struct{}, 1), slots: make(chan struct{}, cleanUpAtOnce),
		stranded: map[uuid.UUID]ending{}, held: map[uuid.UUID]holding{}}
}

// Limits on a driver's part, and how long it may take to return after them.
const (
	AcquireLimit = 30 * time.Second // of drivers without a startup budget
	ReleaseLimit = 15 * time.Second
	patience     = 2 * time.Second
)

// update changes a lease however long the database is away, until ctx ends.
func (s *Service) update(ctx context.Context, id uuid.UUID, change func(*environment.Lease) error, activity *environment.Activity) (environment.Lease, error) {
	var lease environment.Lease
	err := crew.Retry(ctx, crew.Transient, func(ctx context.Context) (err error) {
		lease, err = s.store.UpdateLease(ctx, id, change, activity)
		return err
	})
	return lease, err
}
