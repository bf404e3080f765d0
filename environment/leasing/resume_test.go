package leasing_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/environment"
	"berth/environment/leasing"
)

const reused = `{"provider":"docker","engine":"a","reuseLease":true}`

func word(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}

// gateOf lets the calls of a name through do, and all others as they are.
func gateOf(call string, do func(context.Context) fate) gate {
	return func(ctx context.Context, c string) fate {
		if c == call {
			return do(ctx)
		}
		return fate{}
	}
}

// kept is a sandbox on the shelf, and its lease.
func (y *yard) kept() environment.Lease {
	y.t.Helper()
	l, _ := y.acquire()
	l = y.end(l, environment.LeaseReleased, "")
	if l.Status != environment.LeaseRetained || y.w.running(*l.ProviderID) {
		y.t.Fatalf("got %s, running %v; want a stopped sandbox that is kept", l.Status, y.w.running(*l.ProviderID))
	}
	return l
}

func TestAcquire_intentIsEnoughToCleanUpBy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, reused)
		y.keeper = y.serve(gateOf("driver.Acquire", func(context.Context) fate {
			l := y.rows()[0]
			if l.Status != environment.LeaseAcquiring || l.ProviderID != nil || l.ObjectKey != nil || l.ScopeKey == nil || l.EnvironmentName != "box" {
				t.Errorf("while the driver is asked the row is %+v", l)
			}
			if _, err := y.Ref(l, environment.Spec{}); environment.CodeOf(err) != "lease_not_ready" {
				t.Errorf("its Ref can be used: %v", err)
			}
			if text := string(l.Ref); !strings.Contains(text, l.ID.String()) || !strings.Contains(text, y.instance.String()) || !strings.Contains(text, `"docker"`) {
				t.Errorf("ref %s, want the labels", text)
			}
			return fate{}
		}))
		l, ref := y.acquire()
		if l.Status != environment.LeaseActive || word(l.ProviderID) != "c1" || word(l.Acquisition) != "created" || word(l.ObjectKey) != "sandbox/docker\na\nc1" ||
			l.Policy != environment.PolicyReuseEnvironment || l.Provider != "docker" {
			t.Errorf("active lease %+v", l)
		}
		if ref.LeaseKey != l.ID.String() || ref.InstanceID != y.instance || ref.Provider != "docker" || ref.Spec.OwnerKind != environment.OwnerOperator {
			t.Errorf("ref %+v", ref)
		}
	})
}

func TestAcquire_resumesWhatIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, reused)
		old := y.kept()
		l, ref := y.acquire()
		before := y.row(old.ID)
		if l.ID == old.ID || l.Status != environment.LeaseActive || word(l.Acquisition) != "resumed" || *l.ProviderID != *old.ProviderID || *l.Resumes != old.ID {
			t.Errorf("new lease %+v", l)
		}
		if before.Status != environment.LeaseReleased || before.ReleasedAt == nil || before.CleanupStatus != nil {
			t.Errorf("old lease %+v, want it handed over", before)
		}
		if ref.LeaseKey != old.ID.String() {
			t.Errorf("label %q, want that of the sandbox", ref.LeaseKey)
		}
		y.holds(1)
		if l = y.end(l, environment.LeaseExpired, "cancelled"); l.Status != environment.LeaseExpired {
			t.Errorf("cancelled work leaves %s", l.Status)
		}
		y.holds(0)
	})
}

// What is of another configuration goes, and nobody waits for it.
func TestAcquire_anotherConfigurationIsNotResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, reused)
		old := y.kept()
		other := y.request()
		other.Fingerprint = "another secret"
		l, _, err := y.Acquire(t.Context(), other)
		if err != nil || word(l.Acquisition) != "created" {
			t.Fatalf("got %+v, %v; want a new sandbox", l, err)
		}
		if got := y.row(old.ID); got.Status != environment.LeasePendingCleanup || word(got.FailureReason) != "lease_fingerprint_mismatch" {
			t.Errorf("old lease %s for %s, want it queued", got.Status, word(got.FailureReason))
		}
		y.holds(2)
		y.tick()
		if got := y.row(old.ID); got.Status != environment.LeaseExpired || word(got.CleanupStatus) != "success" {
			t.Errorf("old lease %s, want it destroyed", got.Status)
		}
		y.holds(1)
	})
}

// Who may not pick a sandbox up, and whether it stays.
func TestAcquire_scopes(t *testing.T) {
	agent, workspace, adapter := environment.NewID(), environment.NewID(), "shell"
	tests := map[string]struct {
		other func(*yard, *leasing.Request)
		stays bool
	}{
		"the same":          {other: func(*yard, *leasing.Request) {}},
		"another agent":     {other: func(_ *yard, r *leasing.Request) { r.AgentID = &agent }, stays: true},
		"another workspace": {other: func(_ *yard, r *leasing.Request) { r.WorkspaceID = &workspace }, stays: true},
		"another adapter":   {other: func(_ *yard, r *leasing.Request) { r.AdapterType = &adapter }, stays: true},
		"fresh":             {other: func(_ *yard, r *leasing.Request) { r.Fresh = true }, stays: true},
		"no fingerprint":    {other: func(_ *yard, r *leasing.Request) { r.Fingerprint = "" }, stays: true},
		"another company": {other: func(y *yard, r *leasing.Request) {
			id := environment.NewID()
			if err := y.store.CreateCompany(context.Background(), environment.Company{ID: id, Name: "other"}, environment.Activity{}); err != nil {
				y.t.Fatalf("company: %v", err)
			}
			r.CompanyID = id
		}, stays: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				y := newYard(t, reused)
				old := y.kept()
				r := y.request()
				test.other(y, &r)
				l, _, err := y.Acquire(t.Context(), r)
				if err != nil {
					t.Fatal(err)
				}
				y.tick()
				if kept := y.row(old.ID).Status == environment.LeaseRetained; kept != test.stays {
					t.Errorf("it is kept: %v", kept)
				}
				if resumed := word(l.Acquisition) == "resumed"; resumed == test.stays {
					t.Errorf("it is %s", word(l.Acquisition))
				}
			})
		})
	}
}

