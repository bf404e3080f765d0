package leasing_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"berth/environment"

	"github.com/google/uuid"
)

// What is under our label and no lease's goes; all else stays.
func TestReconcile_objects(t *testing.T) {
	tests := map[string]struct {
		prepare func(*yard) (id string)
		goes    bool
	}{
		"no row":                 {func(y *yard) string { return y.w.put(y.instance, environment.NewID().String(), true) }, true},
		"no label of a lease":    {func(y *yard) string { return y.w.put(y.instance, "", true) }, true},
		"a label that is no id":  {func(y *yard) string { return y.w.put(y.instance, "x", false) }, true},
		"another installation's": {func(y *yard) string { return y.w.put(environment.NewID(), environment.NewID().String(), true) }, false},
		"nobody's":               {func(y *yard) string { return y.w.put([16]byte{}, "", true) }, false},
		"active":                 {func(y *yard) string { l, _ := y.acquire(); return *l.ProviderID }, false},
		"kept":                   {func(y *yard) string { return *y.kept().ProviderID }, false},
		"resumed":                {func(y *yard) string { y.kept(); l, _ := y.acquire(); return *l.ProviderID }, false},
		"waits for clean-up":     {func(y *yard) string { l, _ := y.stuck(); return *l.ProviderID }, false},
		"being made":             {func(y *yard) string { return y.halfMade(environment.LeaseAcquiring) }, false},
		"being looked for":       {func(y *yard) string { return y.halfMade(environment.LeasePendingCleanup) }, false},
		"ended": {func(y *yard) string {
			l, _ := y.acquire()
			y.end(l, environment.LeaseExpired, "x")
			return y.w.put(y.instance, l.ID.String(), true) // it came back
		}, true},
		"a second one of an active lease": {func(y *yard) string {
			l, _ := y.acquire()
			return y.w.put(y.instance, l.ID.String(), true)
		}, true},
		"a second one of a kept lease": {func(y *yard) string { return y.w.put(y.instance, y.kept().ID.String(), true) }, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				y := newYard(t, reused)
				id := test.prepare(y)
				others := len(y.w.objects) - 1
				time.Sleep(59 * time.Second)
				if n := y.reconcile(); n != 0 {
					t.Errorf("%d removed that are younger than a minute", n)
				}
				time.Sleep(2 * time.Second)
				n := y.reconcile()
				_, there := y.w.objects[id]
				if there == test.goes || (n == 1) != test.goes || len(y.w.objects) < others {
					t.Errorf("it is there: %v, %d put right, %d objects of %d", there, n, len(y.w.objects), others+1)
				}
				page, err := y.store.Activity(t.Context(), environment.ActivityFilter{Action: "environment.sandbox_orphan_removed"})
				if err != nil || (len(page.Items) == 1) != test.goes {
					t.Errorf("log %+v, %v", page.Items, err)
				}
			})
		})
	}
}

// halfMade is an object whose lease does not name it yet.
func (y *yard) halfMade(status environment.LeaseStatus) string {
	y.t.Helper()
	l := environment.Lease{ID: environment.NewID(), CompanyID: y.company, EnvironmentID: &y.env.ID, Status: status, Owner: y.owner,
		Driver: environment.DriverSandbox, Provider: environment.ProviderDocker}
	if err := y.store.CreateLease(context.Background(), l); err != nil {
		y.t.Fatalf("lease: %v", err)
	}
	return y.w.put(y.instance, l.ID.String(), true)
}

