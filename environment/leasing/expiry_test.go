package leasing_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"berth/environment"
	"berth/environment/environmenttest"

	"github.com/google/uuid"
)

func (y *yard) acquireFresh() (environment.Lease, environment.Ref) {
	y.t.Helper()
	r := y.request()
	r.Fresh = true
	l, ref, err := y.Acquire(context.Background(), r)
	if err != nil {
		y.t.Fatalf("acquire: %v", err)
	}
	return l, ref
}

// TestC38_ExpiryByTheDatabasesClock: a lease is not reaped while it is beaten for,
// and is 120 to 150 s after the last beat.
func TestC38_ExpiryByTheDatabasesClock(t *testing.T) {
	for name, owned := range map[string]bool{"by its own server": true, "by another": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				y := newYard(t, ephemeral)
				l, _ := y.acquire()
				y.pass(time.Hour, 30*time.Second)
				if got := y.row(l.ID); got.Status != environment.LeaseActive {
					t.Fatalf("reaped while it is beaten for: %s", got.Status)
				}
				y.LetGo(l.ID)
				if !owned { // the first one lives on but does not beat for it
					first := y.keeper
					y.keeper = y.serve(open)
					defer func() { _ = y.store.BeatServer(context.Background(), first.owner) }()
					y.specs.asked = nil
				}
				began := time.Now()
				for y.row(l.ID).Status == environment.LeaseActive {
					if !owned {
						if err := y.store.BeatServer(t.Context(), y.row(l.ID).Owner); err != nil {
							t.Fatal(err)
						}
					}
					y.tick()
					time.Sleep(2 * time.Second)
				}
				if took := time.Since(began); took < 90*time.Second || took > 150*time.Second {
					t.Errorf("reaped %s after its last beat but one", took)
				}
				if got := y.row(l.ID); got.Status != environment.LeaseExpired || word(got.FailureReason) != "lease_expired" {
					t.Errorf("row %s for %s", got.Status, word(got.FailureReason))
				}
				y.holds(0)
			})
		})
	}
}

// A lease with an end goes then, although it is beaten for; one without does not.
func TestExpires_capsALease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, ephemeral)
		r := y.request()
		r.Expires = new(time.Now().Add(10 * time.Minute))
		l, _, err := y.Acquire(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		other, _ := y.acquire()
		y.pass(8*time.Minute, 10*time.Second)
		if got := y.row(l.ID); got.Status != environment.LeaseActive {
			t.Errorf("after 8 of its 10 minutes it is %s", got.Status)
		}
		y.pass(2*time.Minute+10*time.Second, 10*time.Second)
		if got := y.row(l.ID); got.Status != environment.LeaseExpired {
			t.Errorf("after its end it is %s", got.Status)
		}
		if got := y.row(other.ID); got.Status != environment.LeaseActive {
			t.Errorf("the other is %s", got.Status)
		}
		short := y.request()
		short.Expires = new(time.Now().Add(20 * time.Second))
		if l, _, err = y.Acquire(t.Context(), short); err != nil || l.TTLSec != 20 {
			t.Errorf("a short one lives %d s, %v", l.TTLSec, err)
		}
	})
}

// A run that is under way keeps its lease, whoever has forgotten to beat for it.
func TestExpiry_aRunAtWorkKeepsItsLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, ephemeral)
		r := y.request()
		r.RunID = new(y.newRun())
		l, _, err := y.Acquire(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		y.LetGo(l.ID)
		y.pass(10*time.Minute, 10*time.Second)
		if got := y.row(l.ID); got.Status != environment.LeaseActive {
			t.Errorf("it is %s", got.Status)
		}
		y.move(*r.RunID, environment.RunCancelled)
		y.tick()
		if got := y.row(l.ID); got.Status != environment.LeaseExpired {
			t.Errorf("when its run is over it is %s", got.Status)
		}
	})
}

