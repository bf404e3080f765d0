package running_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/environment"
	"berth/environment/leasing"
	"berth/environment/running"
)

// in is an input for a sandbox.
func (b *bed) in(env environment.Environment, native bool) running.Input {
	in := b.input("x")
	in.EnvironmentID, in.Native = &env.ID, native
	return in
}

func TestSandbox_runs(t *testing.T) {
	inBubble(t, newTarget(out(time.Second, "hello"), exit(time.Second, 0)), func(t *testing.T, b *bed) {
		env := b.box(docker)
		r := b.end(b.start(b.in(env, false)).ID)
		stdout, _ := b.output(r.ID)
		if r.Status != environment.RunSucceeded || stdout != "hello" || r.Provider != "docker" || r.Driver != "sandbox" || r.Native {
			t.Errorf("got %+v with %q", r, stdout)
		}
		if r.Host == nil || r.Host.Name != "c0ffee" || r.Host.BootID != "box-1" {
			t.Errorf("host %+v, want the sandbox's own", r.Host)
		}
		l := b.lease(r)
		if l.Status != environment.LeaseReleased || l.OwnerKind != environment.OwnerRun || l.EnvironmentName != env.Name || l.ProviderID == nil || *l.ProviderID != "box-1" || !strings.Contains(string(l.Receipt), "destroyed") {
			t.Errorf("lease %+v", l)
		}
		if left, made := b.target.there(); len(left) != 0 || made != 1 {
			t.Errorf("%v of %d sandboxes are left", left, made)
		}
		if spec := b.target.boxed[0]; spec.Pinned != nil || spec.OwnerKind != environment.OwnerRun || spec.InstanceID != b.node || *spec.RunID != r.ID || b.specs.admissions() != 0 {
			t.Errorf("made with %+v, %d admissions asked; an ordinary run has no gate", spec, b.specs.admissions())
		}
	})
}

// TestSandbox_native admits by a current record, and makes exactly its image.
func TestSandbox_native(t *testing.T) {
	image := environment.ImageIdentity{Kind: environment.ImageDigest, Digest: "sha256:aa", ImageID: "sha256:bb"}
	refused := environment.Admission{State: environment.QualificationStale, Required: true, Code: environment.CodeQualificationMissing, Message: "It is stale."}
	tests := map[string]struct {
		admission environment.Admission
		pinned    bool
		code      string
	}{
		"recorded": {environment.Admission{State: environment.QualificationRecorded, Required: true, Allowed: true, Identity: &image}, true, ""},
		"managed":  {environment.Admission{State: environment.QualificationNotRequired, Allowed: true}, false, ""},
		"refused":  {refused, false, environment.CodeQualificationMissing},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			inBubble(t, newTarget(exit(0, 0)), func(t *testing.T, b *bed) {
				b.specs.admit(test.admission)
				r := b.end(b.start(b.in(b.box(docker), true)).ID)
				_, made := b.target.there()
				if test.code != "" {
					if r.Status != environment.RunFailed || r.Failure == nil || r.Failure.Code != test.code || r.Failure.Message != "It is stale." || r.Failure.Remediation == "" || r.LeaseID != nil || made != 0 || openLeases(t, b) != 0 {
						t.Errorf("got %+v, %+v, %d made; want a refusal before anything is made", r, r.Failure, made)
					}
					return
				}
				if r.Status != environment.RunSucceeded || !r.Native || made != 1 {
					t.Fatalf("got %+v, %+v", r, r.Failure)
				}
				if pinned := b.target.boxed[0].Pinned; (pinned != nil) != test.pinned || test.pinned && *pinned != image {
					t.Errorf("pinned %+v", pinned)
				}
			})
		})
	}
	t.Run("on a host", func(t *testing.T) {
		inBubble(t, newTarget(exit(0, 0)), func(t *testing.T, b *bed) {
			b.specs.admit(refused)
			in := b.input("x")
			in.Native = true
			if r := b.end(b.start(in).ID); r.Status != environment.RunSucceeded || !r.Native {
				t.Errorf("got %+v, %+v; want no gate", r, r.Failure)
			}
		})
	})
}

