package leasing_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/environment"
	"berth/environment/leasing"
)

const ephemeral = `{"provider":"docker","engine":"a"}`

// An acquisition that fails, in every way: nothing is left, or the row waits until
// nothing can be.
func TestAcquire_sandboxFails(t *testing.T) {
	definite := environment.NewError(environment.KindUnavailable, environment.CodeCreateFailed, "No.")
	tests := map[string]struct {
		gate   gate
		stage  string // the driver says that it failed there
		code   string
		reason string
		status environment.LeaseStatus // at once
		queued bool
	}{
		"the image is not there": {gateOf("driver.Acquire", instead(environment.NewError(environment.KindNotFound, environment.CodeImageNotFound, "No."))), "",
			environment.CodeImageNotFound, environment.CodeImageNotFound, environment.LeaseFailed, false},
		"it says no": {gateOf("driver.Acquire", instead(definite)), "", environment.CodeCreateFailed, environment.CodeCreateFailed, environment.LeaseFailed, false},
		"it made something and says no": {gateOf("driver.Acquire", after(definite)), "", environment.CodeCreateFailed, environment.CodeCreateFailed,
			environment.LeaseFailed, false},
		"the answer is lost": {gateOf("driver.Acquire", after(errUnreachable)), "", environment.CodeEngineUnreachable, environment.CodeEngineUnreachable,
			environment.LeaseFailed, false},
		"it undid what it made, late": {gateOf("driver.Acquire", instead(undone("destroyed", context.Canceled))), "",
			"internal", "cancelled", environment.LeaseFailed, false},
		"it undid half of what it made": {gateOf("driver.Acquire", instead(undone("stopped", errUnreachable))), "",
			environment.CodeEngineUnreachable, environment.CodeEngineUnreachable, environment.LeasePendingCleanup, true},
		"nobody answers, before anything is made": {gateOf("driver.Acquire", instead(errUnreachable)), "engine",
			environment.CodeEngineUnreachable, environment.CodeEngineUnreachable, environment.LeaseFailed, false},
		"nobody answers": {gateOf("driver.Acquire", instead(errUnreachable)), "create",
			environment.CodeEngineUnreachable, environment.CodeEngineUnreachable, environment.LeasePendingCleanup, true},
		"nobody answers for a while": {func(_ context.Context, call string) fate {
			if strings.HasPrefix(call, "driver.") {
				return fate{instead: errUnreachable}
			}
			return fate{}
		}, "", environment.CodeEngineUnreachable, environment.CodeEngineUnreachable, environment.LeasePendingCleanup, true},
		"it hangs": {gateOf("driver.Acquire", func(ctx context.Context) fate { <-ctx.Done(); return fate{} }), "",
			environment.CodeTimedOut, environment.CodeTimedOut, environment.LeasePendingCleanup, true},
		"it breaks down": {gateOf("driver.Acquire", func(context.Context) fate { panic("boom") }), "",
			environment.CodeLeaseAcquireFailed, environment.CodeLeaseAcquireFailed, environment.LeasePendingCleanup, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				y := newYard(t, ephemeral)
				k := y.serve(test.gate)
				r := y.request()
				var told []string
				r.Spec.Report = func(s environment.Stage) { told = append(told, s.Name) }
				k.driver.stage = test.stage
				l, _, err := k.Acquire(t.Context(), r)
				e := environment.AsError(err)
				if e.Code != test.code || l.Status != test.status || word(l.FailureReason) != test.reason {
					t.Errorf("got %v, row %s for %s; want %s, %s for %s", err, l.Status, word(l.FailureReason), test.code, test.status, test.reason)
				}
				if queued := e.Details["cleanup"] == "queued"; queued != test.queued || queued != strings.Contains(strings.ToLower(e.Message), "unknown outcome, being cleaned up") {
					t.Errorf("%q %v, want queued %v", e.Message, e.Details, test.queued)
				}
				if test.stage != "" && len(told) != 1 {
					t.Errorf("told of %v", told)
				}
				y.holds(0)
				y.pass(45*time.Second, 5*time.Second)
				if l = y.row(l.ID); l.Status != environment.LeaseFailed || word(l.FailureReason) != test.reason {
					t.Errorf("in the end it is %s for %s", l.Status, word(l.FailureReason))
				}
				y.holds(0)
			})
		})
	}
}

