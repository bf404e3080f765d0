package leasing_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"testing"
	"time"

	"berth/environment"
	"berth/environment/catalogue"
	"berth/environment/environmenttest"
	"berth/environment/leasing"

	"github.com/google/uuid"
)

// complainer is what a test and a model's run have in common.
type complainer interface {
	Helper()
	Errorf(string, ...any)
	Fatalf(string, ...any)
}

// yard is a database and a provider, and the servers that come and go.
type yard struct {
	t        complainer
	store    *environmenttest.Store
	w        *world
	instance uuid.UUID
	company  uuid.UUID
	env      environment.Environment
	specs    *bunch
	gone     bool // the driver is not installed
	*keeper
}

// keeper is one server.
type keeper struct {
	*leasing.Service
	owner  uuid.UUID
	driver *sandboxes
	store  *gated
}

// bunch opens what a clean-up needs, and notes for what.
type bunch struct {
	mu    sync.Mutex
	asked []json.RawMessage
	err   error
}

func (b *bunch) CleanupSpec(_ context.Context, _, _ *uuid.UUID, driver string, config json.RawMessage) (environment.Spec, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked = append(b.asked, config)
	return environment.Spec{Driver: driver, Config: config}, b.err
}

func newYard(t complainer, config string) *yard {
	t.Helper()
	y := &yard{t: t, store: environmenttest.NewStore(time.Now), w: newWorld(), instance: environment.NewID(), company: environment.NewID(), specs: &bunch{}}
	ctx := context.Background()
	if err := y.store.CreateCompany(ctx, environment.Company{ID: y.company, Name: "acme"}, environment.Activity{}); err != nil {
		t.Fatalf("company: %v", err)
	}
	y.env = y.newEnv("box", config)
	y.keeper = y.serve(open)
	return y
}

func (y *yard) newEnv(name, config string) environment.Environment {
	y.t.Helper()
	return y.newEnvWith(name, config, nil)
}

func (y *yard) newEnvWith(name, config string, budget *environment.Budget) environment.Environment {
	y.t.Helper()
	env, err := y.store.CreateEnvironment(context.Background(), catalogue.Write{Environment: environment.Environment{
		ID: environment.NewID(), Name: name, Driver: environment.DriverSandbox, Config: json.RawMessage(config), Budget: budget}})
	if err != nil {
		y.t.Fatalf("environment: %v", err)
	}
	return env
}

// serve starts another server on a node of its own.
func (y *yard) serve(g gate) *keeper {
	y.t.Helper()
	k := &keeper{owner: environment.NewID(), driver: &sandboxes{w: y.w, gate: g, budget: 2 * time.Minute}}
	if err := y.store.RegisterServer(context.Background(), k.owner, environment.NewID(), "test"); err != nil {
		y.t.Fatalf("register: %v", err)
	}
	k.store = &gated{Store: y.store, gate: g}
	k.Service = leasing.New(k.store, y.specs, only{k.driver, &y.gone}, leasing.Options{Owner: k.owner, InstanceID: y.instance}, time.Now, slog.New(slog.DiscardHandler))
	return k
}

// request asks for the yard's environment, as it is configured now.
func (y *yard) request() leasing.Request {
	return leasing.Request{CompanyID: y.company, EnvironmentID: y.env.ID, EnvironmentName: y.env.Name, OwnerKind: environment.OwnerOperator,
		Fingerprint: "f:" + string(y.env.Config), Spec: environment.Spec{EnvironmentID: y.env.ID, Driver: y.env.Driver, Config: y.env.Config}}
}

func (y *yard) acquire() (environment.Lease, environment.Ref) {
	y.t.Helper()
	l, ref, err := y.Acquire(context.Background(), y.request())
	if err != nil {
		y.t.Fatalf("acquire: %v", err)
	}
	return l, ref
}

// end finishes a lease as its holder would.
func (y *yard) end(l environment.Lease, outcome environment.LeaseStatus, reason string) environment.Lease {
	y.t.Helper()
	l, err := y.Finish(context.Background(), l.ID, environment.Spec{}, outcome, reason)
	if err != nil {
		y.t.Errorf("finish: %v", err)
	}
	return l
}

func (y *yard) row(id uuid.UUID) environment.Lease {
	y.t.Helper()
	l, err := y.store.Lease(context.Background(), id)
	if err != nil {
		y.t.Fatalf("lease: %v", err)
	}
	return l
}

func (y *yard) rows() []environment.Lease {
	y.t.Helper()
	var all []environment.Lease
	f := leasing.Filter{Limit: 1000}
	for {
		page, err := y.store.Leases(context.Background(), f)
		if err != nil {
			y.t.Fatalf("leases: %v", err)
		}
		if all = append(all, page.Items...); page.Next == "" {
			return all
		}
		f.Cursor = page.Next
	}
}

// tick lets the server do what is due.
func (y *yard) tick() {
	y.t.Helper()
	if err := y.store.BeatServer(context.Background(), y.owner); err != nil {
		y.t.Fatalf("beat: %v", err)
	}
	if err := y.Beat(context.Background()); err != nil {
		y.t.Errorf("beat: %v", err)
	}
	if _, err := y.Tick(context.Background()); err != nil {
		y.t.Errorf("tick: %v", err)
	}
}

// pass lets time pass with the server at work.
func (y *yard) pass(d, step time.Duration) {
	y.t.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); {
		y.tick()
		time.Sleep(step)
	}
	y.tick()
}

