package leasing_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"berth/environment"
	"berth/environment/catalogue"
	"berth/environment/environmenttest"
	"berth/environment/leasing"

	"github.com/google/uuid"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var operator = environment.LocalOperator()

// bed is a service on the twin with a driver that does what a test says.
type bed struct {
	t       *testing.T
	store   *environmenttest.Store
	driver  *fakeDriver
	company uuid.UUID
	env     environment.Environment
	owner   uuid.UUID
	*leasing.Service
}

func newBed(t *testing.T) *bed {
	t.Helper()
	b := &bed{t: t, store: environmenttest.NewStore(time.Now), driver: &fakeDriver{}, company: environment.NewID()}
	if err := b.store.CreateCompany(t.Context(), environment.Company{ID: b.company, Name: "acme"}, environment.Activity{}); err != nil {
		t.Fatal(err)
	}
	env, err := b.store.CreateEnvironment(t.Context(), catalogue.Write{Environment: environment.Environment{ID: environment.NewID(), Name: "box", Driver: "ssh", Config: json.RawMessage(`{"host":"h"}`)}})
	if err != nil {
		t.Fatal(err)
	}
	b.env = env
	b.Service = b.serve()
	return b
}

// serve starts another server; with a node of its own the earlier one lives on.
func (b *bed) serve() *leasing.Service {
	b.t.Helper()
	b.owner = environment.NewID()
	if err := b.store.RegisterServer(b.t.Context(), b.owner, environment.NewID(), "test"); err != nil {
		b.t.Fatal(err)
	}
	return leasing.New(b.store, nil, registry{b.driver}, leasing.Options{Owner: b.owner}, time.Now, slog.New(slog.DiscardHandler))
}

func (b *bed) request() leasing.Request {
	return leasing.Request{CompanyID: b.company, EnvironmentID: b.env.ID, OwnerKind: "operator",
		Spec: environment.Spec{EnvironmentID: b.env.ID, Driver: b.env.Driver, Config: b.env.Config}}
}

func (b *bed) acquire() environment.Lease {
	b.t.Helper()
	l, _, err := b.Acquire(b.t.Context(), b.request())
	if err != nil {
		b.t.Fatal(err)
	}
	return l
}

func (b *bed) get(id uuid.UUID) environment.Lease {
	b.t.Helper()
	l, err := b.Get(b.t.Context(), operator, id)
	if err != nil {
		b.t.Fatal(err)
	}
	return l
}

func (b *bed) only() environment.Lease {
	b.t.Helper()
	page, err := b.List(b.t.Context(), operator, leasing.Filter{})
	if err != nil || len(page.Items) != 1 {
		b.t.Fatalf("leases %+v, %v; want one", page.Items, err)
	}
	return page.Items[0]
}

type registry struct{ driver *fakeDriver }

func (r registry) Driver(key environment.DriverKey) (environment.Driver, bool) {
	return r.driver, key.Driver == "ssh" || key.Driver == "fake"
}
func (registry) Capabilities() []environment.Capabilities { return nil }

// fakeDriver counts, and fails or hangs as a test says.
type fakeDriver struct {
	mu           sync.Mutex
	acquire      func(context.Context) error
	release      func(context.Context) error
	spec         environment.Spec
	released     int
	dispositions []environment.Disposition
}

func (*fakeDriver) Name() string { return "ssh" }

func (d *fakeDriver) Acquire(ctx context.Context, spec environment.Spec) (environment.Ref, error) {
	d.mu.Lock()
	d.spec = spec
	do := d.acquire
	d.mu.Unlock()
	if do != nil {
		if err := do(ctx); err != nil {
			return environment.Ref{}, err
		}
	}
	return environment.Ref{Provider: "ssh", ProviderID: "ssh://u@h:22/w", Dir: "/w"}, nil
}

func (d *fakeDriver) Release(ctx context.Context, ref environment.Ref, how environment.Disposition) (environment.Receipt, error) {
	d.mu.Lock()
	d.released++
	d.dispositions = append(d.dispositions, how)
	do := d.release
	d.mu.Unlock()
	if do != nil {
		if err := do(ctx); err != nil {
			return environment.Receipt{}, err
		}
	}
	return environment.Receipt{Outcome: "released", ProviderID: ref.ProviderID}, nil
}

