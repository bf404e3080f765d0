package leasing_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"berth/environment"
	"berth/environment/leasing"

	"github.com/google/uuid"
)

type operation func(*yard, environment.Actor, uuid.UUID) (environment.Lease, error)

func release(y *yard, a environment.Actor, id uuid.UUID) (environment.Lease, error) {
	return y.Release(context.Background(), a, id)
}

func destroy(y *yard, a environment.Actor, id uuid.UUID) (environment.Lease, error) {
	return y.Destroy(context.Background(), a, id)
}

func retry(y *yard, a environment.Actor, id uuid.UUID) (environment.Lease, error) {
	return y.RetryCleanup(context.Background(), a, id)
}

// What an operator may do to a lease in each state, and what comes of it.
func TestOperator(t *testing.T) {
	active := func(y *yard) environment.Lease { l, _ := y.acquire(); return l }
	ended := func(y *yard) environment.Lease { l, _ := y.acquire(); return y.end(l, environment.LeaseExpired, "x") }
	stuck := func(y *yard) environment.Lease { l, heal := y.stuck(); heal(); return l }
	hopeless := func(y *yard) environment.Lease {
		l, heal := y.stuck()
		y.pass(90*time.Minute, time.Minute)
		heal()
		return y.row(l.ID)
	}
	ofRun := func(status environment.RunStatus) func(*yard) environment.Lease {
		return func(y *yard) environment.Lease {
			r := y.request()
			r.RunID, r.OwnerKind = new(y.newRun()), environment.OwnerRun
			l, _, err := y.Acquire(context.Background(), r)
			if err != nil {
				y.t.Fatalf("acquire: %v", err)
			}
			y.move(*r.RunID, status)
			return l
		}
	}
	ofKind := func(kind string) func(*yard) environment.Lease {
		return func(y *yard) environment.Lease {
			r := y.request()
			r.OwnerKind, r.Fresh = kind, true
			l, _, err := y.Acquire(context.Background(), r)
			if err != nil {
				y.t.Fatalf("acquire: %v", err)
			}
			return l
		}
	}
	ofProbe := ofKind(environment.OwnerProbe)
	const (
		released, expired, retained = environment.LeaseReleased, environment.LeaseExpired, environment.LeaseRetained
		inUse                       = environment.CodeLeaseInUse
	)
	tests := map[string]struct {
		config  string
		prepare func(*yard) environment.Lease
		do      operation
		code    string
		want    environment.LeaseStatus
		why     string
		left    int
	}{
		"destroy, of a task":          {ephemeral, ofKind("a later kind"), destroy, inUse, environment.LeaseActive, "", 1},
		"release, active":             {ephemeral, active, release, "", released, "", 0},
		"release, active, by policy":  {reused, active, release, "", retained, "", 1},
		"release, kept":               {reused, (*yard).kept, release, "", released, "", 0},
		"release, ended":              {ephemeral, ended, release, "", expired, "x", 0},
		"release, waits for clean-up": {ephemeral, stuck, release, "", released, "release_cleanup_failed", 0},
		"release, of a run at work":   {ephemeral, ofRun(environment.RunAcquiring), release, inUse, environment.LeaseActive, "", 1},
		"release, of a run that is over": {ephemeral, ofRun(environment.RunCancelled), release, "", released,
			"", 0},
		"release, of a probe at work":  {ephemeral, ofProbe, release, inUse, environment.LeaseActive, "", 1},
		"destroy, active":              {reused, active, destroy, "", expired, "destroyed_by_operator", 0},
		"destroy, kept":                {reused, (*yard).kept, destroy, "", expired, "destroyed_by_operator", 0},
		"destroy, ended":               {ephemeral, ended, destroy, "", expired, "x", 0},
		"destroy, waits for clean-up":  {ephemeral, stuck, destroy, "", released, "release_cleanup_failed", 0},
		"destroy, of a run at work":    {reused, ofRun(environment.RunAcquiring), destroy, inUse, environment.LeaseActive, "", 1},
		"destroy, of a probe at work":  {reused, ofProbe, destroy, inUse, environment.LeaseActive, "", 1},
		"retry, waits for clean-up":    {ephemeral, stuck, retry, "", released, "release_cleanup_failed", 0},
		"retry, waits for an operator": {ephemeral, hopeless, retry, "", released, "release_cleanup_failed", 0},
		"retry, active":                {ephemeral, active, retry, "lease_state_changed", environment.LeaseActive, "", 1},
		"retry, kept":                  {reused, (*yard).kept, retry, "lease_state_changed", retained, "", 1},
		"retry, ended":                 {ephemeral, ended, retry, "", expired, "x", 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				y := newYard(t, test.config)
				l := test.prepare(y)
				for _, actor := range []environment.Actor{{}, {Kind: environment.ActorAgent, ID: environment.NewID(), CompanyID: y.company},
					{Kind: environment.ActorPerson, ID: environment.NewID(), Roles: map[uuid.UUID]environment.Role{y.company: environment.RoleOwner}}} {
					if _, err := test.do(y, actor, l.ID); err == nil || environment.KindOf(err) == environment.KindNotFound {
						t.Errorf("%s: %v", actor.Kind, err)
					}
				}
				if _, err := test.do(y, operator, environment.NewID()); environment.CodeOf(err) != "lease_not_found" {
					t.Errorf("one that is not there: %v", err)
				}
				got, err := test.do(y, operator, l.ID)
				if environment.CodeOf(err) != test.code {
					t.Fatalf("got %v, want %q", err, test.code)
				}
				if err == nil && got.Status != test.want {
					t.Errorf("answered %s, want %s", got.Status, test.want)
				}
				if row := y.row(l.ID); row.Status != test.want || word(row.FailureReason) != test.why || row.DeadLetterAt != nil {
					t.Errorf("row %s for %s", row.Status, word(row.FailureReason))
				}
				y.holds(test.left)
			})
		})
	}
}

