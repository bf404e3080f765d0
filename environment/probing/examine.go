package probing

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"berth/environment"
	"berth/environment/crew"
)

// Limits of the look into a sandbox.
const (
	examineLimit = 15 * time.Second // for the one command
	examineSlack = 5 * time.Second  // for the driver to start it and to tell its end
	maxAnswer    = 8 << 10          // bytes that are read of what it says
	maxNoise     = 256 << 10        // bytes after which it is ended
)

// examine runs one command in the sandbox and reports the stages that it answers.
// What it says is not trusted: of the sandbox's own words only those are taken
// that Berth knows.
func (t *trial) examine(ctx context.Context) {
	execer, err := environment.Ability[environment.Execer](t.drivers, t.env.Key())
	if err != nil {
		t.fail("shell", err)
		return
	}
	t.begin("shell")
	limited, cancel := context.WithTimeout(ctx, examineLimit+examineSlack)
	defer cancel()
	said := &answer{stop: make(chan struct{})}
	tools := requiredTools(t.env.Config)
	argv := append([]string{"/bin/sh", "-c", examineScript, "berth-probe", cmp.Or(t.ref.Dir, ".")}, tools...)
	result, err := crew.Call(limited, patience, func() (environment.ExecResult, error) {
		return execer.Exec(limited, t.ref, environment.Exec{
			Marker: t.job.probe.ID.String(), Argv: argv, Dir: "/", Grace: examineLimit, Timeout: examineLimit,
			Received: map[environment.Stream]int64{environment.Stdout: 0, environment.Stderr: 0},
			OnStart:  func(environment.Process, environment.HostFacts, string) error { return nil },
			Output:   said.take, Stop: said.stop,
		})
	})
	if cutShort(ctx) != nil {
		return // the stages that were not told are ended by the verdict
	}
	facts := factsOf(said.text())
	if !facts.began {
		t.fail("shell", noShell(result, err, limited.Err() != nil))
		return
	}
	t.end(environment.Stage{Name: "shell", Status: environment.StageOK, Message: "/bin/sh answers in the sandbox."})
	t.platformStage(facts)
	if !t.workspaceStage(facts) || !t.toolsStage(facts, tools) {
		return
	}
	t.result.OK = true
	t.result.Summary = t.job.probe.Target + " is ready" + ready(t.result.Platform) + "."
}

func ready(p *environment.Platform) string {
	if p == nil {
		return ""
	}
	return ": " + p.String()
}

// noShell is why no word came back.
func noShell(result environment.ExecResult, err error, late bool) error {
	switch {
	case err != nil && environment.KindOf(err) != environment.KindInternal && environment.CodeOf(err) != environment.CodeShellUnusable:
		return err
	case late || result.Ended == "timeout":
		return environment.NewError(environment.KindTimeout, environment.CodeTimedOut,
			"The sandbox's shell gave no answer within "+examineLimit.String()+".").Because(err)
	}
	return environment.Unavailable(environment.CodeShellUnusable, "The sandbox has no /bin/sh that answers, or lacks what it needs to start a command.").
		Remedy("Use an image with a POSIX shell at /bin/sh and the usual small tools, as busybox and coreutils have them.").Because(err)
}

func (t *trial) platformStage(f facts) {
	stage := environment.Stage{Name: "platform", Limit: map[string]any{"os": []string{"linux", "darwin"}, "arch": []string{"x64", "arm64"}}}
	platform, ok := f.platform()
	if !ok {
		stage.Status, stage.Severity, stage.Code = environment.StageWarning, "warning", environment.CodePlatformUnknown
		stage.Message, stage.Remediation = "The sandbox's system and machine could not be measured.", environment.Remedy(environment.CodePlatformUnknown)
		t.end(stage)
		return
	}
	stage.Measured = map[string]any{"os": platform.OS, "arch": platform.Arch}
	t.result.Platform = &platform
	if platform.Libc == "" {
		stage.Status, stage.Severity, stage.Code = environment.StageWarning, "warning", environment.CodePlatformUnknown
		stage.Message = "The sandbox is " + platform.String() + ", but no C library was found in it."
		stage.Remediation = "Use an image with glibc or musl if what runs there needs one."
		t.end(stage)
		return
	}
	stage.Measured["libc"], stage.Measured["libcVersion"] = platform.Libc, platform.LibcVersion
	stage.Status, stage.Message = environment.StageOK, "The sandbox is "+platform.String()+"."
	t.platform = &platform
	t.end(stage)
}

func (t *trial) workspaceStage(f facts) bool {
	dir := cmp.Or(t.ref.Dir, "the working folder")
	switch f.workspace {
	case "ok":
		t.end(environment.Stage{Name: "workspace", Status: environment.StageOK, Message: dir + " can be written.", Measured: map[string]any{"path": t.ref.Dir}})
		return true
	case "missing":
		t.fail("workspace", environment.Unavailable(environment.CodeWorkspaceMissing, "The workspace folder "+dir+" cannot be made in the sandbox."))
	case "readonly":
		t.fail("workspace", environment.Unavailable(environment.CodeWorkspaceNotWritable, "The sandbox's user cannot write in the workspace folder "+dir+"."))
	default:
		t.fail("workspace", noAnswer("the workspace folder"))
	}
	return false
}

func (t *trial) toolsStage(f facts, tools []string) bool {
	stage := environment.Stage{Name: "tools", Limit: map[string]any{"required": tools}, Measured: map[string]any{"found": len(tools)}}
	var missing, noexec []string
	for i, tool := range tools {
		switch f.tools[i] {
		case "ok":
		case "missing":
			missing = append(missing, tool)
		case "noexec":
			noexec = append(noexec, tool)
		default:
			t.fail("tools", noAnswer("the required tools"))
			return false
		}
	}
	code, parts := environment.CodeToolNotExecutable, []string{}
	if len(missing) > 0 {
		code, parts = environment.CodeToolMissing, append(parts, "not found: "+strings.Join(missing, ", "))
	}
	if len(noexec) > 0 {
		parts = append(parts, "not executable: "+strings.Join(noexec, ", "))
	}
	if len(parts) > 0 {
		t.fail("tools", environment.Unavailable(code, "Required tools in the sandbox: "+strings.Join(parts, "; ")+"."))
		return false
	}
	stage.Status, stage.Message = environment.StageOK, "No tool is required."
	if len(tools) > 0 {
		stage.Message = "Found: " + strings.Join(tools, ", ") + "."
	}
	t.end(stage)
	return true
}

func noAnswer(what string) error {
	return environment.NewError(environment.KindTimeout, environment.CodeTimedOut, fmt.Sprintf("The sandbox told nothing of %s within %s.", what, examineLimit))
}

func requiredTools(config json.RawMessage) []string {
	var c struct {
		RequiredTools []string `json:"requiredTools"`
	}
	if json.Unmarshal(config, &c) != nil || c.RequiredTools == nil {
		return []string{}
	}
	return c.RequiredTools
}

// answer keeps the beginning of what a command says on its standard output, and
// has the command ended when it goes on and on.
type answer struct {
	mu      sync.Mutex
	kept    bytes.Buffer
	noise   int
	stop    chan struct{}
	stopped bool
}

func (a *answer) take(stream environment.Stream, _ int64, data []byte) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if stream == environment.Stdout {
		a.kept.Write(data[:min(len(data), maxAnswer-a.kept.Len())])
	}
	if a.noise += len(data); a.noise > maxNoise && !a.stopped {
		a.stopped = true
		close(a.stop)
	}
	return nil
}

func (a *answer) text() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.kept.String()
}