// TestSandbox_imageDeleted revokes only by the provider's proof, and falls back to
// no name.
func TestSandbox_imageDeleted(t *testing.T) {
	gone := environment.NewError(environment.KindNotFound, environment.CodeImageDeleted, "The image is gone.")
	tests := map[string]struct {
		err     error
		native  bool
		revokes bool
	}{
		"proven":           {gone.With("proof", true), true, true},
		"not proven":       {gone, true, false},
		"proof is a word":  {gone.With("proof", "true"), true, false},
		"an ordinary run":  {gone.With("proof", true), false, false},
		"another code":     {environment.NewError(environment.KindNotFound, environment.CodeImageNotFound, "x").With("proof", true), true, false},
		"registry is away": {environment.Unavailable(environment.CodeEngineUnreachable, "x").With("proof", true), true, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			inBubble(t, newTarget(exit(0, 0)), func(t *testing.T, b *bed) {
				b.specs.admit(environment.Admission{Allowed: true, Identity: &environment.ImageIdentity{Digest: "sha256:aa"}})
				b.target.refuseBox = test.err
				r := b.end(b.start(b.in(b.box(docker), test.native)).ID)
				if _, made := b.target.there(); r.Status != environment.RunFailed || r.Failure.Code != environment.CodeOf(test.err) || made != 0 {
					t.Errorf("got %+v, %+v, %d made", r, r.Failure, made)
				}
				if got := b.server.store.revoked(); got != map[bool]string{true: environment.RevokedDeleted}[test.revokes] {
					t.Errorf("revoked for %q", got)
				}
			})
		})
	}
}

// TestSandbox_gone ends a run whose sandbox is taken away, and runs it nowhere else.
func TestSandbox_gone(t *testing.T) {
	for name, restart := range map[string]bool{"under the server": false, "between two servers": true} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, newTarget(out(0, "x"), out(time.Hour, "y"), exit(0, 0)), func(t *testing.T, b *bed) {
				r := b.start(b.in(b.box(docker), false))
				b.wait(r.ID, is(environment.RunRunning))
				time.Sleep(time.Second)
				if restart {
					b.server.kill()
				}
				b.target.vanish()
				if restart {
					b.boot()
				}
				r = b.end(r.ID)
				_, made := b.target.there()
				if r.Status != environment.RunLost || r.Failure == nil || r.Failure.Code != environment.CodeSandboxGone || r.Termination != "proven" || made != 1 || b.target.started(r.ID) != 1 {
					t.Errorf("got %s %q %+v, %d made, started %d times", r.Status, r.Termination, r.Failure, made, b.target.started(r.ID))
				}
				if stdout, _ := b.output(r.ID); stdout != "x" {
					t.Errorf("output %q, want what had come", stdout)
				}
				if due, err := b.store.ClaimRemains(context.Background(), environment.NewID(), 10, time.Hour); err != nil || len(due) != 0 {
					t.Errorf("remains %v, %v; want none of a sandbox", due, err)
				}
				checkClean(t, b)
			})
		})
	}
}

// TestSandbox_goneBeforeTheCommand fails the run: it had not begun.
func TestSandbox_goneBeforeTheCommand(t *testing.T) {
	inBubble(t, newTarget(exit(0, 0)), func(t *testing.T, b *bed) {
		b.target.refuseExec = environment.NewError(environment.KindNotFound, environment.CodeSandboxGone, "The sandbox is gone.")
		r := b.end(b.start(b.in(b.box(docker), false)).ID)
		if r.Status != environment.RunFailed || r.Failure.Code != environment.CodeSandboxGone || r.Failure.Remediation == "" || b.target.started(r.ID) != 0 {
			t.Errorf("got %s %+v", r.Status, r.Failure)
		}
		checkClean(t, b)
	})
}