// undone is the failure of who says what became of what was made.
func undone(outcome string, err error) error {
	return &environment.Undone{Err: err, Receipt: environment.Receipt{Outcome: outcome, ProviderID: "box-1"}}
}

func instead(err error) func(context.Context) fate {
	return func(context.Context) fate { return fate{instead: err} }
}

func after(err error) func(context.Context) fate {
	return func(context.Context) fate { return fate{after: err} }
}

// TestC86_MadeButTheAnswerGotLost: the provider made it and answered with an error,
// or later than anybody waited.
func TestC86_MadeButTheAnswerGotLost(t *testing.T) {
	tests := map[string]gate{
		"an error":      gateOf("driver.Acquire", after(errors.New("EOF"))),
		"comes later":   gateOf("driver.Acquire", instead(errors.New("EOF"))),
		"the time over": gateOf("driver.Acquire", func(ctx context.Context) fate { <-ctx.Done(); return fate{} }),
	}
	for name, g := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				y := newYard(t, reused)
				beside := y.w.put(environment.NewID(), "somebody's", true)
				unlabelled := y.w.put([16]byte{}, "", true)
				k := y.serve(g)
				k.driver.late = func() time.Duration { return 8 * time.Second }
				failed, _, err := k.Acquire(t.Context(), y.request())
				if err == nil {
					t.Fatal("it did not fail")
				}
				if failed.Status == environment.LeasePendingCleanup && environment.AsError(err).Details["cleanup"] != "queued" {
					t.Errorf("error %v", err)
				}
				y.keeper = y.serve(open)
				y.acquire() // a retry makes its own, once
				y.pass(3*time.Minute, 2*time.Second)
				if got := y.row(failed.ID); got.Status != environment.LeaseFailed || word(got.CleanupStatus) != "success" {
					t.Errorf("row %s %s", got.Status, word(got.CleanupStatus))
				}
				y.holds(1)
				if !y.w.running(beside) || !y.w.running(unlabelled) {
					t.Error("what is not ours was touched")
				}
			})
		})
	}
}

// A server dies while it asks, and nothing comes of it: the row does not wait until
// the time to start would have been over.
func TestAcquire_serverDiesAsking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, ephemeral)
		m := &mortal{at: 2, mode: "before"} // the first writes the row
		k := y.serve(m.gate)
		_, _, err := k.Acquire(t.Context(), y.request())
		if !m.isDead() || len(y.rows()) != 1 {
			t.Fatalf("it lives, with %d rows: %v", len(y.rows()), err)
		}
		y.pass(12*time.Second, 2*time.Second) // by then it is known to be dead
		if got := y.rows()[0]; got.Status != environment.LeasePendingCleanup {
			t.Errorf("soon after the death it is %s", got.Status)
		}
		y.pass(30*time.Second, 2*time.Second)
		if got := y.rows()[0]; got.Status != environment.LeaseFailed || word(got.FailureReason) != "interrupted" {
			t.Errorf("half a minute later it is %s for %s", got.Status, word(got.FailureReason))
		}
	})
}

// The caller goes away: what was made is not forgotten, and the caller is told.
func TestAcquire_callerGoesAway(t *testing.T) {
	for name, at := range map[string]string{"before it is made": "instead", "after it is made": "after"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				y := newYard(t, ephemeral)
				ctx, cancel := context.WithCancel(t.Context())
				k := y.serve(gateOf("driver.Acquire", func(ctx context.Context) fate {
					cancel()
					<-ctx.Done()
					if at == "after" {
						return fate{after: ctx.Err()}
					}
					return fate{instead: ctx.Err()}
				}))
				k.driver.rude = at == "after"
				k.driver.late = func() time.Duration { return 20 * time.Second }
				l, _, err := k.Acquire(ctx, y.request())
				if !errors.Is(err, context.Canceled) || environment.AsError(err).Details["cleanup"] != "queued" {
					t.Errorf("got %v", err)
				}
				if l.Status != environment.LeasePendingCleanup || word(l.FailureReason) != "cancelled" {
					t.Errorf("row %s for %s", l.Status, word(l.FailureReason))
				}
				y.pass(4*time.Minute, 5*time.Second)
				if got := y.row(l.ID); got.Status != environment.LeaseFailed {
					t.Errorf("row %s", got.Status)
				}
				y.holds(0)
			})
		})
	}
}

