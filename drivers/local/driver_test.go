package local_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/drivers/drivertest"
	"berth/drivers/local"
	"berth/environment"

	"go.uber.org/goleak"
)

// serverDir makes this program a server that runs one command and is killed.
const serverDir = "BERTH_TEST_SERVER_DIR"

const serverMarker = "01990000-0000-7000-8000-00000000dead"

func TestMain(m *testing.M) {
	if dir := os.Getenv(serverDir); dir != "" {
		serve(dir)
		return
	}
	goleak.VerifyTestMain(m)
}

func open(dir string) *local.Driver {
	return local.New(local.Options{Log: slog.New(slog.DiscardHandler), DataDir: dir, Now: time.Now})
}

func TestDriver(t *testing.T) {
	drivertest.Run(t, func(t *testing.T) (environment.Driver, environment.Spec) {
		return open(t.TempDir()), environment.Spec{Driver: environment.DriverLocal}
	}, environment.Capabilities{Driver: "local", DisplayName: "Local", Configure: true, Probe: true, Exec: true, Files: true})
}

// serve is the server that will be killed.
func serve(dir string) {
	d := open(dir)
	ref, err := d.Acquire(context.Background(), environment.Spec{})
	if err == nil {
		_, err = d.Exec(context.Background(), ref, environment.Exec{Marker: serverMarker, Grace: 20 * time.Second,
			Argv:   []string{"sh", "-c", "echo before; while [ ! -e go ]; do sleep 0.1; done; echo after; exit 5"},
			Output: func(environment.Stream, int64, []byte) error { _, err := fmt.Println("running"); return err }})
	}
	fmt.Println("ended", err)
}

// TestRunSurvivesTheServer kills a server with -9 while it runs a command, and
// takes the command up from another.
func TestRunSurvivesTheServer(t *testing.T) {
	dir := t.TempDir()
	server := exec.Command(os.Args[0])
	server.Env = append(os.Environ(), serverDir+"="+dir)
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	said := make([]byte, len("running"))
	if _, err := out.Read(said); err != nil || string(said) != "running" {
		t.Fatalf("the server said %q, %v", said, err)
	}
	if err := server.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = server.Wait() // it was killed
	if err := os.WriteFile(filepath.Join(dir, "work", "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}

	d := open(dir)
	ref, err := d.Acquire(t.Context(), environment.Spec{})
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	result, err := d.Exec(t.Context(), ref, environment.Exec{Marker: serverMarker, Argv: []string{"false"}, Resume: true, Grace: 20 * time.Second,
		Output: func(_ environment.Stream, _ int64, data []byte) error { got.Write(data); return nil }})
	if err != nil || result.ExitCode != 5 || result.Ended != "exit" || got.String() != "before\nafter\n" {
		t.Errorf("got %+v, %v, %q", result, err, got.String())
	}
}

func TestAcquire(t *testing.T) {
	dir := t.TempDir()
	d := open(dir)
	ref, err := d.Acquire(t.Context(), environment.Spec{Config: json.RawMessage(`{"a":1}`)})
	if err != nil {
		t.Fatal(err)
	}
	if want := "local://" + ref.Host.Name + dir + "/work"; ref.ProviderID != want || ref.Dir != dir+"/work" || string(ref.Config) != `{"a":1}` {
		t.Errorf("got %+v, want provider id %s", ref, want)
	}
	if err := os.RemoveAll(ref.Dir); err != nil {
		t.Fatal(err)
	}
	if receipt, err := d.Release(t.Context(), ref, environment.Destroy); err != nil || receipt.Outcome != "gone" {
		t.Errorf("release of what is gone: got %+v, %v", receipt, err)
	}
}

func TestWorkspaceProblems(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct{ dir, code string }{
		"cannot be made":       {file, environment.CodeWorkspaceMissing},
		"cannot be written to": {readOnly(t), environment.CodeWorkspaceNotWritable},
	} {
		t.Run(name, func(t *testing.T) {
			d := open(tt.dir)
			if _, err := d.Acquire(t.Context(), environment.Spec{}); environment.CodeOf(err) != tt.code {
				t.Errorf("acquire: got %v, want %s", err, tt.code)
			}
			result := d.Probe(t.Context(), environment.Spec{}, func(environment.Stage) {})
			if result.OK || result.Code != tt.code || len(result.Stages) != 1 || result.Stages[0].Status != environment.StageFailed || result.Stages[0].Remediation == "" {
				t.Errorf("probe: got %+v, want %s", result, tt.code)
			}
		})
	}
}

// readOnly returns a data folder whose workspace nobody, not even root, can
// write to: a folder of the kernel's.
func readOnly(t *testing.T) string {
	dir := t.TempDir()
	if err := os.Symlink("/proc/self", filepath.Join(dir, "work")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestProbeSaysHowLittleItProves(t *testing.T) {
	result := open(t.TempDir()).Probe(t.Context(), environment.Spec{}, func(environment.Stage) {})
	if !result.OK || len(result.Stages) != 1 || result.Stages[0].Name != "host" || !strings.Contains(result.Stages[0].Message, "proves the host and the folder only") {
		t.Errorf("got %+v", result)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if result := open(t.TempDir()).Probe(ctx, environment.Spec{}, func(environment.Stage) {}); result.OK || result.Code != environment.CodeTimedOut {
		t.Errorf("stopped: got %+v, want timed_out", result)
	}
}

func TestConfigure(t *testing.T) {
	d := open(t.TempDir())
	out, err := d.Configure(environment.ConfigInput{Config: map[string]json.RawMessage{"b": json.RawMessage(`{"x": [1]}`), "a": json.RawMessage("null")}})
	if err != nil || string(out.Config) != `{"a":null,"b":{"x":[1]}}` {
		t.Errorf("got %s, %v", out.Config, err)
	}
	if out, err = d.Configure(environment.ConfigInput{}); err != nil || string(out.Config) != "{}" {
		t.Errorf("nothing: got %s, %v", out.Config, err)
	}
	_, err = d.Configure(environment.ConfigInput{Config: map[string]json.RawMessage{"a": json.RawMessage("{")}})
	if e := environment.AsError(err); e == nil || len(e.Fields) != 1 || e.Fields[0].Field != "config.a" {
		t.Errorf("not JSON: got %v", err)
	}
	if d.Describe(nil) == "" {
		t.Error("it does not say where it works")
	}
}
