package leasing_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"berth/environment"
)

// What becomes of a sandbox, by its policy and how the work ended.
func TestFinish_byPolicy(t *testing.T) {
	const (
		released, failed, expired = environment.LeaseReleased, environment.LeaseFailed, environment.LeaseExpired
		retained                  = environment.LeaseRetained
	)
	tests := map[string]struct {
		config  string
		outcome environment.LeaseStatus
		reason  string
		want    environment.LeaseStatus
		why     string
		kept    time.Duration // 0: destroyed
		scoped  bool
	}{
		"ephemeral, done":               {ephemeral, released, "", released, "", 0, false},
		"ephemeral, failed":             {ephemeral, failed, "command_failed", failed, "command_failed", 0, false},
		"ephemeral, cancelled":          {ephemeral, expired, "cancelled", expired, "cancelled", 0, false},
		"reuse, done":                   {reused, released, "", retained, "", environment.RetainedFor, true},
		"reuse, failed":                 {reused, failed, "command_failed", retained, "command_failed", environment.RetainedFor, true},
		"reuse, cancelled":              {reused, expired, "cancelled", expired, "cancelled", 0, true},
		"reuse, the end is not proven":  {reused, failed, environment.CodeTerminationUnproven, failed, environment.CodeTerminationUnproven, 0, true},
		"reuse by workspace":            {`{"provider":"docker","leasePolicy":"reuse_by_execution_workspace","retainSec":60}`, released, "", retained, "", time.Minute, true},
		"kept on failure, done":         {`{"provider":"docker","leasePolicy":"retain_on_failure"}`, released, "", released, "", 0, false},
		"kept on failure, failed":       {`{"provider":"docker","leasePolicy":"retain_on_failure"}`, failed, "", retained, "adapter_or_run_failure", environment.RetainedFor, false},
		"kept on failure, cancelled":    {`{"provider":"docker","leasePolicy":"retain_on_failure"}`, expired, "cancelled", expired, "cancelled", 0, false},
		"archived, done":                {`{"provider":"docker","archiveOnRelease":true}`, released, "", retained, "", environment.ArchivedFor, false},
		"archived, failed":              {`{"provider":"docker","archiveOnRelease":true}`, failed, "x", retained, "x", environment.ArchivedFor, false},
		"archived, cancelled":           {`{"provider":"docker","archiveOnRelease":true}`, expired, "cancelled", expired, "cancelled", 0, false},
		"reuse and archived, not sound": {`{"provider":"docker","archiveOnRelease":true,"reuseLease":true}`, failed, environment.CodeTerminationUnproven, retained, environment.CodeTerminationUnproven, environment.ArchivedFor, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				y := newYard(t, test.config)
				l, _ := y.acquire()
				l = y.end(l, test.outcome, test.reason)
				if l.Status != test.want || word(l.FailureReason) != test.why || (l.ScopeKey != nil) != test.scoped {
					t.Fatalf("got %s for %s, scope %v", l.Status, word(l.FailureReason), l.ScopeKey)
				}
				var receipt environment.Receipt
				if err := json.Unmarshal(l.Receipt, &receipt); err != nil || receipt.ProviderID != *l.ProviderID {
					t.Errorf("receipt %s, %v", l.Receipt, err)
				}
				if test.kept == 0 {
					if receipt.Outcome != "destroyed" || l.ReleasedAt == nil || word(l.CleanupStatus) != "success" {
						t.Errorf("receipt %+v of %+v", receipt, l)
					}
					y.holds(0)
					return
				}
				if receipt.Outcome != "stopped" || l.ReleasedAt != nil || l.CleanupStatus != nil || y.w.running(*l.ProviderID) {
					t.Errorf("receipt %+v of %+v", receipt, l)
				}
				y.holds(1)
				if got := time.Until(*l.ExpiresAt); got != test.kept {
					t.Errorf("kept for %s, want %s", got, test.kept)
				}
				time.Sleep(test.kept - time.Second)
				y.tick()
				y.holds(1)
				time.Sleep(2*time.Second + environment.LeaseTTL)
				y.tick()
				y.holds(0)
				if got := y.row(l.ID); got.Status != expired || word(got.FailureReason) != "lease_expired" {
					t.Errorf("after its time it is %s for %s", got.Status, word(got.FailureReason))
				}
			})
		})
	}
}

