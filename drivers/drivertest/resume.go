package drivertest

import (
	"context"
	"testing"
	"time"

	"berth/environment"
)

func (x *sandboxes) target(ref environment.Ref) *target { return &target{driver: x.driver, ref: ref} }

func (x *sandboxes) resumes(t *testing.T) {
	resumer := x.driver.(environment.Resumer)
	ref := x.acquire(t)
	if x.can.Exec {
		x.target(ref).sh(t, "echo kept >note; sleep 432600 >/dev/null 2>&1 & echo $! >pid")
	}
	again, err := resumer.Resume(t.Context(), ref, ref.Spec)
	if err != nil || again.ProviderID != ref.ProviderID || again.Dir != ref.Dir {
		t.Errorf("one that runs: got %+v, %v, want it as it is", again, err)
	}
	ref = stored(t, ref)
	for range 2 {
		x.release(t, ref, environment.StopAndRetain, "stopped", ref.ProviderID)
	}
	if held := x.held(t, x.spec); x.can.List && (len(held) != 1 || held[ref.ProviderID].Running) {
		t.Errorf("listed: got %+v, want it, stopped", held)
	}
	// The lease that picks it up is another one.
	spec := ref.Spec
	spec.IdempotencyKey = environment.NewID().String()
	again, err = resumer.Resume(t.Context(), ref, spec)
	if err != nil || again.ProviderID != ref.ProviderID {
		t.Fatalf("resume: got %+v, %v, want %s", again, err, ref.ProviderID)
	}
	again.Spec = spec
	if x.can.Exec {
		if got := x.target(again).sh(t, "cat note"); got != "kept\n" {
			t.Errorf("the workspace has %q, want what was kept", got)
		}
		if left := x.target(again).commandsWith(t, "432600"); left != "" {
			t.Errorf("it did not stop: %s", left)
		}
	}
	x.release(t, stored(t, again), environment.Destroy, "destroyed", ref.ProviderID)
}

func (x *sandboxes) goneIsNotResumed(t *testing.T) {
	ref := x.acquire(t)
	x.release(t, ref, environment.Destroy, "destroyed", ref.ProviderID)
	_, err := x.driver.(environment.Resumer).Resume(t.Context(), ref, ref.Spec)
	if codeOf(err) != environment.CodeSandboxGone || environment.KindOf(err) != environment.KindNotFound {
		t.Errorf("got %v, want %s", err, environment.CodeSandboxGone)
	}
	if held := x.held(t, x.spec); len(held) > 0 {
		t.Errorf("it made another: %+v", held)
	}
}

// lostEndsExec takes a sandbox away under a command.
func (x *sandboxes) lostEndsExec(t *testing.T) {
	ref := x.acquire(t)
	c, ready := stopWhen(t, "ready")
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-ready:
			x.destroy(t, ref)
		case <-t.Context().Done():
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second)
	defer cancel()
	began := time.Now()
	o := x.target(ref).runWith(ctx, t, environment.Exec{Argv: []string{"sh", "-c", "echo ready; sleep 432700"}, Grace: 10 * time.Second}, c)
	<-done
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %s", took)
	}
	if !isLost(o.err) {
		t.Errorf("got %v, want %s", o, environment.CodeSandboxGone)
	}
	if o = x.target(ref).run(t, environment.Exec{Argv: []string{"true"}}); !isLost(o.err) {
		t.Errorf("a command for what is gone: got %v, want %s", o, environment.CodeSandboxGone)
	}
}

// isLost reports whether an error says that there is nothing to run in any more.
func isLost(err error) bool {
	code := codeOf(err)
	return code == environment.CodeSandboxGone || code == environment.CodeConnectionLost
}