// What a lease holds and the provider does not any more.
func TestReconcile_rows(t *testing.T) {
	const gone = "provider_gone"
	tests := map[string]struct {
		prepare func(*yard) environment.Lease
		want    environment.LeaseStatus
		why     string
	}{
		"kept":               {(*yard).kept, environment.LeaseExpired, gone},
		"active":             {func(y *yard) environment.Lease { l, _ := y.acquire(); return l }, environment.LeaseActive, ""},
		"waits for clean-up": {func(y *yard) environment.Lease { l, _ := y.stuck(); return l }, environment.LeaseReleased, "release_cleanup_failed"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				y := newYard(t, reused)
				l := test.prepare(y)
				y.w.drop(*l.ProviderID)
				time.Sleep(30 * time.Second)
				y.reconcile()
				if got := y.row(l.ID); got.Status != l.Status || got.ProviderGoneAt == nil {
					t.Errorf("after one look it is %s, %v", got.Status, got.ProviderGoneAt)
				}
				time.Sleep(10 * time.Second) // another server's look, too soon
				y.reconcile()
				if got := y.row(l.ID); got.Status != l.Status {
					t.Errorf("after two looks at once it is %s", got.Status)
				}
				time.Sleep(time.Minute)
				y.reconcile()
				if got := y.row(l.ID); got.Status != test.want || word(got.FailureReason) != test.why {
					t.Errorf("after two looks it is %s for %s", got.Status, word(got.FailureReason))
				}
			})
		})
	}
}

// What was missing once and is there again is not gone.
func TestReconcile_missingOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, reused)
		l := y.kept()
		o := y.w.objects[*l.ProviderID]
		y.w.drop(o.id)
		y.reconcile()
		y.w.objects[o.id] = o
		time.Sleep(time.Minute)
		y.reconcile()
		y.w.drop(o.id)
		time.Sleep(time.Minute)
		y.reconcile()
		if got := y.row(l.ID); got.Status != environment.LeaseRetained || got.ProviderGoneAt == nil || !got.ProviderGoneAt.Equal(time.Now()) {
			t.Errorf("it is %s, gone at %v", got.Status, got.ProviderGoneAt)
		}
	})
}

// A place that cannot be asked is not an empty one, and holds up no other.
func TestReconcile_placeOutOfReach(t *testing.T) {
	for name, f := range map[string]func(context.Context) fate{
		"refuses": instead(errUnreachable),
		"hangs":   func(ctx context.Context) fate { <-ctx.Done(); return fate{instead: ctx.Err()} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				y := newYard(t, reused)
				l := y.kept()
				stranger := y.w.put(y.instance, environment.NewID().String(), true)
				y.w.drop(*l.ProviderID)
				y.keeper = y.serve(gateOf("driver.List", f))
				for range 3 {
					time.Sleep(time.Minute)
					y.reconcile()
				}
				if got := y.row(l.ID); got.Status != environment.LeaseRetained || got.ProviderGoneAt != nil {
					t.Errorf("it is %s, gone at %v", got.Status, got.ProviderGoneAt)
				}
				if !y.w.running(stranger) {
					t.Error("removed without a list")
				}
			})
		})
	}
}

// Rows of one engine are not judged by the list of another.
func TestReconcile_otherPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, reused)
		l := y.kept()
		y.env = y.newEnv("second", `{"provider":"docker","engine":"b","reuseLease":true}`)
		y.w.drop(*l.ProviderID)
		y.keeper = y.serve(open)
		y.driver.gate = gateOf("driver.List", func(ctx context.Context) fate {
			if ctx.Value(placeKey{}) != "b" {
				return fate{instead: errUnreachable}
			}
			return fate{}
		})
		for range 3 {
			time.Sleep(time.Minute)
			y.reconcile()
		}
		if got := y.row(l.ID); got.Status != environment.LeaseRetained {
			t.Errorf("judged by another engine's list: %s", got.Status)
		}
	})
}

// A place that is down is not asked by every configuration that leads there: others
// wait for it.
func TestReconcile_manyConfigurationsOfAPlaceThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, reused)
		for i := range 50 {
			y.newEnv(fmt.Sprintf("env %d", i), fmt.Sprintf(`{"provider":"docker","engine":"down","memoryMiB":%d}`, 100+i))
		}
		y.driver.gate = gateOf("driver.List", func(ctx context.Context) fate { <-ctx.Done(); return fate{instead: ctx.Err()} })
		began := time.Now()
		y.reconcile()
		if took := time.Since(began); took > time.Minute {
			t.Errorf("it took %s", took)
		}
	})
}