func (d *fakeDriver) releases() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.released
}

func (d *fakeDriver) onRelease(do func(context.Context) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.release = do
}

func refused(context.Context) error {
	return environment.Unavailable(environment.CodeConnectRefused, "h refused.")
}

func TestAcquire_andFinish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t)
		b.driver.acquire = func(context.Context) error {
			if l := b.only(); l.Status != environment.LeaseAcquiring {
				t.Errorf("during the driver's part the row is %s, want acquiring", l.Status)
			}
			return nil
		}
		l, ref, err := b.Acquire(t.Context(), b.request())
		if err != nil || l.Status != environment.LeaseActive || *l.ProviderID != "ssh://u@h:22/w" || ref.Driver != "ssh" || string(ref.Config) != `{"host":"h"}` {
			t.Fatalf("got %+v, %+v, %v; want an active lease", l, ref, err)
		}
		if key := b.driver.spec.IdempotencyKey; key != l.ID.String() {
			t.Errorf("label %q, want the lease's id", key)
		}
		again, err := b.Ref(b.get(l.ID), environment.Spec{Driver: "ssh"})
		if err != nil || again.ProviderID != ref.ProviderID || again.Dir != "/w" {
			t.Errorf("loaded %+v, %v; want what was stored", again, err)
		}
		for range 2 { // finishing twice changes nothing
			l, err = b.Finish(t.Context(), l.ID, environment.Spec{}, environment.LeaseReleased, "")
			if err != nil || l.Status != environment.LeaseReleased || l.ReleasedAt == nil || *l.CleanupStatus != "success" || string(l.Metadata) != "null" {
				t.Fatalf("got %+v, %v; want released", l, err)
			}
		}
		var receipt environment.Receipt
		if err := json.Unmarshal(l.Receipt, &receipt); err != nil || receipt.Outcome != "released" || receipt.At.IsZero() {
			t.Errorf("receipt %s, %v", l.Receipt, err)
		}
		if b.driver.releases() != 1 || b.driver.dispositions[0] != environment.Keep {
			t.Errorf("released %d times, %v; want once, a host kept as it is", b.driver.releases(), b.driver.dispositions)
		}
	})
}

func TestAcquire_failures(t *testing.T) {
	tests := map[string]struct {
		driver string
		do     func(context.Context) error
		cancel time.Duration
		code   string
		reason string
	}{
		"refused":       {"ssh", refused, 0, environment.CodeConnectRefused, environment.CodeConnectRefused},
		"hangs":         {"ssh", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, 0, environment.CodeTimedOut, environment.CodeTimedOut},
		"never returns": {"ssh", func(context.Context) error { time.Sleep(time.Hour); return nil }, 0, environment.CodeTimedOut, environment.CodeTimedOut},
		"panics":        {"ssh", func(context.Context) error { panic("boom") }, 0, "internal", "internal"},
		"not installed": {"gone", nil, 0, environment.CodeProviderUnavailable, environment.CodeProviderUnavailable},
		"cancelled":     {"ssh", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, time.Second, "internal", "cancelled"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBed(t)
				b.driver.acquire = test.do
				r := b.request()
				r.Spec.Driver = test.driver
				ctx := t.Context()
				if test.cancel > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, test.cancel)
					defer cancel()
				}
				_, _, err := b.Acquire(ctx, r)
				if environment.CodeOf(err) != test.code {
					t.Errorf("got %v, want code %s", err, test.code)
				}
				if l := b.only(); l.Status != environment.LeaseFailed || l.FailureReason == nil || *l.FailureReason != test.reason || l.ReleasedAt == nil {
					t.Errorf("row %+v, want failed for %s", l, test.reason)
				}
				time.Sleep(2 * time.Hour)
			})
		})
	}
}

