package docker_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"berth/drivers/docker"
	"berth/drivers/docker/enginetest"
	"berth/environment"
)

// TestNameOfAnother meets a container that has the lease's name and is not ours.
func TestNameOfAnother(t *testing.T) {
	t.Parallel()
	e := shared.Engine(t)
	d := driver(t, docker.Options{})
	first := specOf(t, e, e.Busybox(t))
	ref := acquire(t, d, first)
	second := first
	second.InstanceID = environment.NewID() // another installation, the same lease id
	err := refused(t, e, d, second, environment.CodeCreateFailed)
	if !strings.Contains(err.Message, "name") {
		t.Errorf("it says %q", err.Message)
	}
	if c := inspected(t, e, ref.ProviderID); !c.State.Running {
		t.Error("the other's was touched")
	}
}

// TestUnlabelledIsLeftAlone releases by the id of a container without labels, and of
// one whose labels are of another lease.
func TestUnlabelledIsLeftAlone(t *testing.T) {
	t.Parallel()
	e := shared.Engine(t)
	d := driver(t, docker.Options{})
	ours := acquire(t, d, specOf(t, e, e.Busybox(t)))
	for name, labels := range map[string]map[string]string{
		"none": {}, "another lease": {"berth.instance": ours.InstanceID.String(), "berth.lease": "other"}, "another installation": {"berth.instance": "other", "berth.lease": ours.LeaseKey},
	} {
		id := e.Create(t, e.Busybox(t), labels)
		claimed := ours
		claimed.ProviderID = id
		for _, how := range []environment.Disposition{environment.Destroy, environment.StopAndRetain, environment.Keep} {
			if receipt, err := d.Release(t.Context(), claimed, how); environment.CodeOf(err) != environment.CodeSandboxMismatch {
				t.Errorf("%s: release %s: got %+v, %v", name, how, receipt, err)
			}
		}
		if _, err := d.Resume(t.Context(), claimed, claimed.Spec); environment.CodeOf(err) != environment.CodeSandboxMismatch {
			t.Errorf("%s: resume: got %v", name, err)
		}
		if _, err := d.Identity(t.Context(), claimed); environment.CodeOf(err) != environment.CodeSandboxMismatch {
			t.Errorf("%s: identity: got %v", name, err)
		}
		if _, err := d.Capture(t.Context(), claimed, environment.CaptureRequest{Key: "k"}); environment.CodeOf(err) != environment.CodeSandboxMismatch {
			t.Errorf("%s: capture: got %v", name, err)
		}
		if c := inspected(t, e, id); !c.State.Running {
			t.Errorf("%s: it was touched", name)
		}
		e.Remove(t, id)
	}
}

func TestReceipts(t *testing.T) {
	t.Parallel()
	e := shared.Engine(t)
	d := driver(t, docker.Options{})
	ref := acquire(t, d, specOf(t, e, e.Busybox(t)))
	began := time.Now()
	for _, step := range []struct {
		how     environment.Disposition
		outcome string
	}{{environment.Keep, "released"}, {environment.StopAndRetain, "stopped"}, {environment.StopAndRetain, "stopped"}, {environment.Destroy, "destroyed"},
		{environment.Destroy, "gone"}, {environment.StopAndRetain, "gone"}, {environment.Keep, "gone"}} {
		receipt, err := d.Release(t.Context(), ref, step.how)
		if err != nil || receipt.Outcome != step.outcome || receipt.ProviderID != ref.ProviderID || receipt.At.IsZero() {
			t.Errorf("%s: got %+v, %v, want %s", step.how, receipt, err, step.outcome)
		}
	}
	lessThan(t, began, 8*time.Second) // a stop that waited for KILL would take 5 s more each
}

func TestStartIsWaitedFor(t *testing.T) {
	t.Parallel()
	e := shared.Engine(t)
	d := driver(t, docker.Options{})
	var words []any
	spec := specOf(t, e, e.Slow(t, time.Second))
	spec.Report = func(s environment.Stage) {
		if s.Name == "start" {
			words = append(words, s.Measured["status"])
		}
	}
	ref := acquire(t, d, spec)
	if len(words) < 3 || words[1] != "starting" || words[len(words)-1] != "healthy" {
		t.Errorf("the stage said %v, want starting, then healthy", words)
	}
	if _, err := d.Release(t.Context(), ref, environment.StopAndRetain); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if _, err := d.Resume(t.Context(), ref, spec); err != nil || time.Since(began) < 900*time.Millisecond {
		t.Errorf("resume: %v after %s, want it to wait for its health", err, time.Since(began))
	}
}

