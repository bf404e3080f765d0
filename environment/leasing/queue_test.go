package leasing_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"berth/environment"
	"berth/environment/leasing"

	"github.com/google/uuid"
)

// stuck is a lease whose release does not go through, and what makes it.
func (y *yard) stuck() (environment.Lease, func()) {
	y.t.Helper()
	broken := true
	y.keeper = y.serve(gateOf("driver.Release", func(context.Context) fate {
		if broken {
			return fate{instead: errUnreachable}
		}
		return fate{}
	}))
	l, _ := y.acquire()
	l = y.end(l, environment.LeaseReleased, "")
	if l.Status != environment.LeasePendingCleanup {
		y.t.Fatalf("got %s, want pending_cleanup", l.Status)
	}
	return l, func() { broken = false }
}

// Pauses grow to half an hour, after ten failures an operator is told, and it is
// tried for ever.
func TestQueue_retriesForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, ephemeral)
		l, heal := y.stuck()
		y.pass(time.Hour, time.Second)
		l = y.row(l.ID)
		if l.DeadLetterAt == nil || l.CleanupAttempts < 10 || word(l.CleanupStatus) != "failed" || word(l.CleanupError) != environment.CodeEngineUnreachable {
			t.Errorf("after an hour: %d tries, %s, dead %v", l.CleanupAttempts, word(l.CleanupStatus), l.DeadLetterAt)
		}
		tries, first := l.CleanupAttempts, *l.DeadLetterAt
		y.pass(10*time.Hour, time.Minute)
		if l = y.row(l.ID); l.CleanupAttempts < tries+19 || l.CleanupAttempts > tries+27 || !l.DeadLetterAt.Equal(first) {
			t.Errorf("ten hours later: %d tries more, dead since %v", l.CleanupAttempts-tries, l.DeadLetterAt)
		}
		page, err := y.List(t.Context(), operator, leasing.Filter{DeadLetter: true})
		if err != nil || len(page.Items) != 1 {
			t.Errorf("%d wait for an operator, %v", len(page.Items), err)
		}
		heal()
		y.pass(31*time.Minute, time.Minute)
		if l = y.row(l.ID); l.Status != environment.LeaseReleased || l.DeadLetterAt != nil || l.CleanupNextAt != nil || word(l.CleanupStatus) != "success" {
			t.Errorf("in the end %+v", l)
		}
		y.holds(0)
	})
}

// One that hangs holds up nobody else, and not the loop.
func TestQueue_isolatesLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, ephemeral)
		var ids []uuid.UUID
		hung := map[int32]bool{0: true, 3: true}
		var n atomic.Int32
		broken := true
		y.keeper = y.serve(gateOf("driver.Release", func(ctx context.Context) fate {
			if broken {
				return fate{instead: errUnreachable}
			}
			if hung[n.Add(1)-1] {
				<-ctx.Done()
			}
			return fate{}
		}))
		for range 6 {
			l, _ := y.acquire()
			ids = append(ids, y.end(l, environment.LeaseReleased, "").ID)
		}
		broken = false
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- y.Run(ctx) }()
		time.Sleep(8 * time.Second)
		synctest.Wait()
		pending := 0
		for _, id := range ids {
			if y.row(id).Status == environment.LeasePendingCleanup {
				pending++
			}
		}
		if pending != 2 {
			t.Errorf("%d are not cleaned up yet, want the two that hang", pending)
		}
		time.Sleep(time.Minute)
		y.holds(0)
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// A provider that is not installed makes a lease wait, and counts as no failure.
func TestQueue_providerNotInstalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, ephemeral)
		l, _ := y.acquire()
		y.gone = true
		l = y.end(l, environment.LeaseReleased, "")
		if l.Status != environment.LeasePendingCleanup || l.CleanupAttempts != 0 || word(l.CleanupError) != environment.CodeProviderUnavailable {
			t.Errorf("row %+v", l)
		}
		y.pass(24*time.Hour, 10*time.Minute)
		if l = y.row(l.ID); l.CleanupAttempts != 0 || l.DeadLetterAt != nil {
			t.Errorf("a day later: %d tries, dead %v", l.CleanupAttempts, l.DeadLetterAt)
		}
		y.gone = false
		y.pass(2*time.Minute, 10*time.Second)
		if l = y.row(l.ID); l.Status != environment.LeaseReleased {
			t.Errorf("in the end it is %s", l.Status)
		}
		y.holds(0)
	})
}