func TestFinish_driverFailsAndIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t)
		b.driver.onRelease(refused)
		l := b.acquire()
		l, err := b.Finish(t.Context(), l.ID, environment.Spec{}, environment.LeaseExpired, "cancelled")
		if err != nil || l.Status != environment.LeasePendingCleanup || *l.CleanupStatus != "pending" || *l.FailureReason != "cancelled" {
			t.Fatalf("got %+v, %v; want pending_cleanup", l, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- b.Run(ctx) }()
		time.Sleep(10 * time.Minute)
		if n := b.driver.releases(); n < 5 || n > 10 {
			t.Errorf("tried %d times in 10 min, want growing pauses", n)
		}
		time.Sleep(3 * time.Hour)
		if l = b.get(l.ID); *l.CleanupStatus != "failed" || l.Status != environment.LeasePendingCleanup {
			t.Errorf("got %s %s, want people told", l.Status, *l.CleanupStatus)
		}
		b.driver.onRelease(nil)
		time.Sleep(40 * time.Minute)
		if l = b.get(l.ID); l.Status != environment.LeaseExpired || *l.CleanupStatus != "success" || *l.FailureReason != "cancelled" {
			t.Errorf("got %+v, want the outcome that was meant, and success", l)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestRelease_byAnOperator(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t)
		if _, err := b.Release(t.Context(), environment.Actor{}, b.acquire().ID); environment.KindOf(err) != environment.KindUnauthenticated {
			t.Errorf("nobody: %v", err)
		}
		if _, err := b.Release(t.Context(), operator, environment.NewID()); environment.CodeOf(err) != "lease_not_found" {
			t.Errorf("unknown: %v", err)
		}
		run := environment.Run{ID: environment.NewID(), CompanyID: b.company, EnvironmentID: &b.env.ID, Status: environment.RunQueued, Owner: b.owner}
		if err := b.store.CreateRun(t.Context(), run, environment.Activity{}); err != nil {
			t.Fatal(err)
		}
		r := b.request()
		r.RunID, r.OwnerKind = &run.ID, "run"
		l, _, err := b.Acquire(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Release(t.Context(), operator, l.ID); environment.CodeOf(err) != "lease_in_use" || environment.KindOf(err) != environment.KindConflict {
			t.Errorf("in use: %v", err)
		}
		if _, err := b.store.UpdateRun(t.Context(), run.ID, uuid.Nil, func(r *environment.Run) error { r.Status = environment.RunCancelled; return nil }); err != nil {
			t.Fatal(err)
		}
		hangUp, cancel := context.WithCancel(t.Context())
		b.driver.onRelease(func(ctx context.Context) error {
			cancel()
			time.Sleep(time.Second)
			return ctx.Err()
		})
		for range 2 {
			if l, err = b.Release(hangUp, operator, l.ID); err != nil || l.Status != environment.LeaseReleased {
				t.Errorf("got %s, %v; want released, although the caller hung up", l.Status, err)
			}
		}
		page, err := b.store.Activity(t.Context(), environment.ActivityFilter{EntityType: "environment_lease", EntityID: l.ID.String()})
		if err != nil || len(page.Items) != 2 || page.Items[0].Action != "environment.lease_released" || page.Items[0].ActorKind != environment.ActorLocalOperator {
			t.Errorf("activity %+v, %v; want who released it", page.Items, err)
		}
	})
}

