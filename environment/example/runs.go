package example

import (
	"time"

	"berth/environment"
)

// run returns the frame of a run in build-box in a state.
func run(n byte, status environment.RunStatus) environment.Run {
	env, began := ReadySSH(), Before(95*time.Second)
	return environment.Run{ID: id(0x05, n), CompanyID: Acme().ID, EnvironmentID: &env.ID, EnvironmentName: env.Name, Driver: env.Driver,
		Target: "deploy@build.example.net:2222", Kind: environment.KindCommand, Title: pointer("Build the docs"),
		Command: []string{"make", "docs"}, EnvNames: []string{"NODE_ENV", "NPM_TOKEN"}, TimeoutSec: 900, Status: status,
		Phases: []environment.Phase{}, Owner: Server(), ActorName: "local operator", CreatedAt: began}
}

// phases returns the first n phases, the last of them still open if open.
func phases(began time.Time, n int, open bool) []environment.Phase {
	all := make([]environment.Phase, 0, n)
	for i, name := range []string{"queued", "acquire", "prepare", "run", "collect", "release"}[:n] {
		ms := []int64{3, 41, 22, 41300, 15, 9}[i]
		p := environment.Phase{Name: name, StartedAt: began}
		if i < n-1 || !open {
			began = began.Add(time.Duration(ms) * time.Millisecond)
			p.FinishedAt, p.DurationMs = pointer(began), ms
		}
		all = append(all, p)
	}
	return all
}

// started fills in what a run has once its command runs.
func started(r environment.Run) environment.Run {
	lease := Lease(environment.LeaseActive)
	at := r.CreatedAt.Add(66 * time.Millisecond)
	r.LeaseID, r.Host, r.WorkingDir = &lease.ID, Host(), pointer("/srv/work")
	r.StartedAt, r.Deadline = &at, pointer(at.Add(15*time.Minute))
	r.Process = &environment.Process{BootID: Host().BootID, Pid: 48213, Pgid: 48213, StartTime: "8123377", Marker: r.ID.String(),
		Dir: "/tmp/berth-runs/" + r.ID.String()}
	r.Phases, r.LogSize = phases(r.CreatedAt, 4, true), int64(len(logText))
	return r
}

// ended fills in what a run has once it is over.
func ended(r environment.Run) environment.Run {
	r = started(r)
	r.Phases = phases(r.CreatedAt, 6, false)
	r.FinishedAt = pointer(*r.Phases[len(r.Phases)-1].FinishedAt)
	r.Termination = "proven"
	return r
}

// Run is a run in a state, as it stands there most often: a queued one has
// nothing yet, a failed one ended with exit code 3.
func Run(status environment.RunStatus) environment.Run {
	for i, s := range environment.RunStatuses() {
		if s == status {
			return inState(run(byte(1+i), status))
		}
	}
	return run(0xff, status)
}

func inState(r environment.Run) environment.Run {
	switch r.Status {
	case environment.RunQueued:
		r.Phases = phases(r.CreatedAt, 1, true)
	case environment.RunAcquiring:
		r.Phases = phases(r.CreatedAt, 2, true)
	case environment.RunPreparing:
		lease := Lease(environment.LeaseActive)
		r.LeaseID, r.Host, r.Phases = &lease.ID, Host(), phases(r.CreatedAt, 3, true)
	case environment.RunRunning:
		r = started(r)
	case environment.RunCancelling:
		r = started(r)
		r.CancelBy = pointer("local operator")
	case environment.RunSucceeded:
		r = ended(r)
		r.ExitCode = pointer(0)
	case environment.RunFailed:
		r = ended(r)
		r.ExitCode = pointer(3)
	case environment.RunCancelled:
		r = ended(r)
		r.ExitCode, r.Signal, r.CancelBy = pointer(143), pointer("TERM"), pointer("local operator")
	case environment.RunTimedOut:
		r = ended(r)
		r.ExitCode, r.Signal = pointer(137), pointer("KILL")
		r.Failure = &environment.Failure{Code: environment.CodeTimedOut, Message: "The command did not end within 15 min.",
			Remediation: "Give it a longer timeout, or do less at once."}
	case environment.RunLost:
		r = ended(r)
		r.Termination = "unproven"
		r.Failure = &environment.Failure{Code: environment.CodeConnectionLost, Message: "build.example.net port 2222 was gone for longer than 60 s.",
			Remediation: "Look at the host. What ran there ends by itself when the grace is over."}
	}
	return r
}

