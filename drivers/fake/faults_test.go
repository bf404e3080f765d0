package fake_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/drivers/fake"
	"berth/environment"
)

// scene is a world with a driver and the spec of a script.
type scene struct {
	*fake.Driver
	dir    string
	spec   environment.Spec
	stages []environment.Stage
}

func play(t *testing.T, script map[string]string) *scene {
	t.Helper()
	config, err := json.Marshal(map[string]any{"provider": "fake", "script": script, "startupTimeoutSec": 20})
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{dir: t.TempDir()}
	s.Driver = open(s.dir)
	s.spec = environment.Spec{Driver: environment.DriverSandbox, Config: config, InstanceID: environment.NewID(), EnvironmentID: environment.NewID(),
		IdempotencyKey: environment.NewID().String(), Report: func(st environment.Stage) { s.stages = append(s.stages, st) }}
	return s
}

func (s *scene) acquire(t *testing.T) environment.Ref {
	t.Helper()
	ref, err := s.Acquire(t.Context(), s.spec)
	if err != nil {
		t.Fatalf("acquire: %v", err)
	}
	ref.Spec = s.spec
	return ref
}

// byKey is a ref of an acquisition whose answer never came.
func (s *scene) byKey() environment.Ref {
	return environment.Ref{Driver: "sandbox", Provider: "fake", Config: s.spec.Config, LeaseKey: s.spec.IdempotencyKey, InstanceID: s.spec.InstanceID, Spec: s.spec}
}