// A server dies with a lease in each state; the next one lets go of all.
func TestRun_sweepsWhatDeadServersLeft(t *testing.T) {
	tests := map[string]struct {
		prepare  func(*bed) uuid.UUID
		want     environment.LeaseStatus
		released bool
	}{
		"acquiring": {func(b *bed) uuid.UUID {
			b.driver.acquire = func(context.Context) error { time.Sleep(time.Hour); return errors.New("never heard of") }
			go func() { _, _, _ = b.Acquire(context.Background(), b.request()) }()
			synctest.Wait()
			return b.only().ID
		}, environment.LeaseFailed, false},
		"active": {func(b *bed) uuid.UUID { return b.acquire().ID }, environment.LeaseExpired, true},
		"releasing": {func(b *bed) uuid.UUID {
			id := b.acquire().ID
			b.driver.onRelease(func(ctx context.Context) error { time.Sleep(time.Hour); return errors.New("never heard of") })
			go func() { _, _ = b.Finish(context.Background(), id, environment.Spec{}, environment.LeaseReleased, "") }()
			synctest.Wait()
			b.driver.onRelease(nil)
			return id
		}, environment.LeaseReleased, true},
		"pending_cleanup": {func(b *bed) uuid.UUID {
			id := b.acquire().ID
			b.driver.onRelease(refused)
			if _, err := b.Finish(b.t.Context(), id, environment.Spec{}, environment.LeaseFailed, "x"); err != nil {
				b.t.Error(err)
			}
			b.driver.onRelease(nil)
			return id
		}, environment.LeaseFailed, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBed(t)
				id := test.prepare(b)
				before := b.driver.releases()
				next := b.serve()
				if n, err := next.Tick(t.Context()); err != nil || b.get(id).Owner == b.owner {
					t.Fatalf("%d taken from a server that lives, %v", n, err)
				}
				time.Sleep(11 * time.Second) // now it is dead
				if err := b.store.BeatServer(t.Context(), b.owner); err != nil {
					t.Fatal(err)
				}
				if _, err := next.Tick(t.Context()); err != nil {
					t.Fatal(err)
				}
				l := b.get(id)
				if l.Status != test.want || (b.driver.releases() > before) != test.released {
					t.Errorf("got %s, released %v; want %s", l.Status, b.driver.releases() > before, test.want)
				}
				time.Sleep(2 * time.Hour) // what the dead one still does changes nothing
				if got := b.get(id); got.Status != l.Status {
					t.Errorf("became %s after its end", got.Status)
				}
			})
		})
	}
}

// Two let go of one lease at the same time: the first word stays.
func TestFinish_twiceAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t)
		l := b.acquire()
		slow := true
		b.driver.onRelease(func(context.Context) error {
			if slow {
				slow = false
				time.Sleep(5 * time.Second)
			}
			return nil
		})
		done := make(chan environment.Lease, 1)
		go func() {
			late, err := b.Finish(context.Background(), l.ID, environment.Spec{}, environment.LeaseReleased, "")
			if err != nil {
				t.Error(err)
			}
			done <- late
		}()
		synctest.Wait()
		first, err := b.Finish(t.Context(), l.ID, environment.Spec{}, environment.LeaseReleased, "")
		if err != nil || first.Status != environment.LeaseReleased {
			t.Fatalf("got %+v, %v", first, err)
		}
		if late := <-done; late.Status != environment.LeaseReleased || !late.ReleasedAt.Equal(*first.ReleasedAt) {
			t.Errorf("the second overwrote the first: %v, then %v", first.ReleasedAt, late.ReleasedAt)
		}
	})
}

// awayStore is a database that takes no change of a lease for a while.
type awayStore struct {
	*environmenttest.Store
	away bool
}

func (s *awayStore) UpdateLease(ctx context.Context, id uuid.UUID, change func(*environment.Lease) error, a *environment.Activity) (environment.Lease, error) {
	if s.away {
		return environment.Lease{}, environment.Unavailable("database_unavailable", "The database does not answer.")
	}
	return s.Store.UpdateLease(ctx, id, change, a)
}

// The work is cancelled while the database is away: the sweep ends the row.
func TestAcquire_cancelledWhileTheDatabaseIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t)
		store := &awayStore{Store: b.store, away: true}
		s := leasing.New(store, nil, registry{b.driver}, leasing.Options{Owner: b.owner}, time.Now, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, _, err := s.Acquire(ctx, b.request()); err == nil {
			t.Fatal("acquired without a row")
		}
		if b.driver.releases() != 1 {
			t.Errorf("given back %d times, want once", b.driver.releases())
		}
		short, end := context.WithTimeout(t.Context(), time.Minute)
		defer end()
		if _, err := s.Tick(short); err != nil || b.only().Status != environment.LeaseAcquiring {
			t.Errorf("row %s, %v; want it to wait", b.only().Status, err)
		}
		store.away = false
		if _, err := s.Tick(t.Context()); err != nil || b.only().Status != environment.LeaseFailed {
			t.Errorf("row %s, %v; want failed", b.only().Status, err)
		}
	})
}