// UnreachedRun failed before its command began: its target refused the
// connection. It never ran anywhere else.
func UnreachedRun() environment.Run {
	r := run(0x20, environment.RunFailed)
	r.Phases = phases(r.CreatedAt, 2, false)
	r.FinishedAt = pointer(*r.Phases[1].FinishedAt)
	r.Failure = &environment.Failure{Code: environment.CodeConnectRefused, Message: "build.example.net port 2222 refuses connections.",
		Remediation: environment.Remedy(environment.CodeConnectRefused), Stage: "connect"}
	return r
}

// CutRun wrote more than is kept.
func CutRun() environment.Run {
	r := Run(environment.RunSucceeded)
	r.ID = id(0x05, 0x21)
	r.LogSize, r.LogCut = environment.MaxRunLog+4096, 4096
	return r
}

// OrphanedRun is of an environment that was deleted since.
func OrphanedRun() environment.Run {
	r := Run(environment.RunSucceeded)
	r.ID, r.EnvironmentID = id(0x05, 0x22), nil
	return r
}

// Runs are one in each state, newest first.
func Runs() []environment.Run {
	all := make([]environment.Run, 0, len(environment.RunStatuses()))
	for i, s := range environment.RunStatuses() {
		r := Run(s)
		r.CreatedAt = r.CreatedAt.Add(-time.Duration(i) * time.Minute)
		all = append(all, r)
	}
	return all
}

const logText = "npm run docs\n> docs\n> build ./docs\nwarn: 2 links are broken\nwrote 118 pages\n"

// Log is the output of a run: both streams, whole.
func Log() environment.LogPage {
	out, warn := logText[:35], logText[35:60]
	return environment.LogPage{NextOffset: int64(len(logText)), Done: true, Chunks: []environment.LogChunk{
		{Seq: 11, Stream: environment.Stdout, Offset: 0, StreamOffset: 0, Data: []byte(out)},
		{Seq: 12, Stream: environment.Stderr, Offset: 35, StreamOffset: 0, Data: []byte(warn)},
		{Seq: 13, Stream: environment.Stdout, Offset: 60, StreamOffset: 35, Data: []byte(logText[60:])},
	}}
}

// LogWithCut misses its middle, and holds bytes that are not text.
func LogWithCut() environment.LogPage {
	half := int64(environment.MaxRunLog / 2)
	return environment.LogPage{NextOffset: environment.MaxRunLog + 4096, Done: true, Cut: 4096, CutAt: half, Chunks: []environment.LogChunk{
		{Seq: 11, Stream: environment.Stdout, Offset: half - 6, StreamOffset: half - 6, Data: []byte("early\n")},
		{Seq: 90, Stream: environment.Stdout, Offset: half + 4096, StreamOffset: half + 4096, Data: []byte("a\x00b\xffc\n")},
	}}
}

// Workspace is a folder of a run's workspace.
func Workspace() environment.WorkspaceEntry {
	return environment.WorkspaceEntry{Path: "", IsDir: true, Entries: []environment.FileInfo{
		{Name: "docs", Path: "docs", Type: "dir", ModTime: Before(2 * time.Hour)},
		{Name: "latest", Path: "latest", Type: "symlink", ModTime: Before(2 * time.Hour)},
		{Name: "README.md", Path: "README.md", Type: "file", Size: 1834, ModTime: Before(26 * time.Hour)},
	}}
}

// WorkspaceFile is a file there.
func WorkspaceFile() environment.WorkspaceEntry {
	text := []byte("# Docs\n\nBuild them with `make docs`.\n")
	return environment.WorkspaceEntry{Path: "README.md", Content: text, Size: int64(len(text))}
}