// The driver gives what another lease holds: that stays its holder's.
func TestAcquire_anothersObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, ephemeral)
		mine, _ := y.acquire()
		y.driver.give = *mine.ProviderID
		l, _, err := y.Acquire(t.Context(), y.request())
		if environment.CodeOf(err) != environment.CodeLeaseInUse || l.Status != environment.LeaseFailed {
			t.Errorf("got %v, %+v", err, l)
		}
		if !y.w.running(*mine.ProviderID) || y.row(mine.ID).Status != environment.LeaseActive {
			t.Error("the holder lost it")
		}
	})
}

// The row was taken over while the driver was asked: what came is given back.
func TestAcquire_rowTakenOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, ephemeral)
		other := y.serve(open)
		k := y.serve(gateOf("driver.Acquire", func(context.Context) fate {
			id := y.rows()[0].ID
			if _, err := other.Finish(context.Background(), id, environment.Spec{}, environment.LeaseExpired, "interrupted"); err != nil {
				t.Error(err)
			}
			return fate{}
		}))
		l, _, err := k.Acquire(t.Context(), y.request())
		if environment.CodeOf(err) != "lease_state_changed" {
			t.Errorf("got %v", err)
		}
		y.holds(0)
		y.pass(4*time.Minute, 10*time.Second)
		if got := y.row(l.ID); got.Status != environment.LeaseFailed || word(got.FailureReason) != "interrupted" {
			t.Errorf("row %s for %s", got.Status, word(got.FailureReason))
		}
	})
}

// TestC34_OneScopeHasOneLease: twenty ask at the same moment.
func TestC34_OneScopeHasOneLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, reused)
		y.keeper = y.serve(gateOf("driver.Acquire", func(context.Context) fate { time.Sleep(2 * time.Second); return fate{} }))
		type answer struct {
			lease environment.Lease
			err   error
		}
		answers := make(chan answer, 20)
		for range 20 {
			go func() {
				l, _, err := y.Acquire(context.Background(), y.request())
				answers <- answer{l, err}
			}()
		}
		held, refused := environment.Lease{}, 0
		for range 20 {
			switch a := <-answers; {
			case a.err == nil:
				held = a.lease
			case environment.CodeOf(a.err) == environment.CodeLeaseInUse && environment.KindOf(a.err) == environment.KindConflict:
				refused++
			default:
				t.Errorf("got %v", a.err)
			}
		}
		if refused != 19 || len(y.rows()) != 1 || y.w.count != 1 {
			t.Errorf("%d refused, %d rows, %d made; want 19, 1, 1", refused, len(y.rows()), y.w.count)
		}
		if _, err := y.Destroy(t.Context(), operator, held.ID); err != nil {
			t.Error(err)
		}
		y.holds(0)
	})
}

// A budget that is used up refuses before anything is written.
func TestAcquire_budget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, ephemeral)
		y.env = y.newEnvWith("small", ephemeral, &environment.Budget{MaxLeases: 1})
		y.acquire()
		_, _, err := y.Acquire(t.Context(), y.request())
		if environment.CodeOf(err) != environment.CodeBudgetExhausted || len(y.rows()) != 1 || environment.AsError(err).Details["limit"] != "maxLeases" {
			t.Errorf("got %v, %d rows", err, len(y.rows()))
		}
		if u, err := y.Usage(t.Context(), operator, y.env.ID); err != nil || u.ActiveLeases != 1 {
			t.Errorf("usage %+v, %v", u, err)
		}
		if _, err := y.Usage(t.Context(), environment.Actor{}, y.env.ID); environment.KindOf(err) != environment.KindUnauthenticated {
			t.Errorf("usage for nobody: %v", err)
		}
	})
}

var _ leasing.Specs = (*bunch)(nil)
