package running_test

import (
	"context"
	"testing"
	"time"

	"berth/environment"
	"berth/environment/running"
)

func TestCancel_inEveryState(t *testing.T) {
	tests := map[string]struct {
		prepare func(*target)
		at      environment.RunStatus
		lease   environment.LeaseStatus
	}{
		"acquiring": {func(t *target) { t.acquireTime = time.Hour }, environment.RunAcquiring, environment.LeaseFailed},
		"preparing": {func(t *target) { t.unreachable = true }, environment.RunPreparing, environment.LeaseExpired},
		"running":   {func(*target) {}, environment.RunRunning, environment.LeaseExpired},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			target := newTarget(out(0, "x"), out(time.Hour, "y"), exit(0, 0))
			test.prepare(target)
			inBubble(t, target, func(t *testing.T, b *bed) {
				r := b.start(b.input("sleep", "4321"))
				b.wait(r.ID, is(test.at))
				asked, err := b.server.Cancel(context.Background(), operator, r.ID)
				if err != nil || asked.Status != environment.RunCancelling && asked.Status != environment.RunCancelled {
					t.Fatalf("cancel: %+v, %v; want cancelling", asked, err)
				}
				r = b.end(r.ID)
				if took := time.Since(r.CreatedAt); r.Status != environment.RunCancelled || r.Failure != nil || took > time.Minute {
					t.Errorf("got %s %+v after %s, want cancelled soon", r.Status, r.Failure, took)
				}
				if left := target.left(); left != 0 {
					t.Errorf("%d commands left on the target", left)
				}
				page, err := b.server.leases.List(context.Background(), operator, leaseFilter())
				if err != nil || len(page.Items) != 1 || page.Items[0].Status != test.lease {
					t.Errorf("leases %+v, %v; want one, %s", page.Items, err, test.lease)
				}
				again, err := b.server.Cancel(context.Background(), operator, r.ID)
				if err != nil || again.Status != environment.RunCancelled {
					t.Errorf("again: %s, %v; want no change", again.Status, err)
				}
			})
		})
	}
}

func TestC87_CancelTenTimes(t *testing.T) {
	target := newTarget(out(time.Hour, ""))
	inBubble(t, target, func(t *testing.T, b *bed) {
		for range 10 {
			r := b.start(b.input("sh", "-c", "sleep 4321 & sleep 4321"))
			b.wait(r.ID, is(environment.RunRunning))
			asked := time.Now()
			if _, err := b.server.Cancel(context.Background(), operator, r.ID); err != nil {
				t.Fatal(err)
			}
			r = b.end(r.ID)
			if took := time.Since(asked); r.Status != environment.RunCancelled || r.Termination != "proven" || took > 5*time.Second {
				t.Fatalf("got %s %s after %s, want cancelled and proven within 5 s", r.Status, r.Termination, took)
			}
		}
		if target.left() != 0 {
			t.Error("commands left on the target")
		}
	})
}

func TestCancel_fromAServerThatDoesNotRunIt(t *testing.T) {
	inBubble(t, newTarget(out(time.Hour, "")), func(t *testing.T, b *bed) {
		r := b.start(b.input("x"))
		b.wait(r.ID, is(environment.RunRunning))
		other := running.New(b.store, nil, nil, nil, nil, b.store, running.Options{Owner: environment.NewID()}, time.Now, nil)
		if _, err := other.Cancel(context.Background(), operator, r.ID); err != nil {
			t.Fatal(err)
		}
		if r = b.end(r.ID); r.Status != environment.RunCancelled || r.CancelBy == nil {
			t.Errorf("got %s by %v, want cancelled", r.Status, r.CancelBy)
		}
	})
}

func TestCancel_isNeverASuccess(t *testing.T) {
	// The command ends by itself, content, in the moment in which it is cancelled.
	target := newTarget(exit(10*time.Second, 0))
	target.deaf = true
	inBubble(t, target, func(t *testing.T, b *bed) {
		r := b.start(b.input("x"))
		b.wait(r.ID, is(environment.RunRunning))
		time.Sleep(9 * time.Second)
		if _, err := b.server.Cancel(context.Background(), operator, r.ID); err != nil {
			t.Fatal(err)
		}
		if r = b.end(r.ID); r.Status != environment.RunCancelled {
			t.Errorf("got %s, want cancelled", r.Status)
		}
	})
}

