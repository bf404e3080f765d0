package docker_test

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/drivers/docker"
	"berth/drivers/docker/enginetest"
	"berth/environment"
)

// TestC86_LostAnswers loses the engine's answer to each call of an acquisition.
func TestC86_LostAnswers(t *testing.T) {
	t.Parallel()
	e := shared.Engine(t)
	for _, call := range []string{"/containers/create", "/start", "/json"} {
		for _, lose := range []bool{true, false} {
			proxy := enginetest.NewProxy(t, e)
			d := driver(t, docker.Options{})
			spec := specOf(t, e, e.Busybox(t), settings{"engine": proxy.Host})
			if lose {
				proxy.LoseAnswer(call, 1)
			} else {
				proxy.Refuse(call, 1)
			}
			ref, err := d.Acquire(t.Context(), spec)
			label := "berth.instance=" + spec.InstanceID.String()
			held := e.IDs(t, label)
			switch {
			case err == nil && (len(held) != 1 || held[0] != ref.ProviderID):
				t.Errorf("%s lost %v: it holds %v, want %s", call, lose, held, ref.ProviderID)
			case err != nil && len(held) > 0 && environment.AsError(err).Details["providerLeaseId"] == nil:
				t.Errorf("%s lost %v: left behind %v with %v", call, lose, held, err)
			}
			again, err := d.Acquire(t.Context(), spec)
			if err != nil {
				t.Errorf("%s lost %v: again: %v", call, lose, err)
			}
			if held := e.IDs(t, label); len(held) != 1 || held[0] != again.ProviderID {
				t.Errorf("%s lost %v: again it holds %v, want one", call, lose, held)
			}
			ref = environment.Ref{LeaseKey: spec.IdempotencyKey, InstanceID: spec.InstanceID, Config: spec.Config, Spec: spec} // as if no answer had come
			if receipt, err := d.Release(t.Context(), ref, environment.Destroy); err != nil || receipt.Outcome != "destroyed" {
				t.Errorf("%s lost %v: release: %+v, %v", call, lose, receipt, err)
			}
			if held := e.IDs(t, label); len(held) > 0 {
				t.Errorf("%s lost %v: still there: %v", call, lose, held)
			}
		}
	}
}

// TestRemovalThatCannotBeConfirmed says where to look.
func TestRemovalThatCannotBeConfirmed(t *testing.T) {
	t.Parallel()
	e := shared.Engine(t)
	proxy := enginetest.NewProxy(t, e)
	d := driver(t, docker.Options{Limits: docker.Limits{Cleanup: 2 * time.Second}})
	spec := specOf(t, e, e.Unhealthy(t), settings{"engine": proxy.Host, "startupTimeoutSec": 1})
	proxy.Refuse("DELETE", 100)
	_, err := d.Acquire(t.Context(), spec)
	held := e.IDs(t, "berth.instance="+spec.InstanceID.String())
	if len(held) != 1 || environment.CodeOf(err) != environment.CodeStartFailed || environment.AsError(err).Details["providerLeaseId"] != held[0] {
		t.Errorf("got %v, %v, want the detail %v", err, environment.AsError(err).Details, held)
	}
	ref := environment.Ref{ProviderID: held[0], LeaseKey: spec.IdempotencyKey, InstanceID: spec.InstanceID, Config: spec.Config, Spec: spec}
	if receipt, err := d.Release(t.Context(), ref, environment.Destroy); err == nil {
		t.Errorf("a receipt without a removal: %+v", receipt)
	}
	e.Remove(t, held[0])
}

// capture runs a command in the background.
type capture struct {
	mu    sync.Mutex
	out   bytes.Buffer
	ready chan struct{}
	once  sync.Once
	done  chan error
	code  int
}

func start(t *testing.T, d *docker.Driver, ref environment.Ref, script string, grace time.Duration) *capture {
	c := &capture{ready: make(chan struct{}), done: make(chan error, 1)}
	go func() {
		r, err := d.Exec(t.Context(), ref, environment.Exec{Marker: environment.NewID().String(), Argv: []string{"sh", "-c", script}, Grace: grace,
			Output: func(_ environment.Stream, _ int64, data []byte) error {
				c.mu.Lock()
				defer c.mu.Unlock()
				if c.out.Write(data); strings.Contains(c.out.String(), "ready\n") {
					c.once.Do(func() { close(c.ready) })
				}
				return nil
			}})
		c.code = r.ExitCode
		c.done <- err
	}()
	return c
}

func (c *capture) wait(t *testing.T) {
	t.Helper()
	select {
	case <-c.ready:
	case err := <-c.done:
		t.Fatalf("it ended before it was ready: %v", err)
	}
}