// The lease's own configuration is used, whatever its environment says by now, and
// a secret that cannot be opened is a failed attempt.
func TestQueue_usesWhatTheLeaseWasMadeWith(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, `{"provider":"docker","engine":"first"}`)
		l, heal := y.stuck()
		heal()
		y.specs.err = errors.New("the vault is closed")
		time.Sleep(5 * time.Second)
		y.tick()
		if got := y.row(l.ID); got.CleanupAttempts != 2 || word(got.CleanupError) != "internal" {
			t.Errorf("row %d %s", got.CleanupAttempts, word(got.CleanupError))
		}
		y.specs.err = nil
		time.Sleep(10 * time.Second)
		y.tick()
		y.holds(0)
		for _, config := range y.specs.asked {
			var c struct{ Engine string }
			if err := json.Unmarshal(config, &c); err != nil || c.Engine != "first" {
				t.Errorf("asked for %s", config)
			}
		}
		if len(y.specs.asked) < 2 {
			t.Errorf("asked %d times", len(y.specs.asked))
		}
	})
}

// A row that an earlier version left: its clean-up is in its metadata.
func TestQueue_readsWhatAnEarlierVersionKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t)
		b.driver.onRelease(refused)
		l := b.acquire()
		if _, err := b.Finish(t.Context(), l.ID, environment.Spec{}, environment.LeaseReleased, ""); err != nil {
			t.Fatal(err)
		}
		_, err := b.store.UpdateLease(t.Context(), l.ID, func(l *environment.Lease) error {
			l.Metadata = json.RawMessage(`{"cleanup":{"outcome":"failed","attempts":3,"nextAt":"1999-12-31T00:00:00Z","error":"x"},"other":1}`)
			l.CleanupOutcome, l.CleanupAttempts, l.CleanupNextAt, l.CleanupError = "", 0, nil, nil
			return nil
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Tick(t.Context()); err != nil {
			t.Error(err)
		}
		if got := b.get(l.ID); got.CleanupAttempts != 4 || got.CleanupOutcome != environment.LeaseFailed || string(got.Metadata) != `{"other":1}` {
			t.Errorf("row %d %s %s", got.CleanupAttempts, got.CleanupOutcome, got.Metadata)
		}
		b.driver.onRelease(nil)
		time.Sleep(time.Minute)
		if _, err := b.Tick(t.Context()); err != nil {
			t.Error(err)
		}
		if got := b.get(l.ID); got.Status != environment.LeaseFailed {
			t.Errorf("ended %s, want what was meant", got.Status)
		}
	})
}

// Two servers work off one queue: each clean-up is done once.
func TestQueue_twoServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, ephemeral)
		l, heal := y.stuck()
		heal()
		time.Sleep(5 * time.Second)
		calls := 0
		slow := gateOf("driver.Release", func(context.Context) fate { calls++; time.Sleep(10 * time.Second); return fate{} })
		a, b := y.serve(slow), y.serve(slow)
		done := make(chan error, 2)
		for _, k := range []*keeper{a, b} {
			go func() { _, err := k.Tick(context.Background()); done <- err }()
		}
		for range 2 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if calls != 1 || y.row(l.ID).Status != environment.LeaseReleased {
			t.Errorf("%d calls, row %s", calls, y.row(l.ID).Status)
		}
	})
}