// A resume that fails and proves nothing: the lease is failed, and what is kept
// stays as it is. Its tries share one deadline.
func TestResume_failsAndLeavesAllAsItWas(t *testing.T) {
	tests := map[string]struct {
		do     func(context.Context) error
		code   string
		reason string
		took   time.Duration
	}{
		"unreachable all the time": {func(context.Context) error { return errUnreachable }, environment.CodeEngineUnreachable, environment.CodeEngineUnreachable, 2 * time.Minute},
		"hangs":                    {func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, environment.CodeTimedOut, environment.CodeTimedOut, 2 * time.Minute},
		"refused": {func(context.Context) error {
			return environment.Forbidden("no").Because(nil)
		}, "forbidden", "forbidden", 0},
		"breaks down": {func(context.Context) error { panic("boom") }, environment.CodeTimedOut, environment.CodeTimedOut, 2 * time.Minute},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				y := newYard(t, reused)
				old := y.kept()
				tries := 0
				y.keeper = y.serve(gateOf("driver.Resume", func(ctx context.Context) fate { tries++; return fate{instead: test.do(ctx)} }))
				began := time.Now()
				l, _, err := y.Acquire(t.Context(), y.request())
				if environment.CodeOf(err) != test.code || l.Status != environment.LeaseFailed || word(l.FailureReason) != test.reason || word(l.CleanupStatus) != "" {
					t.Errorf("got %v and %+v; want code %s, reason %s", err, l, test.code, test.reason)
				}
				if took := time.Since(began); took > test.took+3*time.Second || took < test.took/2 {
					t.Errorf("took %s and %d tries, want about %s", took, tries, test.took)
				}
				after := y.row(old.ID)
				if after.UpdatedAt != old.UpdatedAt || after.Status != environment.LeaseRetained || y.w.running(*old.ProviderID) {
					t.Errorf("the kept lease changed: %+v", after)
				}
				y.keeper = y.serve(open) // and the next run resumes it
				if l, _ := y.acquire(); word(l.Acquisition) != "resumed" {
					t.Errorf("the next one is %s", word(l.Acquisition))
				}
			})
		})
	}
}

// A resume that needs more than a minute, and some tries, succeeds.
func TestResume_slow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, reused)
		y.kept()
		tries := 0
		y.keeper = y.serve(gateOf("driver.Resume", func(context.Context) fate {
			if tries++; tries < 3 {
				return fate{instead: errUnreachable}
			}
			time.Sleep(100 * time.Second)
			return fate{}
		}))
		began := time.Now()
		l, _ := y.acquire()
		if took := time.Since(began); word(l.Acquisition) != "resumed" || took < 100*time.Second || took > 2*time.Minute {
			t.Errorf("%s after %s", word(l.Acquisition), took)
		}
	})
}

// Only proof that it is gone permits another, within the same deadline.
func TestResume_proofOfLoss(t *testing.T) {
	tests := map[string]struct {
		code   string
		reason string
	}{
		"gone":      {environment.CodeSandboxGone, "resume_not_found"},
		"not it":    {environment.CodeSandboxMismatch, "identity_mismatch"},
		"gone late": {environment.CodeSandboxGone, "resume_not_found"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				y := newYard(t, reused)
				old := y.kept()
				if test.code == environment.CodeSandboxGone {
					y.w.drop(*old.ProviderID)
				}
				var asked, builds time.Time
				y.keeper = y.serve(func(ctx context.Context, call string) fate {
					switch call {
					case "driver.Resume":
						if asked, _ = ctx.Deadline(); name == "gone late" {
							time.Sleep(90 * time.Second)
						}
						return fate{instead: environment.NewError(environment.KindConflict, test.code, "no")}
					case "driver.Acquire":
						builds, _ = ctx.Deadline()
					}
					return fate{}
				})
				l, _ := y.acquire()
				if word(l.Acquisition) != "replacement" || word(l.AcquisitionReason) != test.reason || *l.Resumes != old.ID {
					t.Errorf("got %s for %s", word(l.Acquisition), word(l.AcquisitionReason))
				}
				y.tick() // what is not it is still there, and goes
				if got := y.row(old.ID); got.Status != environment.LeaseExpired || word(got.FailureReason) != test.reason || word(got.CleanupStatus) != "success" {
					t.Errorf("old lease %s for %s", got.Status, word(got.FailureReason))
				}
				if asked.IsZero() || !asked.Equal(builds) {
					t.Errorf("deadlines %v and %v, want one", asked, builds)
				}
				y.holds(1)
			})
		})
	}
}

// The answer of the hand-over is lost: whoever holds the sandbox, it is one.
func TestResume_answerOfTheHandOverLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, reused)
		y.kept()
		lost := environment.Unavailable("database_unavailable", "The database does not answer.")
		first := true
		y.keeper = y.serve(gateOf("store.HandOver", func(context.Context) fate {
			defer func() { first = false }()
			if first {
				return fate{after: lost}
			}
			return fate{}
		}))
		if l, _ := y.acquire(); word(l.Acquisition) != "resumed" || l.Status != environment.LeaseActive {
			t.Errorf("got %+v", l)
		}
		y.holds(1)
	})
}