// TestSandbox_destroyedProvesTheEnd: what the driver could not see to its end went
// with the sandbox, by the provider's word.
func TestSandbox_destroyedProvesTheEnd(t *testing.T) {
	stays := func(outcome, id string) func(environment.Ref) (environment.Receipt, error) {
		return func(environment.Ref) (environment.Receipt, error) {
			return environment.Receipt{Outcome: outcome, ProviderID: id}, nil
		}
	}
	tests := map[string]struct {
		release     func(environment.Ref) (environment.Receipt, error)
		termination string
	}{
		"destroyed":     {nil, "proven"},
		"not destroyed": {stays("released", "box-1"), "unproven"},
		"another one":   {stays("destroyed", "box-2"), "unproven"},
	}
	for name, test := range tests {
		for _, cancel := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, cancelled %v", name, cancel), func(t *testing.T) {
				inBubble(t, newTarget(out(0, "x"), out(time.Hour, "y"), exit(0, 0)), func(t *testing.T, b *bed) {
					b.target.unproven, b.target.releaseBox = true, test.release
					in := b.in(b.box(docker), false)
					in.TimeoutSec = new(5)
					r := b.start(in)
					b.wait(r.ID, is(environment.RunRunning))
					if cancel {
						if _, err := b.server.Cancel(context.Background(), operator, r.ID); err != nil {
							t.Fatal(err)
						}
					}
					r = b.end(r.ID)
					if want := map[bool]environment.RunStatus{true: environment.RunCancelled, false: environment.RunTimedOut}[cancel]; r.Status != want || r.Termination != test.termination {
						t.Errorf("got %s, %q; want %s, %q", r.Status, r.Termination, want, test.termination)
					}
					doubts := r.Failure != nil && strings.Contains(r.Failure.Message, "could not be proven")
					if doubts != (test.termination == "unproven") || cancel && (r.Failure != nil) != doubts {
						t.Errorf("failure %+v", r.Failure)
					}
					b.target.set(func(t *target) { t.releaseBox = nil })
				})
			})
		}
	}
}

// TestSandbox_reuse: the next run of a scope picks the sandbox up, but not one in
// which something may be left.
func TestSandbox_reuse(t *testing.T) {
	const reuse = `{"provider":"docker","image":"r.example/app@sha256:aa","reuseLease":true}`
	for name, unproven := range map[string]bool{"clean": false, "not proven": true} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, newTarget(exit(time.Second, 0)), func(t *testing.T, b *bed) {
				b.target.unproven = unproven
				env := b.box(reuse)
				first := b.end(b.start(b.in(env, false)).ID)
				second := b.end(b.start(b.in(env, false)).ID)
				_, made := b.target.there()
				if want := map[bool]int{true: 2, false: 1}[unproven]; made != want || second.Status != environment.RunSucceeded {
					t.Errorf("%d made, want %d; second %s", made, want, second.Status)
				}
				if l := b.lease(second); !unproven && (l.Resumes == nil || *l.Resumes != *first.LeaseID) {
					t.Errorf("lease %+v resumes nothing", l)
				}
			})
		})
	}
}

// TestSandbox_noRoom tells why a lease was refused, and what to do.
func TestSandbox_noRoom(t *testing.T) {
	inBubble(t, newTarget(exit(time.Hour, 0)), func(t *testing.T, b *bed) {
		const reuse = `{"provider":"docker","image":"r.example/app@sha256:aa","reuseLease":true}`
		one := func(e *environment.Environment) { e.Budget = &environment.Budget{MaxLeases: 1} }
		for code, env := range map[string]environment.Environment{
			environment.CodeBudgetExhausted: b.box(docker, one), environment.CodeLeaseInUse: b.box(reuse),
		} {
			b.wait(b.start(b.in(env, false)).ID, is(environment.RunRunning))
			r := b.end(b.start(b.in(env, false)).ID)
			if r.Status != environment.RunFailed || r.Failure.Code != code || r.Failure.Remediation == "" || r.Failure.Message == "" || r.LeaseID != nil {
				t.Errorf("%s: got %s %+v", code, r.Status, r.Failure)
			}
		}
	})
}