func (y *yard) reconcile() int {
	y.t.Helper()
	n, err := y.Reconcile(context.Background())
	if err != nil {
		y.t.Errorf("reconcile: %v", err)
	}
	return n
}

// holds checks what there is of this installation.
func (y *yard) holds(want int) {
	y.t.Helper()
	if got := y.w.ids(y.instance); len(got) != want {
		y.t.Errorf("the provider holds %v, want %d", got, want)
	}
}

// run makes a run that is under way.
func (y *yard) newRun() uuid.UUID {
	y.t.Helper()
	run := environment.Run{ID: environment.NewID(), CompanyID: y.company, EnvironmentID: &y.env.ID, Status: environment.RunQueued, Owner: y.owner}
	if err := y.store.CreateRun(context.Background(), run, environment.Activity{}); err != nil {
		y.t.Fatalf("run: %v", err)
	}
	return run.ID
}

func (y *yard) move(run uuid.UUID, to environment.RunStatus) {
	y.t.Helper()
	if _, err := y.store.UpdateRun(context.Background(), run, uuid.Nil, func(r *environment.Run) error { r.Status = to; return nil }); err != nil {
		y.t.Fatalf("run: %v", err)
	}
}

// gated is the database as one server reaches it.
type gated struct {
	*environmenttest.Store
	gate gate
	slow func() // before the answer to a change of a lease
}

// through does a call behind the gate.
func through[T any](ctx context.Context, g gate, call string, do func() (T, error)) (T, error) {
	var none T
	f := g(ctx, call)
	if f.instead != nil {
		return none, f.instead
	}
	value, err := do()
	if f.after != nil {
		return none, f.after
	}
	return value, err
}

func (s *gated) CreateLease(ctx context.Context, l environment.Lease) error {
	_, err := through(ctx, s.gate, "store.CreateLease", func() (bool, error) { return true, s.Store.CreateLease(ctx, l) })
	return err
}

func (s *gated) UpdateLease(ctx context.Context, id uuid.UUID, change func(*environment.Lease) error, a *environment.Activity) (environment.Lease, error) {
	return through(ctx, s.gate, "store.UpdateLease", func() (environment.Lease, error) {
		if s.slow != nil {
			defer s.slow()
		}
		return s.Store.UpdateLease(ctx, id, change, a)
	})
}

func (s *gated) HandOver(ctx context.Context, from, to uuid.UUID, change func(*environment.Lease) error, a *environment.Activity) (environment.Lease, error) {
	return through(ctx, s.gate, "store.HandOver", func() (environment.Lease, error) { return s.Store.HandOver(ctx, from, to, change, a) })
}

func (s *gated) Retained(ctx context.Context, scope leasing.Scope) ([]environment.Lease, error) {
	return through(ctx, s.gate, "store.Retained", func() ([]environment.Lease, error) { return s.Store.Retained(ctx, scope) })
}

func (s *gated) BeatLeases(ctx context.Context, owner uuid.UUID, ids []uuid.UUID) ([]uuid.UUID, error) {
	return through(ctx, s.gate, "store.BeatLeases", func() ([]uuid.UUID, error) { return s.Store.BeatLeases(ctx, owner, ids) })
}

func (s *gated) ExpiredLeases(ctx context.Context, owner uuid.UUID, limit int) ([]environment.Lease, error) {
	return through(ctx, s.gate, "store.ExpiredLeases", func() ([]environment.Lease, error) { return s.Store.ExpiredLeases(ctx, owner, limit) })
}

func (s *gated) ClaimCleanups(ctx context.Context, owner uuid.UUID, limit int, hold time.Duration) ([]environment.Lease, error) {
	return through(ctx, s.gate, "store.ClaimCleanups", func() ([]environment.Lease, error) { return s.Store.ClaimCleanups(ctx, owner, limit, hold) })
}

func (s *gated) OrphanedLeases(ctx context.Context, owner uuid.UUID, limit int) ([]environment.Lease, error) {
	return through(ctx, s.gate, "store.OrphanedLeases", func() ([]environment.Lease, error) { return s.Store.OrphanedLeases(ctx, owner, limit) })
}

func (s *gated) HeldLeases(ctx context.Context, key environment.DriverKey) ([]environment.Lease, error) {
	return through(ctx, s.gate, "store.HeldLeases", func() ([]environment.Lease, error) { return s.Store.HeldLeases(ctx, key) })
}

func (s *gated) LeasesByID(ctx context.Context, ids []uuid.UUID) ([]environment.Lease, error) {
	return through(ctx, s.gate, "store.LeasesByID", func() ([]environment.Lease, error) { return s.Store.LeasesByID(ctx, ids) })
}

func (s *gated) Sources(ctx context.Context) ([]leasing.Source, error) {
	return through(ctx, s.gate, "store.Sources", func() ([]leasing.Source, error) { return s.Store.Sources(ctx) })
}

func (s *gated) Leases(ctx context.Context, f leasing.Filter) (environment.Page[environment.Lease], error) {
	return through(ctx, s.gate, "store.Leases", func() (environment.Page[environment.Lease], error) { return s.Store.Leases(ctx, f) })
}

func (s *gated) Lease(ctx context.Context, id uuid.UUID) (environment.Lease, error) {
	return through(ctx, s.gate, "store.Lease", func() (environment.Lease, error) { return s.Store.Lease(ctx, id) })
}

var (
	_ leasing.Store = (*gated)(nil)
	_ complainer    = (*testing.T)(nil)
)