func TestStartFails(t *testing.T) {
	t.Parallel()
	e := shared.Engine(t)
	d := driver(t, docker.Options{})
	t.Run("it stays unhealthy", func(t *testing.T) {
		began := time.Now()
		err := refused(t, e, d, specOf(t, e, e.Unhealthy(t), settings{"startupTimeoutSec": 3}), environment.CodeStartFailed)
		if err.Details["status"] != "unhealthy" || time.Since(began) < 2900*time.Millisecond {
			t.Errorf("got %+v after %s, want the whole startup time", err.Details, time.Since(began))
		}
	})
	t.Run("no shell, in a probe", func(t *testing.T) {
		spec := specOf(t, e, e.NoShell(t))
		spec.OwnerKind = environment.OwnerProbe
		err := refused(t, e, d, spec, environment.CodeStartFailed)
		if !strings.Contains(err.Remediation, "/bin/sh") {
			t.Errorf("it says %q, to do %q", err.Message, err.Remediation)
		}
	})
	t.Run("no shell, at the first command", func(t *testing.T) {
		ref, err := d.Acquire(t.Context(), specOf(t, e, e.NoShell(t)))
		if err != nil {
			return // it ended soon enough to be noticed
		}
		defer func() { _, _ = d.Release(context.Background(), ref, environment.Destroy) }()
		began := time.Now()
		_, err = d.Exec(t.Context(), ref, environment.Exec{Marker: "m", Argv: []string{"true"}, Grace: 20 * time.Second})
		if !strings.Contains(environment.AsError(err).Remediation, "/bin/sh") {
			t.Errorf("got %v", err)
		}
		lessThan(t, began, 5*time.Second)
	})
	t.Run("no such network", func(t *testing.T) {
		err := refused(t, e, d, specOf(t, e, e.Busybox(t), settings{"network": "nowhere"}), environment.CodeStartFailed)
		if !strings.Contains(err.Remediation, "network") {
			t.Errorf("it says %q, to do %q", err.Message, err.Remediation)
		}
	})
	t.Run("no such runtime", func(t *testing.T) {
		err := refused(t, e, d, specOf(t, e, e.Busybox(t), settings{"runtime": "nothing"}), environment.CodeCreateFailed)
		if !strings.Contains(err.Remediation, "runtime") {
			t.Errorf("it says %q, to do %q", err.Message, err.Remediation)
		}
	})
	t.Run("no such user", func(t *testing.T) {
		refused(t, e, d, specOf(t, e, e.Busybox(t), settings{"user": "nobody-here"}), environment.CodeStartFailed)
	})
}

// TestResumeThatFails leaves the sandbox as it was.
func TestResumeThatFails(t *testing.T) {
	t.Parallel()
	e := shared.Engine(t)
	proxy := enginetest.NewProxy(t, e)
	d := driver(t, docker.Options{})
	ref := acquire(t, d, specOf(t, e, e.Slow(t, 2*time.Second), settings{"engine": proxy.Host, "startupTimeoutSec": 30}))
	if _, err := d.Release(t.Context(), ref, environment.StopAndRetain); err != nil {
		t.Fatal(err)
	}
	stopped := func() {
		t.Helper()
		if c := inspected(t, e, ref.ProviderID); c.State.Running {
			t.Error("it runs")
		}
	}
	proxy.Refuse("/start", 1)
	if _, err := d.Resume(t.Context(), ref, ref.Spec); environment.CodeOf(err) != environment.CodeEngineUnreachable {
		t.Errorf("the engine is lost: got %v", err)
	}
	stopped()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	_, err := d.Resume(ctx, ref, ref.Spec)
	cancel()
	if code := environment.CodeOf(err); code != environment.CodeStartFailed {
		t.Errorf("no time for its health: got %v", err)
	}
	stopped()
	if again, err := d.Resume(t.Context(), ref, ref.Spec); err != nil || again.ProviderID != ref.ProviderID {
		t.Errorf("then: got %v", err)
	}
	other := ref
	other.Image = &environment.ImageIdentity{Kind: environment.ImageLocal, ImageID: "sha256:" + strings.Repeat("ab", 32)}
	if _, err := d.Resume(t.Context(), other, ref.Spec); environment.CodeOf(err) != environment.CodeSandboxMismatch {
		t.Errorf("of another image: got %v", err)
	}
}

// TestCancelledAcquire cancels at each stage; nothing is left whenever it was.
func TestCancelledAcquire(t *testing.T) {
	t.Parallel()
	e := shared.Engine(t)
	d := driver(t, docker.Options{})
	for _, stage := range []string{"engine", "image", "create", "start"} {
		for _, status := range []environment.StageStatus{environment.StageRunning, environment.StageOK} {
			ctx, cancel := context.WithCancel(t.Context())
			spec := specOf(t, e, e.Slow(t, time.Second))
			spec.Report = func(s environment.Stage) {
				if s.Name == stage && s.Status == status {
					cancel()
				}
			}
			ref, err := d.Acquire(ctx, spec)
			cancel()
			if err == nil { // it was too late
				if _, err := d.Release(t.Context(), ref, environment.Destroy); err != nil || stage != "start" {
					t.Errorf("%s %s: it was made; release: %v", stage, status, err)
				}
				continue
			}
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s %s: got %v, want it cancelled", stage, status, err)
			}
			if left := e.IDs(t, "berth.instance="+spec.InstanceID.String()); len(left) > 0 {
				t.Errorf("%s %s: left behind %v", stage, status, left)
			}
		}
	}
}