// A retry that fails again begins to count anew.
func TestRetryCleanup_failsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, ephemeral)
		l, heal := y.stuck()
		y.pass(90*time.Minute, time.Minute)
		ctx := environment.WithRequestID(t.Context(), "r-1")
		got, err := y.RetryCleanup(ctx, operator, l.ID)
		if err != nil || got.Status != environment.LeasePendingCleanup || got.CleanupAttempts != 1 || got.DeadLetterAt != nil {
			t.Errorf("got %+v, %v", got, err)
		}
		page, err := y.store.Activity(t.Context(), environment.ActivityFilter{EntityID: l.ID.String(), Action: "environment.lease_cleanup_retried"})
		if err != nil || len(page.Items) != 1 || page.Items[0].RequestID != "r-1" || page.Items[0].ActorKind != environment.ActorLocalOperator {
			t.Errorf("log %+v, %v", page.Items, err)
		}
		heal()
		y.pass(time.Minute, time.Second)
		y.holds(0)
	})
}

// The caller of a destruction hangs up: it goes on.
func TestDestroy_callerHangsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, ephemeral)
		ctx, cancel := context.WithCancel(t.Context())
		y.keeper = y.serve(gateOf("driver.Release", func(context.Context) fate { cancel(); time.Sleep(time.Second); return fate{} }))
		l, _ := y.acquire()
		if got, err := y.Destroy(ctx, operator, l.ID); err != nil || got.Status != environment.LeaseExpired {
			t.Errorf("got %s, %v", got.Status, err)
		}
		y.holds(0)
	})
}

// TestC84_EnvironmentInUse: what is held is destroyed first, or waits where people
// see it; the rows stay readable.
func TestC84_EnvironmentInUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, reused)
		kept := y.kept()
		busy, _ := y.acquireFresh()
		y.driver.gate = gateOf("driver.Release", instead(errUnreachable))
		if _, err := y.Destroy(t.Context(), operator, kept.ID); err != nil {
			t.Error(err)
		}
		got, err := y.Destroy(t.Context(), operator, busy.ID)
		if err != nil || got.Status != environment.LeasePendingCleanup {
			t.Errorf("got %s, %v; want it to wait where people see it", got.Status, err)
		}
		page, err := y.List(t.Context(), operator, leasing.Filter{EnvironmentID: &y.env.ID, Held: true})
		if err != nil || len(page.Items) != 2 {
			t.Errorf("%d leases are held, %v", len(page.Items), err)
		}
		y.driver.gate = open
		y.pass(time.Minute, 2*time.Second)
		y.holds(0)
		for _, id := range []uuid.UUID{kept.ID, busy.ID} {
			if l := y.row(id); l.Status != environment.LeaseExpired || l.EnvironmentName != "box" {
				t.Errorf("row %+v", l)
			}
		}
	})
}
