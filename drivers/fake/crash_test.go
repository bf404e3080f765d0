package fake_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"berth/drivers/fake"
	"berth/environment"

	"go.uber.org/goleak"
)

// worldDir makes this program a server that makes and releases one sandbox, and
// whose script may kill it.
const worldDir = "BERTH_TEST_WORLD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(worldDir); dir != "" {
		serve(dir, os.Getenv("BERTH_TEST_STEP"))
		return
	}
	goleak.VerifyTestMain(m)
}

func crashing(step string) environment.Spec {
	return environment.Spec{Driver: environment.DriverSandbox, InstanceID: [16]byte{1}, EnvironmentID: [16]byte{2}, IdempotencyKey: "the-lease",
		Config: fmt.Appendf(nil, `{"provider":"fake","script":{%q:"crash"}}`, step)}
}

func serve(dir, step string) {
	d := fake.New(fake.Options{Log: slog.New(slog.DiscardHandler), Dir: dir, Now: time.Now,
		Crash: func() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) }})
	ctx, spec := context.Background(), crashing(step)
	ref, err := d.Acquire(ctx, spec)
	ref.Spec = spec
	if err == nil {
		_, err = d.Exec(ctx, ref, environment.Exec{Marker: environment.NewID().String(), Argv: []string{"true"}})
	}
	if err == nil {
		_, err = d.Release(ctx, ref, environment.Destroy)
	}
	fmt.Println("ended", err)
}

// TestCrash kills a server at each step of a lease; the next one, with the same
// script, goes through, and nothing is left.
func TestCrash(t *testing.T) {
	for step, left := range map[string]int{"engine": 0, "image": 0, "acquire.before-create": 0, "acquire.after-create": 1, "start": 1,
		"exec": 1, "release.before": 1, "release.after": 0} {
		t.Run(step, func(t *testing.T) {
			dir := t.TempDir()
			server := func() (string, error) {
				cmd := exec.Command(os.Args[0])
				cmd.Env = append(os.Environ(), worldDir+"="+dir, "BERTH_TEST_STEP="+step)
				out, err := cmd.CombinedOutput()
				return string(out), err
			}
			if out, err := server(); err == nil || !strings.Contains(err.Error(), "killed") {
				t.Fatalf("got %q, %v, want it killed", out, err)
			}
			d, spec := open(dir), crashing(step)
			spec.Config = nil
			if held, err := d.List(t.Context(), spec); err != nil || len(held) != left {
				t.Errorf("after the crash: got %+v, %v, want %d", held, err, left)
			}
			if out, err := server(); err != nil || out != "ended <nil>\n" {
				t.Errorf("again: got %q, %v", out, err)
			}
			if held, err := d.List(t.Context(), spec); err != nil || len(held) != 0 {
				t.Errorf("in the end: got %+v, %v", held, err)
			}
			calls, err := fake.Calls(dir)
			if want := 2 - min(left, 1); err != nil || calls["created"] != want && left == 1 {
				t.Errorf("made %d sandboxes, %v, want %d", calls["created"], err, want)
			}
		})
	}
	d := open(t.TempDir()) // a server that does not crash
	if _, err := d.Acquire(t.Context(), crashing("engine")); environment.CodeOf(err) != "crash_unavailable" {
		t.Errorf("got %v, want crash_unavailable", err)
	}
}

func BenchmarkAcquireRelease(b *testing.B) {
	d := open(b.TempDir())
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			spec := environment.Spec{InstanceID: [16]byte{1}, IdempotencyKey: environment.NewID().String()}
			ref, err := d.Acquire(b.Context(), spec)
			ref.Spec = spec
			if err == nil {
				_, err = d.Release(b.Context(), ref, environment.Destroy)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}