// A probe's lease never picks up, nor leaves, what a run would.
func TestFinish_freshIsNotReused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, reused)
		r := y.request()
		r.Fresh, r.OwnerKind = true, environment.OwnerProbe
		l, _, err := y.Acquire(t.Context(), r)
		if err != nil || l.Policy != environment.PolicyEphemeral || l.ScopeKey != nil {
			t.Fatalf("got %+v, %v", l, err)
		}
		if l = y.end(l, environment.LeaseReleased, ""); l.Status != environment.LeaseReleased {
			t.Errorf("ended %s", l.Status)
		}
		y.holds(0)
	})
}

// What a receipt is worth.
func TestFinish_receipts(t *testing.T) {
	tests := map[string]struct {
		config string
		lie    func(*environment.Receipt)
		want   environment.LeaseStatus
	}{
		"destroyed":                     {ephemeral, func(*environment.Receipt) {}, environment.LeaseReleased},
		"gone":                          {ephemeral, func(r *environment.Receipt) { r.Outcome = "gone" }, environment.LeaseReleased},
		"gone, of nothing":              {ephemeral, func(r *environment.Receipt) { r.Outcome, r.ProviderID = "gone", "" }, environment.LeaseReleased},
		"of another":                    {ephemeral, func(r *environment.Receipt) { r.ProviderID = "c9" }, environment.LeasePendingCleanup},
		"of nothing":                    {ephemeral, func(r *environment.Receipt) { r.ProviderID = "" }, environment.LeasePendingCleanup},
		"only stopped":                  {ephemeral, func(r *environment.Receipt) { r.Outcome = "stopped" }, environment.LeasePendingCleanup},
		"asked for":                     {ephemeral, func(r *environment.Receipt) { r.Outcome = "accepted" }, environment.LeasePendingCleanup},
		"none":                          {ephemeral, func(r *environment.Receipt) { *r = environment.Receipt{} }, environment.LeasePendingCleanup},
		"a host's":                      {ephemeral, func(r *environment.Receipt) { r.Outcome = "released" }, environment.LeasePendingCleanup},
		"stopped, to be kept":           {reused, func(*environment.Receipt) {}, environment.LeaseRetained},
		"destroyed instead of stopped":  {reused, func(r *environment.Receipt) { r.Outcome = "destroyed" }, environment.LeaseReleased},
		"gone instead of stopped":       {reused, func(r *environment.Receipt) { r.Outcome = "gone" }, environment.LeaseReleased},
		"another is stopped":            {reused, func(r *environment.Receipt) { r.ProviderID = "c9" }, environment.LeasePendingCleanup},
		"nothing is said of the stop":   {reused, func(r *environment.Receipt) { *r = environment.Receipt{} }, environment.LeasePendingCleanup},
		"a stop that was only asked of": {reused, func(r *environment.Receipt) { r.Outcome = "stopping" }, environment.LeasePendingCleanup},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				y := newYard(t, test.config)
				l, _ := y.acquire()
				y.driver.lie = test.lie
				l = y.end(l, environment.LeaseReleased, "")
				if l.Status != test.want {
					t.Fatalf("got %s, want %s", l.Status, test.want)
				}
				if l.Status != environment.LeasePendingCleanup {
					return
				}
				if word(l.FailureReason) != "release_cleanup_failed" || word(l.CleanupError) != environment.CodeCleanupUnconfirmed || l.CleanupAttempts != 1 {
					t.Errorf("row %+v", l)
				}
				y.driver.lie = nil
				time.Sleep(5 * time.Second)
				y.tick()
				l = y.row(l.ID)
				if test.config == reused { // what was to be kept is not lost to a bad moment
					if l.Status != environment.LeaseRetained || l.FailureReason != nil || l.CleanupError != nil {
						t.Errorf("in the end it is %s for %s", l.Status, word(l.FailureReason))
					}
					y.holds(1)
					return
				}
				if l.Status != environment.LeaseReleased || word(l.CleanupStatus) != "success" {
					t.Errorf("in the end it is %s", l.Status)
				}
				y.holds(0)
			})
		})
	}
}

// An operator destroys what waits to be stopped and kept.
func TestDestroy_whatWaitsToBeKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, reused)
		l, _ := y.acquire()
		y.driver.lie = func(r *environment.Receipt) { r.Outcome = "stopping" }
		if l = y.end(l, environment.LeaseReleased, ""); l.Status != environment.LeasePendingCleanup {
			t.Fatalf("it is %s", l.Status)
		}
		y.driver.lie = nil
		l, err := y.Destroy(t.Context(), operator, l.ID)
		if err != nil || l.Status != environment.LeaseReleased {
			t.Errorf("got %s, %v", l.Status, err)
		}
		y.holds(0)
	})
}