// TestC36_CrashBetweenEndAndRelease kills the server while the sandbox is being
// destroyed.
func TestC36_CrashBetweenEndAndRelease(t *testing.T) {
	for name, remove := range map[string]bool{"with its environment": false, "without": true} {
		t.Run(name, func(t *testing.T) {
			target := newTarget(exit(time.Second, 0))
			target.releaseTime = 10 * time.Second
			inBubble(t, target, func(t *testing.T, b *bed) {
				env := b.box(docker)
				r := b.start(b.in(env, false))
				b.wait(r.ID, func(r environment.Run) bool {
					return r.LeaseID != nil && b.lease(r).Status == environment.LeaseReleasing
				})
				b.server.kill()
				if remove {
					_, err := b.store.DeleteEnvironment(context.Background(), env.ID, environment.DeleteOptions{}, environment.Activity{})
					if err != nil && environment.KindOf(err) != environment.KindConflict {
						t.Errorf("delete: %v, want it done or refused", err)
					}
				}
				b.boot()
				r = b.end(r.ID)
				time.Sleep(leasing.ReleaseLimit + 2*time.Minute)
				left, made := b.target.there()
				if l := b.lease(r); l.Status != environment.LeaseReleased || len(left) != 0 || made != 1 || r.Status != environment.RunSucceeded {
					t.Errorf("run %s, lease %s (%v), left %v of %d", r.Status, l.Status, l.FailureReason, left, made)
				}
			})
		})
	}
}

// TestSandbox_killedAtEveryWrite is the same as on a host: once, whole, and
// nothing left.
func TestSandbox_killedAtEveryWrite(t *testing.T) {
	steps, _, _ := talk()
	for _, after := range []bool{false, true} {
		for n := 2; ; n++ {
			reached := false
			t.Run(fmt.Sprintf("write %d after=%v", n, after), func(t *testing.T) {
				inBubble(t, newTarget(steps...), func(t *testing.T, b *bed) {
					b.server.store.crashAt, b.server.store.after = n, after
					r := b.start(b.in(b.box(docker), false))
					first := b.server
					for range 300 {
						if reached = first.store.dead(); reached || b.run(r.ID).Status.Ended() {
							break
						}
						time.Sleep(100 * time.Millisecond)
					}
					if reached {
						b.boot()
					}
					checkWhole(t, b, b.end(r.ID))
					for range 600 {
						if left, _ := b.target.there(); len(left) == 0 {
							return
						}
						time.Sleep(time.Second)
					}
					left, made := b.target.there()
					t.Errorf("%v of %d sandboxes are left", left, made)
				})
			})
			if !reached {
				break
			}
		}
	}
}

// TestSandbox_isHeldByWhoWorksInIt: the server that lets go of a run beats for its
// lease no more, and the one that takes it up does.
func TestSandbox_isHeldByWhoWorksInIt(t *testing.T) {
	inBubble(t, newTarget(exit(10*time.Minute, 0)), func(t *testing.T, b *bed) {
		r := b.start(b.in(b.box(docker), false))
		b.wait(r.ID, is(environment.RunRunning))
		first, lease := b.server, *b.run(r.ID).LeaseID
		first.stop()
		second := b.boot()
		time.Sleep(5 * time.Minute)
		if held, left := first.held.seen(); len(held) != 0 || len(left) != 1 || left[0] != lease {
			t.Errorf("the first took up %v and let go of %v", held, left)
		}
		if held, left := second.held.seen(); len(held) != 1 || held[0] != lease || len(left) != 0 {
			t.Errorf("the second took up %v and let go of %v", held, left)
		}
		if l := b.lease(b.run(r.ID)); l.Status != environment.LeaseActive || time.Since(l.HeartbeatAt) > time.Minute {
			t.Errorf("lease %s, last beat %s ago", l.Status, time.Since(l.HeartbeatAt))
		}
		if r := b.end(r.ID); r.Status != environment.RunSucceeded || b.target.started(r.ID) != 1 {
			t.Errorf("got %s %+v", r.Status, r.Failure)
		}
		checkClean(t, b)
	})
}