// TestConnectionBreaks cuts and hangs the connection under a command, which goes on.
func TestConnectionBreaks(t *testing.T) {
	t.Parallel()
	e := shared.Engine(t)
	proxy := enginetest.NewProxy(t, e)
	d := driver(t, docker.Options{})
	ref := acquire(t, d, specOf(t, e, e.Busybox(t), settings{"engine": proxy.Host}))
	c := start(t, d, ref, "echo ready; i=0; while [ $i -lt 20 ]; do i=$((i+1)); echo line $i; sleep 0.1; done; exit 7", 20*time.Second)
	c.wait(t)
	proxy.Cut()
	if err := <-c.done; err != nil || c.code != 7 || strings.Count(c.out.String(), "line ") != 20 {
		t.Errorf("got exit %d, %v, %q", c.code, err, c.out.String())
	}
}

// TestEngineRestarts ends the engine under a command: its sandbox ends with it, and
// the command is told so as soon as the engine is back.
func TestEngineRestarts(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t, enginetest.Options{})
	d := driver(t, docker.Options{})
	spec := specOf(t, e, e.Busybox(t))
	ref := acquire(t, d, spec)
	c := start(t, d, ref, "echo ready; sleep 600", 60*time.Second)
	c.wait(t)
	e.Stop(t)
	if _, err := d.Release(t.Context(), ref, environment.Destroy); environment.CodeOf(err) != environment.CodeEngineUnreachable {
		t.Errorf("release without the engine: got %v", err)
	}
	e.Run(t)
	began := time.Now()
	err := <-c.done
	if environment.CodeOf(err) != environment.CodeConnectionLost || environment.AsError(err).Details["sandbox"] != "stopped" {
		t.Errorf("got %v, %v", err, environment.AsError(err).Details)
	}
	lessThan(t, began, 10*time.Second)
	if ref, err = d.Resume(t.Context(), ref, spec); err != nil {
		t.Fatalf("resume after it: %v", err)
	}
	if got := run(t, d, ref, "echo back"); got != "back\n" {
		t.Errorf("got %q", got)
	}
	t.Run("killed", func(t *testing.T) {
		c := start(t, d, ref, "echo ready; sleep 600", 60*time.Second)
		c.wait(t)
		e.Kills(t, ref.ProviderID)
		if err := <-c.done; environment.CodeOf(err) != environment.CodeConnectionLost {
			t.Errorf("got %v", err)
		}
	})
	t.Run("killed as its shell opens", func(t *testing.T) {
		for i := range 8 {
			if ref, err = d.Resume(t.Context(), ref, spec); err != nil {
				t.Fatal(err)
			}
			failed := make(chan error, 1)
			go func() {
				_, err := d.Exec(t.Context(), ref, environment.Exec{Marker: environment.NewID().String(), Argv: []string{"sleep", "60"}, Grace: time.Minute})
				failed <- err
			}()
			<-time.After(time.Duration(i) * 10 * time.Millisecond)
			e.Kills(t, ref.ProviderID)
			if err := <-failed; environment.CodeOf(err) != environment.CodeConnectionLost {
				t.Errorf("after %d ms: got %v", 10*i, err)
			}
		}
	})
}

// TestEngineHangs makes it answer nothing in the middle of things.
func TestEngineHangs(t *testing.T) {
	t.Parallel()
	e := shared.Engine(t)
	proxy := enginetest.NewProxy(t, e)
	d := driver(t, docker.Options{Limits: docker.Limits{Call: time.Second, Dial: time.Second, Cleanup: time.Second}})
	spec := specOf(t, e, e.Busybox(t), settings{"engine": proxy.Host, "startupTimeoutSec": 5})
	ref := acquire(t, d, spec)
	proxy.Hang()
	began := time.Now()
	if _, err := d.Release(t.Context(), ref, environment.Destroy); environment.CodeOf(err) != environment.CodeEngineUnreachable {
		t.Errorf("release: got %v", err)
	}
	other := spec
	other.IdempotencyKey = environment.NewID().String()
	if _, err := d.Acquire(t.Context(), other); environment.CodeOf(err) != environment.CodeEngineUnreachable {
		t.Errorf("acquire: got %v", err)
	}
	if _, err := d.Read(t.Context(), ref, ""); err == nil {
		t.Error("a folder was read")
	}
	lessThan(t, began, 15*time.Second)
	proxy.Go()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	late := environment.Ref{LeaseKey: other.IdempotencyKey, InstanceID: other.InstanceID, Config: other.Config, Spec: other}
	if _, err := d.Release(ctx, late, environment.Destroy); err != nil { // it may have been made, late
		t.Errorf("release what may be there: %v", err)
	}
}

func TestDiskOfTheEngineIsFull(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t, enginetest.Options{DiskMiB: 64})
	registry := enginetest.StartRegistry(t, enginetest.RegistryOptions{})
	source := shared.Engine(t)
	digest := registry.Push(t, source, source.Variant(t, "disk"), "team/disk:1")
	image := e.Busybox(t)
	d := driver(t, docker.Options{})
	e.FillDisk(t)
	for _, image := range []string{registry.Address + "/team/disk@" + digest, image} {
		err := refused(t, e, d, specOf(t, e, image), environment.CodeDiskLow)
		if !strings.Contains(err.Message, "full") {
			t.Errorf("%s: it says %q", image, err.Message)
		}
	}
	e.FreeDisk(t)
	acquire(t, d, specOf(t, e, image))
}