func (s *scene) held(t *testing.T) []environment.Held {
	t.Helper()
	spec := s.spec
	spec.Config = nil // without the script
	held, err := s.List(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return held
}

func (s *scene) calls(t *testing.T) map[string]int {
	t.Helper()
	calls, err := fake.Calls(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	return calls
}

func run(t *testing.T, d environment.Execer, ref environment.Ref, argv ...string) (string, environment.ExecResult, error) {
	t.Helper()
	var out strings.Builder
	result, err := d.Exec(t.Context(), ref, environment.Exec{Marker: environment.NewID().String(), Argv: argv, Grace: 5 * time.Second,
		Output: func(_ environment.Stream, _ int64, data []byte) error { out.Write(data); return nil }})
	return out.String(), result, err
}

// TestFailTimes fails each step of a sandbox's life once, and then not any more.
func TestFailTimes(t *testing.T) {
	tests := []struct {
		step string
		code string // "" is the step's own
		want string
		held int // after the failure
		call func(*scene, context.Context, environment.Ref) error
	}{
		{"probe", "", environment.CodeEngineUnreachable, 1, func(s *scene, ctx context.Context, _ environment.Ref) error {
			if r := s.Probe(ctx, s.spec, func(environment.Stage) {}); !r.OK {
				return environment.Unavailable(r.Code, r.Summary)
			}
			return nil
		}},
		{"engine", environment.CodeEngineDenied, environment.CodeEngineDenied, 0, again},
		{"image", environment.CodeImageDenied, environment.CodeImageDenied, 0, again},
		{"acquire.before-create", "", environment.CodeCreateFailed, 0, again},
		{"acquire.after-create", "", environment.CodeCreateFailed, 1, again},
		{"start", "", environment.CodeStartFailed, 1, again},
		{"exec", "", environment.CodeEngineUnreachable, 1, func(s *scene, ctx context.Context, ref environment.Ref) error {
			_, err := s.Exec(ctx, ref, environment.Exec{Marker: environment.NewID().String(), Argv: []string{"true"}})
			return err
		}},
		{"read", "", environment.CodeEngineUnreachable, 1, func(s *scene, ctx context.Context, ref environment.Ref) error {
			_, err := s.Read(ctx, ref, "")
			return err
		}},
		{"shell", environment.CodeShellUnusable, environment.CodeShellUnusable, 1, func(s *scene, ctx context.Context, ref environment.Ref) error {
			terminal, err := s.Shell(ctx, ref, 80, 24)
			if err != nil {
				return err
			}
			return terminal.Close()
		}},
		{"identity", "", environment.CodeEngineUnreachable, 1, func(s *scene, ctx context.Context, ref environment.Ref) error {
			_, err := s.Identity(ctx, ref)
			return err
		}},
		{"capture", "", environment.CodeEngineUnreachable, 1, func(s *scene, ctx context.Context, ref environment.Ref) error {
			_, err := s.Capture(ctx, ref, environment.CaptureRequest{Key: "k"})
			return err
		}},
		{"delete-image", "", environment.CodeEngineUnreachable, 1, func(s *scene, ctx context.Context, _ environment.Ref) error {
			return s.DeleteImage(ctx, s.spec, environment.ImageIdentity{Kind: environment.ImageSnapshot, SnapshotID: "captured-none"})
		}},
		{"resume", environment.CodeEngineUnreachable, environment.CodeEngineUnreachable, 1, resume},
		{"resume.after", "", environment.CodeStartFailed, 1, resume},
		{"release.before", "", environment.CodeEngineUnreachable, 1, release},
		{"release.after", "", environment.CodeEngineUnreachable, 0, release},
		{"list", "", environment.CodeEngineUnreachable, 1, func(s *scene, ctx context.Context, _ environment.Ref) error {
			_, err := s.List(ctx, s.spec)
			return err
		}},
	}
	seen := map[string]bool{}
	for _, tt := range tests {
		seen[tt.step] = true
		t.Run(tt.step, func(t *testing.T) {
			words := "failTimes=1"
			if tt.code != "" {
				words += " code=" + tt.code
			}
			s := play(t, map[string]string{tt.step: words})
			var ref environment.Ref
			if inAcquire := tt.held == 0 && tt.step != "release.after" || tt.step == "acquire.after-create" || tt.step == "start"; !inAcquire {
				ref = s.acquire(t)
			}
			if err := tt.call(s, t.Context(), ref); environment.CodeOf(err) != tt.want {
				t.Errorf("first: got %v, want %s", err, tt.want)
			}
			if held := s.held(t); len(held) != tt.held {
				t.Errorf("after the failure: got %+v, want %d", held, tt.held)
			}
			if err := tt.call(s, t.Context(), ref); err != nil {
				t.Errorf("second: %v", err)
			}
			if calls := s.calls(t); calls[tt.step] < 2 {
				t.Errorf("counted %v, want both calls of %s", calls, tt.step)
			}
			if _, err := s.Release(t.Context(), s.byKey(), environment.Destroy); err != nil {
				t.Errorf("clean up: %v", err)
			}
		})
	}
	for _, step := range fake.Steps() {
		if !seen[step] {
			t.Errorf("the step %s is not tested", step)
		}
	}
}

func again(s *scene, ctx context.Context, _ environment.Ref) error {
	_, err := s.Acquire(ctx, s.spec)
	return err
}

func resume(s *scene, ctx context.Context, ref environment.Ref) error {
	_, err := s.Resume(ctx, ref, s.spec)
	return err
}

func release(s *scene, ctx context.Context, ref environment.Ref) error {
	_, err := s.Release(ctx, ref, environment.Destroy)
	return err
}

func TestLies(t *testing.T) {
	for lie, check := range map[string]func(environment.Receipt, environment.Ref) bool{
		"accepted": func(r environment.Receipt, ref environment.Ref) bool {
			return r.Outcome == "accepted" && r.ProviderID == ref.ProviderID
		},
		"wrong-id": func(r environment.Receipt, ref environment.Ref) bool {
			return r.Outcome == "destroyed" && r.ProviderID != ref.ProviderID
		},
	} {
		t.Run(lie, func(t *testing.T) {
			s := play(t, map[string]string{"release.before": "lieReceipt=" + lie + " times=1"})
			ref := s.acquire(t)
			if got, err := s.Release(t.Context(), ref, environment.Destroy); err != nil || !check(got, ref) || len(s.held(t)) != 1 {
				t.Errorf("got %+v, %v, want a lie and nothing destroyed", got, err)
			}
			if got, err := s.Release(t.Context(), ref, environment.Destroy); err != nil || got.Outcome != "destroyed" || got.ProviderID != ref.ProviderID || len(s.held(t)) != 0 {
				t.Errorf("again: got %+v, %v, want the truth", got, err)
			}
		})
	}
}

func TestLoseAnswer(t *testing.T) {
	s := play(t, map[string]string{"release.before": "loseAnswer times=1", "exec": "loseAnswer times=1", "resume": "loseAnswer times=1"})
	ref := s.acquire(t)
	if _, _, err := run(t, s, ref, "touch", "done"); environment.CodeOf(err) != environment.CodeConnectionLost {
		t.Errorf("exec: got %v, want %s", err, environment.CodeConnectionLost)
	}
	if out, _, err := run(t, s, ref, "ls"); err != nil || out != "done\n" {
		t.Errorf("it was not done: %q, %v", out, err)
	}
	if err := resume(s, t.Context(), ref); environment.CodeOf(err) != environment.CodeConnectionLost {
		t.Errorf("resume: got %v, want %s", err, environment.CodeConnectionLost)
	}
	if _, err := s.Release(t.Context(), ref, environment.Destroy); environment.CodeOf(err) != environment.CodeConnectionLost || len(s.held(t)) != 0 {
		t.Errorf("release: got %v, want it destroyed and %s", err, environment.CodeConnectionLost)
	}
}

func TestLose(t *testing.T) {
	s := play(t, map[string]string{"exec": "lose delayMs=100"})
	ref := s.acquire(t)
	began := time.Now()
	if _, _, err := run(t, s, ref, "sleep", "433000"); environment.CodeOf(err) != environment.CodeSandboxGone || time.Since(began) > 10*time.Second {
		t.Errorf("exec: got %v after %s, want %s soon", err, time.Since(began), environment.CodeSandboxGone)
	}
	for _, step := range []string{"acquire.after-create", "start"} {
		s := play(t, map[string]string{step: "lose times=1"})
		if err := again(s, t.Context(), environment.Ref{}); environment.CodeOf(err) != environment.CodeSandboxGone || len(s.held(t)) != 0 {
			t.Errorf("%s: got %v, want %s", step, err, environment.CodeSandboxGone)
		}
	}
	s = play(t, map[string]string{"resume": "lose"})
	if err := resume(s, t.Context(), s.acquire(t)); environment.CodeOf(err) != environment.CodeSandboxGone {
		t.Errorf("resume: got %v, want %s", err, environment.CodeSandboxGone)
	}
}

func TestOutput(t *testing.T) {
	s := play(t, map[string]string{"exec": "bigAnswerBytes=100000 echo times=1"})
	ref := s.acquire(t)
	if out, result, err := run(t, s, ref, "rm", "-rf", "a b"); err != nil || result.ExitCode != 0 || out != strings.Repeat("x", 100_000)+"rm\n-rf\na b\n" {
		t.Errorf("got %d bytes, %+v, %v", len(out), result, err)
	}
	if out, _, err := run(t, s, ref, "echo", "plain"); err != nil || out != "plain\n" {
		t.Errorf("afterwards: got %q, %v", out, err)
	}
	if _, err := s.Release(t.Context(), ref, environment.Destroy); err != nil {
		t.Error(err)
	}
}

// TestC33_OnlyReadyIsReady asks a sandbox whose status is, in turn, starting,
// nothing, an unknown word and ready.
func TestC33_OnlyReadyIsReady(t *testing.T) {
	s := play(t, map[string]string{"start": "statusWords=starting,,warming,ready"})
	s.acquire(t)
	var said []string
	for _, stage := range s.stages {
		if stage.Name != "start" {
			continue
		}
		said = append(said, string(stage.Status)+": "+stage.Message)
		if stage.Code != "" || stage.Severity != "info" {
			t.Errorf("a start that takes its time looks like a failure: %+v", stage)
		}
	}
	want := []string{"running: ", "running: Not ready yet: the sandbox is starting.", "running: Not ready yet: the sandbox says nothing about its state.",
		`running: Not ready yet: the sandbox says "warming".`, "ok: The sandbox is ready."}
	if strings.Join(said, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(said, "\n"), strings.Join(want, "\n"))
	}

	never := play(t, map[string]string{"start": "statusWords=starting,healthy"})
	never.spec.Config = []byte(strings.Replace(string(never.spec.Config), `"startupTimeoutSec":20`, `"startupTimeoutSec":1`, 1))
	_, err := never.Acquire(t.Context(), never.spec)
	if environment.CodeOf(err) != environment.CodeStartFailed || environment.KindOf(err) != environment.KindTimeout || !strings.Contains(err.Error(), `"healthy"`) {
		t.Errorf("never ready: got %v, want %s and the unknown word", err, environment.CodeStartFailed)
	}
}

// TestC34_ParallelAcquisitions asks twenty times at once for one lease whose
// creation takes two seconds.
func TestC34_ParallelAcquisitions(t *testing.T) {
	s := play(t, map[string]string{"acquire.before-create": "delayMs=2000"})
	s.spec.Report = nil
	other := open(s.dir) // another server
	ids := make([]string, 20)
	var all sync.WaitGroup
	for i := range ids {
		all.Go(func() {
			d := s.Driver
			if i%2 == 0 {
				d = other
			}
			ref, err := d.Acquire(t.Context(), s.spec)
			if err != nil {
				t.Errorf("acquire: %v", err)
			}
			ids[i] = ref.ProviderID
		})
	}
	all.Wait()
	for _, id := range ids {
		if id != ids[0] || id == "" {
			t.Errorf("got %v, want one id", ids)
			break
		}
	}
	if calls := s.calls(t); calls["created"] != 1 || calls["acquire.before-create"] != 20 {
		t.Errorf("counted %v, want 20 calls and one creation", calls)
	}
	if _, err := s.Release(t.Context(), s.byKey(), environment.Destroy); err != nil || len(s.held(t)) != 0 {
		t.Errorf("after release: %v, %+v", err, s.held(t))
	}
}

// TestC86_LostAnswerOfCreate makes a sandbox and loses the answer, beside one
// that is somebody else's.
func TestC86_LostAnswerOfCreate(t *testing.T) {
	s := play(t, map[string]string{"acquire.after-create": "loseAnswer times=1"})
	stranger := environment.Spec{InstanceID: environment.NewID(), IdempotencyKey: s.spec.IdempotencyKey}
	theirs, err := s.Acquire(t.Context(), stranger)
	if err != nil {
		t.Fatal(err)
	}
	if err := again(s, t.Context(), environment.Ref{}); environment.CodeOf(err) != environment.CodeConnectionLost {
		t.Fatalf("acquire: got %v, want %s", err, environment.CodeConnectionLost)
	}
	made := s.held(t)
	if len(made) != 1 || made[0].LeaseKey != s.spec.IdempotencyKey {
		t.Fatalf("got %+v, want the sandbox whose answer was lost", made)
	}
	if ref := s.acquire(t); ref.ProviderID != made[0].ProviderID {
		t.Errorf("a retry made %s beside %s", ref.ProviderID, made[0].ProviderID)
	}
	receipt, err := s.Release(t.Context(), s.byKey(), environment.Destroy)
	if err != nil || receipt.Outcome != "destroyed" || receipt.ProviderID != made[0].ProviderID || len(s.held(t)) != 0 {
		t.Errorf("clean up: got %+v, %v, left %+v", receipt, err, s.held(t))
	}
	if left, err := s.List(t.Context(), stranger); err != nil || len(left) != 1 || left[0].ProviderID != theirs.ProviderID {
		t.Errorf("the stranger's: got %+v, %v, want it untouched", left, err)
	}
}
