package leasing_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"berth/environment"
)

// A server's database answers so late that another one has gone on with the release
// and a third holds the sandbox: the first one does not touch it any more.
func TestFinish_theClaimIsOverBeforeTheDriverIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, reused)
		l, _ := y.acquire()
		slow := y.keeper
		first := true
		slow.store.slow = func() {
			if first {
				first = false
				time.Sleep(time.Minute)
			}
		}
		done := make(chan environment.Lease, 1)
		go func() {
			got, _ := slow.Finish(context.Background(), l.ID, environment.Spec{}, environment.LeaseReleased, "")
			done <- got
		}()
		synctest.Wait()
		y.keeper = y.serve(open)
		time.Sleep(30 * time.Second) // its claim is over, and it looks dead
		y.tick()
		if got := y.row(l.ID); got.Status != environment.LeaseRetained {
			t.Fatalf("another server made it %s", got.Status)
		}
		next, _ := y.acquire()
		if word(next.Acquisition) != "resumed" {
			t.Fatalf("the next one is %s", word(next.Acquisition))
		}
		<-done
		if !y.w.running(*next.ProviderID) {
			t.Error("the sandbox of the next holder was stopped")
		}
	})
}

// The answer of the database that the release has begun is lost: it goes on at once.
func TestFinish_answerLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, reused)
		l, _ := y.acquire()
		lost := 2
		y.keeper.store.gate = gateOf("store.UpdateLease", func(context.Context) fate {
			if lost--; lost >= 0 {
				return fate{after: errDatabase}
			}
			return fate{}
		})
		began := time.Now()
		if got := y.end(l, environment.LeaseExpired, "cancelled"); got.Status != environment.LeaseExpired || time.Since(began) > time.Second {
			t.Errorf("after %s it is %s", time.Since(began), got.Status)
		}
		y.holds(0)
	})
}

// What is kept is not taken from the shelf by a second end of the lease.
func TestFinish_again(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, reused)
		l := y.kept()
		if got := y.end(l, environment.LeaseExpired, "late"); got.Status != environment.LeaseRetained {
			t.Errorf("it is %s", got.Status)
		}
		y.holds(1)
	})
}

// A row that another server took over while the driver was asked is not this one's,
// although nobody has touched it yet.
func TestAcquire_rowHasAnotherOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, ephemeral)
		k := y.serve(gateOf("driver.Acquire", func(context.Context) fate {
			time.Sleep(11 * time.Second) // it looks dead
			if err := y.store.BeatServer(context.Background(), y.owner); err != nil {
				t.Error(err)
			}
			taken, err := y.store.OrphanedLeases(context.Background(), y.owner, 10)
			if err != nil || len(taken) != 1 {
				t.Errorf("took %d, %v", len(taken), err)
			}
			return fate{}
		}))
		l, _, err := k.Acquire(t.Context(), y.request())
		if environment.CodeOf(err) != "lease_state_changed" {
			t.Errorf("got %v, %s", err, l.Status)
		}
		y.holds(0)
		y.pass(5*time.Minute, 5*time.Second)
		if got := y.row(l.ID); got.Status != environment.LeaseFailed {
			t.Errorf("in the end it is %s", got.Status)
		}
	})
}

// A kept sandbox of another configuration that somebody resumes at this moment is
// not taken away.
func TestAcquire_anotherConfigurationIsBeingResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, reused)
		old := y.kept()
		slow := y.serve(gateOf("driver.Resume", func(context.Context) fate { time.Sleep(20 * time.Second); return fate{} }))
		resumed := make(chan environment.Lease, 1)
		go func() {
			l, _, err := slow.Acquire(context.Background(), y.request())
			if err != nil {
				t.Error(err)
			}
			resumed <- l
		}()
		synctest.Wait()
		r := y.request()
		r.Fingerprint = "edited"
		if l, _, err := y.Acquire(t.Context(), r); err != nil || word(l.Acquisition) != "created" {
			t.Errorf("got %+v, %v", l, err)
		}
		y.tick()
		if l := <-resumed; word(l.Acquisition) != "resumed" || !y.w.running(*old.ProviderID) {
			t.Errorf("the other is %s", word(l.Acquisition))
		}
		y.holds(2)
	})
}

// The answer that a lease is active is lost, and an operator puts its sandbox on the
// shelf before the next try: it is not taken from there.
func TestAcquire_activeAndReleasedBeforeTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, reused)
		other := y.serve(open)
		lost := true
		y.keeper.store.gate = gateOf("store.UpdateLease", func(context.Context) fate {
			if !lost {
				return fate{}
			}
			lost = false
			return fate{after: errDatabase}
		})
		y.keeper.store.slow = func() {
			y.keeper.store.slow = nil
			if _, err := other.Release(context.Background(), operator, y.rows()[0].ID); err != nil {
				t.Error(err)
			}
		}
		l, _, err := y.Acquire(t.Context(), y.request())
		if environment.CodeOf(err) != "lease_state_changed" {
			t.Errorf("got %v, %s", err, l.Status)
		}
		if got := y.row(l.ID); got.Status != environment.LeaseRetained {
			t.Errorf("it is %s", got.Status)
		}
		y.holds(1)
	})
}