// What is kept and yet runs is stopped, and kept; unless somebody is at it.
func TestReconcile_keptAndRunning(t *testing.T) {
	for name, pickedUp := range map[string]bool{"its server died": false, "it is being picked up": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				y := newYard(t, reused)
				l := y.kept()
				y.w.objects[*l.ProviderID].running = true
				time.Sleep(time.Minute)
				if pickedUp {
					scope := *l.ScopeKey
					if err := y.store.CreateLease(t.Context(), environment.Lease{ID: environment.NewID(), CompanyID: y.company, EnvironmentID: &y.env.ID,
						Status: environment.LeaseAcquiring, Owner: y.owner, Driver: l.Driver, Provider: l.Provider, ScopeKey: &scope, Resumes: &l.ID}); err != nil {
						t.Fatal(err)
					}
				}
				y.reconcile()
				got := y.row(l.ID)
				if y.w.running(*l.ProviderID) != pickedUp || got.Status != environment.LeaseRetained || *got.ScopeKey != *l.ScopeKey || got.FailureReason != nil {
					t.Errorf("it runs: %v, %s for %s", y.w.running(*l.ProviderID), got.Status, word(got.FailureReason))
				}
				if !pickedUp {
					if again, _ := y.acquire(); *again.ProviderID != *l.ProviderID || *again.Acquisition != environment.AcquisitionResumed {
						t.Errorf("the next one is %s", *again.Acquisition)
					}
				}
			})
		})
	}
}

// One engine that is reached by two names: what a lease holds is not removed as the
// other name's.
func TestReconcile_oneEngineByTwoNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, reused)
		kept := y.kept()
		first := y.env
		y.env = y.newEnv("second", `{"provider":"docker","engine":"b","reuseLease":true}`)
		active, _ := y.acquire()
		y.env = first
		time.Sleep(2 * time.Minute)
		if n := y.reconcile(); n != 0 {
			t.Errorf("%d put right", n)
		}
		for _, l := range []environment.Lease{kept, active} {
			if got := y.row(l.ID); y.w.objects[*l.ProviderID] == nil || got.Status != l.Status || got.ProviderGoneAt != nil {
				t.Errorf("of %s: it is %s, gone at %v", l.Status, got.Status, got.ProviderGoneAt)
			}
		}
	})
}

// Two servers compare at the same time, while one of them works.
func TestReconcile_twoServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, reused)
		l := y.kept()
		for range 5 {
			y.w.put(y.instance, environment.NewID().String(), true)
		}
		time.Sleep(2 * time.Minute)
		a, b := y.serve(open), y.serve(open)
		done := make(chan error, 2)
		for _, k := range []*keeper{a, b} {
			go func() { _, err := k.Reconcile(context.Background()); done <- err }()
		}
		got, _ := y.acquire()
		for range 2 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if *got.ProviderID != *l.ProviderID || !y.w.running(*l.ProviderID) {
			t.Errorf("resumed %s, running %v", *got.ProviderID, y.w.running(*l.ProviderID))
		}
		y.holds(1)
	})
}

// The loop compares soon after the start, and then every minute.
func TestRun_reconciles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, reused)
		y.w.put(y.instance, environment.NewID().String(), true)
		time.Sleep(2 * time.Minute)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- y.Run(ctx) }()
		time.Sleep(time.Second)
		y.holds(0)
		y.w.put(y.instance, uuid.NewString(), true)
		time.Sleep(125 * time.Second)
		y.holds(0)
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// A configuration that is not installed, or cannot list, is left out.
func TestReconcile_providerNotInstalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, reused)
		l := y.kept()
		y.w.drop(*l.ProviderID)
		y.gone = true
		for range 3 {
			time.Sleep(time.Minute)
			y.reconcile()
		}
		if got := y.row(l.ID); got.Status != environment.LeaseRetained {
			t.Errorf("it is %s", got.Status)
		}
	})
}
