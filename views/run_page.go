package views

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"berth/environment"
	"berth/views/ui"
)

// RunPageState is how a run stands: its status.
type RunPageState string

// The states of a run's page.
const (
	RunPageQueued     RunPageState = "queued"
	RunPageAcquiring  RunPageState = "acquiring"
	RunPagePreparing  RunPageState = "preparing"
	RunPageRunning    RunPageState = "running"
	RunPageCancelling RunPageState = "cancelling"
	RunPageSucceeded  RunPageState = "succeeded"
	RunPageFailed     RunPageState = "failed"
	RunPageCancelled  RunPageState = "cancelled"
	RunPageTimedOut   RunPageState = "timed_out"
	RunPageLost       RunPageState = "lost"
)

// RunSummaryProps is what is known of a run beside its output.
type RunSummaryProps struct {
	run       environment.Run
	state     RunPageState
	pill      pill
	lease     *environment.Lease
	mayCancel bool
	now       time.Time
}

// NewRunSummary makes it. lease is nil before there is one.
func NewRunSummary(r environment.Run, lease *environment.Lease, mayCancel bool, now time.Time) RunSummaryProps {
	return RunSummaryProps{run: r, state: RunPageState(r.Status), pill: runPill(r.Status), lease: lease, mayCancel: mayCancel, now: now}
}

// RunPageProps is a run's page.
type RunPageProps struct {
	summary RunSummaryProps
	output  RunOutputProps
	files   RunFilesProps
	after   int64 // events up to this one are shown already
}

// NewRunPage makes the page. after is the last event that the log page and the
// run include.
func NewRunPage(summary RunSummaryProps, output RunOutputProps, after int64) RunPageProps {
	return RunPageProps{summary: summary, output: output, after: after, files: NewRunFilesIdle(summary.run)}
}

func (p RunPageProps) live() bool { return !p.summary.run.Status.Ended() }

func (p RunPageProps) stream() string {
	return RunPath(p.summary.run.CompanyID, p.summary.run.ID) + "/stream?after=" + strconv.FormatInt(p.after, 10)
}

func (p RunSummaryProps) canCancel() bool {
	return p.mayCancel && !p.run.Status.Ended() && p.run.Status != environment.RunCancelling
}

func (p RunSummaryProps) announcement() string {
	s := p.pill.text
	if o := outcome(p.run); o != "" {
		s += ", " + o
	}
	return "Run: " + s + "."
}

// facts say exactly where the run was.
func (p RunSummaryProps) facts() []ui.Pair {
	r := p.run
	pairs := []ui.Pair{{Key: "Driver", Value: kindName(r.Key())}}
	if r.Driver == environment.DriverSandbox {
		pairs = []ui.Pair{{Key: "Provider", Value: kindName(r.Key())}}
	}
	if r.Native {
		pairs = append(pairs, ui.Pair{Key: "Native", Value: "only from the qualified image"})
	}
	if r.Target != r.Driver { // else the reader may not see where it ran
		pairs = append([]ui.Pair{{Key: "Target", Value: r.Target, Code: true}}, pairs...)
	}
	if r.Host != nil {
		id := "Boot id"
		if r.Driver == environment.DriverSandbox {
			id = "Container"
		}
		pairs = append(pairs, ui.Pair{Key: "Host", Value: r.Host.Name}, ui.Pair{Key: id, Value: r.Host.BootID, Code: true})
	}
	if r.WorkingDir != nil {
		pairs = append(pairs, ui.Pair{Key: "Working folder", Value: *r.WorkingDir, Code: true})
	}
	if r.Process != nil {
		pairs = append(pairs, ui.Pair{Key: "Process", Value: "pid " + strconv.Itoa(r.Process.Pid) + ", group " + strconv.Itoa(r.Process.Pgid)})
	}
	pairs = append(pairs, ui.Pair{Key: "Started by", Value: r.ActorName}, ui.Pair{Key: "Time limit", Value: ui.Millis(int64(r.TimeoutSec) * 1000)})
	if r.CancelBy != nil {
		pairs = append(pairs, ui.Pair{Key: "Cancelled by", Value: *r.CancelBy})
	}
	if t := terminationText(r); t != "" {
		pairs = append(pairs, ui.Pair{Key: "Left on target", Value: t})
	}
	return pairs
}

func terminationText(r environment.Run) string {
	switch r.Termination {
	case "proven":
		return "nothing, as seen"
	case "unproven":
		return "unknown: it could not be checked that everything ended"
	}
	return ""
}

// leaseText is the lease and how it was given back.
func (p RunSummaryProps) leaseText() string {
	if p.lease == nil {
		if p.run.LeaseID != nil {
			return p.run.LeaseID.String()
		}
		return "none yet"
	}
	if p.lease.Status == environment.LeaseRetained {
		return "Stopped, and kept for what comes next"
	}
	s := leasePill(p.lease.Status).text
	var receipt struct{ Outcome string }
	if json.Unmarshal(p.lease.Receipt, &receipt) == nil && receipt.Outcome != "" && receipt.Outcome != string(p.lease.Status) {
		s = strings.ToUpper(receipt.Outcome[:1]) + receipt.Outcome[1:] + " on the target; the lease ended as " + string(p.lease.Status)
	}
	if reason := leaseReason(*p.lease); reason != "" {
		s += ", " + reason
	}
	return s
}

// failureNote is why a run did not succeed; nil when nothing needs saying.
func (p RunSummaryProps) failureNote() *environment.Failure {
	r := p.run
	if r.Failure != nil {
		return r.Failure
	}
	if r.Status == environment.RunFailed && r.ExitCode != nil {
		return &environment.Failure{Message: "The command ended with exit code " + strconv.Itoa(*r.ExitCode) + ". The target was reached and did what it was told."}
	}
	return nil
}

func (p RunSummaryProps) phases() []ui.StepProps {
	steps := make([]ui.StepProps, 0, len(p.run.Phases))
	for _, ph := range p.run.Phases {
		step := ui.StepProps{ID: "phase-" + ph.Name, Name: phaseTitle(ph.Name), Status: "running"}
		if ph.FinishedAt != nil {
			step.Status, step.Time = "ok", ui.Millis(ph.DurationMs)
		}
		steps = append(steps, step)
	}
	if n := len(steps); n > 0 && p.run.Failure != nil && p.run.Failure.Stage != "" {
		steps[n-1].Status = "failed"
	}
	return steps
}

func phaseTitle(name string) string {
	switch name {
	case "queued":
		return "Queued"
	case "acquire":
		return "Reach target"
	case "prepare":
		return "Prepare"
	case "run":
		return "Run"
	case "collect":
		return "Collect output"
	case "release":
		return "Release"
	}
	return name
}

func (p RunSummaryProps) whereTitle() string {
	switch {
	case p.run.Status.Ended() && p.run.StartedAt == nil:
		return "Where it was sent"
	case p.run.Status.Ended():
		return "Where it ran"
	}
	return "Where it runs"
}