func TestCancel_withoutProofSaysSo(t *testing.T) {
	target := newTarget(out(time.Hour, ""))
	target.unproven = true
	inBubble(t, target, func(t *testing.T, b *bed) {
		r := b.start(b.input("x"))
		b.wait(r.ID, is(environment.RunRunning))
		if _, err := b.server.Cancel(context.Background(), operator, r.ID); err != nil {
			t.Fatal(err)
		}
		r = b.end(r.ID)
		if r.Status != environment.RunCancelled || r.Termination != "unproven" || r.Failure == nil || r.Failure.Code != environment.CodeTerminationUnproven {
			t.Errorf("got %s %s %+v, want termination_unproven", r.Status, r.Termination, r.Failure)
		}
		if l := b.lease(r); l.Status != environment.LeaseExpired || l.FailureReason == nil || *l.FailureReason != environment.CodeTerminationUnproven {
			t.Errorf("the lease is %s, %v, want expired, termination_unproven", l.Status, l.FailureReason)
		}
	})
}

// TestUnproven_leaseSaysSo: however a run ended, its lease, whose release went
// through, does not look cleaner than the run.
func TestUnproven_leaseSaysSo(t *testing.T) {
	for name, c := range map[string]struct {
		step    step
		status  environment.RunStatus
		lease   environment.LeaseStatus
		timeout int
	}{
		"done":      {exit(0, 0), environment.RunSucceeded, environment.LeaseReleased, 0},
		"failed":    {exit(0, 3), environment.RunFailed, environment.LeaseFailed, 0},
		"timed out": {out(time.Hour, ""), environment.RunTimedOut, environment.LeaseFailed, 5},
	} {
		t.Run(name, func(t *testing.T) {
			target := newTarget(c.step)
			target.unproven = true
			inBubble(t, target, func(t *testing.T, b *bed) {
				in := b.input("x")
				if c.timeout > 0 {
					in.TimeoutSec = &c.timeout
				}
				r := b.end(b.start(in).ID)
				l := b.lease(r)
				if r.Status != c.status || r.Termination != "unproven" || l.Status != c.lease || l.FailureReason == nil ||
					*l.FailureReason != environment.CodeTerminationUnproven || *l.CleanupStatus != "success" {
					t.Errorf("run %s %s, lease %s %v, want %s and %s, termination_unproven", r.Status, r.Termination, l.Status, l.FailureReason, c.status, c.lease)
				}
			})
		})
	}
}

// The owner died; the one who asks is answered, and the next server ends it.
func TestCancel_whileNoServerLives(t *testing.T) {
	target := newTarget(out(time.Hour, ""))
	inBubble(t, target, func(t *testing.T, b *bed) {
		r := b.start(b.input("x"))
		b.wait(r.ID, is(environment.RunRunning))
		b.server.kill()
		other := running.New(b.store, nil, nil, nil, nil, b.store, running.Options{Owner: environment.NewID()}, time.Now, nil)
		if _, err := other.Cancel(context.Background(), operator, r.ID); err != nil {
			t.Fatal(err)
		}
		b.boot()
		if r = b.end(r.ID); r.Status != environment.RunCancelled || target.left() != 0 {
			t.Errorf("got %s with %d left, want cancelled and none", r.Status, target.left())
		}
	})
}

func TestCancel_inTheQueue(t *testing.T) {
	inBubble(t, newTarget(exit(0, 0)), func(t *testing.T, b *bed) {
		// The cancel comes in between the row and the worker's first step.
		b.server.store.before = func(write int) {
			if write == 2 {
				page, err := b.store.Runs(context.Background(), running.Filter{})
				if err != nil || len(page.Items) != 1 {
					t.Fatalf("runs %+v, %v", page, err)
				}
				if got, err := b.server.Cancel(context.Background(), operator, page.Items[0].ID); err != nil || got.Status != environment.RunCancelled {
					t.Errorf("cancel: %s, %v; want cancelled at once", got.Status, err)
				}
			}
		}
		r := b.end(b.start(b.input("x")).ID)
		time.Sleep(time.Second)
		again := b.run(r.ID)
		if r.Status != environment.RunCancelled || len(again.Phases) != 1 || again.Phases[0].FinishedAt == nil || b.target.started(r.ID) != 0 {
			t.Errorf("got %+v, want cancelled and nothing after", again)
		}
	})
}