// The holder learns that its lease was taken.
func TestBeat_aLeaseIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, ephemeral)
		l, _ := y.acquire()
		_, mine := y.acquire()
		if y.Lost(l.ID) {
			t.Error("lost before it was taken")
		}
		other := y.serve(open)
		if _, err := other.Destroy(t.Context(), operator, l.ID); err != nil {
			t.Fatal(err)
		}
		if err := y.Beat(t.Context()); err != nil || !y.Lost(l.ID) || y.Lost(uuid.MustParse(mine.LeaseKey)) {
			t.Errorf("lost %v, %v", y.Lost(l.ID), err)
		}
		if got := y.end(l, environment.LeaseReleased, ""); got.Status != environment.LeaseExpired || y.Lost(l.ID) {
			t.Errorf("its holder's end makes it %s", got.Status)
		}
	})
}

// The loop beats, for what it acquired and for what it took up.
func TestRun_beats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, ephemeral)
		own, _ := y.acquire()
		taken, _ := y.acquire()
		y.LetGo(taken.ID)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- y.Run(ctx) }()
		y.Hold(taken.ID)
		for range 300 {
			time.Sleep(2 * time.Second)
			if err := y.store.BeatServer(t.Context(), y.owner); err != nil {
				t.Fatal(err)
			}
		}
		for _, id := range []uuid.UUID{own.ID, taken.ID} {
			if l := y.row(id); l.Status != environment.LeaseActive || time.Since(l.HeartbeatAt) > 11*time.Second {
				t.Errorf("%s, last beat %s ago", l.Status, time.Since(l.HeartbeatAt))
			}
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestC36_TheServerDiesBetweenRunAndRelease: the run is over, its sandbox is being
// destroyed, and the server dies; in one variant the environment goes as well.
func TestC36_TheServerDiesBetweenRunAndRelease(t *testing.T) {
	for name, deleted := range map[string]bool{"environment kept": false, "environment deleted": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				y := newYard(t, ephemeral)
				dying := y.serve(gateOf("driver.Release", func(ctx context.Context) fate {
					time.Sleep(10 * time.Second)
					return fate{instead: context.Canceled} // nothing is heard of it again
				}))
				l, _, err := dying.Acquire(t.Context(), y.request())
				if err != nil {
					t.Fatal(err)
				}
				dying.store.gate = func(context.Context, string) fate {
					if y.row(l.ID).Status == environment.LeaseReleasing {
						return fate{instead: environment.Conflict("dead", "dead")}
					}
					return fate{}
				}
				go func() {
					_, _ = dying.Finish(context.Background(), l.ID, environment.Spec{}, environment.LeaseReleased, "")
				}()
				synctest.Wait()
				if deleted {
					forget(t, y.store, l.ID)
				}
				time.Sleep(11 * time.Second)
				y.pass(30*time.Second, 2*time.Second)
				if got := y.row(l.ID); got.Status != environment.LeaseReleased || word(got.CleanupStatus) != "success" {
					t.Errorf("row %s", got.Status)
				}
				y.holds(0)
			})
		})
	}
}

// forget makes a row be of an environment that was deleted.
func forget(t *testing.T, store *environmenttest.Store, id uuid.UUID) {
	t.Helper()
	if _, err := store.UpdateLease(t.Context(), id, func(l *environment.Lease) error { l.EnvironmentID = nil; return nil }, nil); err != nil {
		t.Fatal(err)
	}
}

// A server that stops in the middle of a stop leaves it to the next one, which
// still keeps what was to be kept.
func TestFinish_serverStopsMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, reused)
		l, _ := y.acquire()
		ctx, cancel := context.WithCancel(t.Context())
		y.driver.gate = gateOf("driver.Release", func(ctx context.Context) fate { <-ctx.Done(); return fate{} })
		go func() { time.Sleep(time.Second); cancel() }()
		got, err := y.Finish(ctx, l.ID, environment.Spec{}, environment.LeaseReleased, "")
		if err != nil || got.Status != environment.LeaseReleasing {
			t.Fatalf("got %s, %v", got.Status, err)
		}
		y.keeper = y.serve(open)
		time.Sleep(11 * time.Second)
		y.pass(30*time.Second, 2*time.Second)
		if got := y.row(l.ID); got.Status != environment.LeaseRetained {
			t.Errorf("row %s, want it kept", got.Status)
		}
		y.holds(1)
	})
}
