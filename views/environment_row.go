package views

import (
	"strconv"
	"strings"
	"time"

	"berth/environment"
)

// EnvironmentRowState is how a row of the list stands.
type EnvironmentRowState string

// The states of a row.
const (
	RowUntested      EnvironmentRowState = "untested"
	RowTesting       EnvironmentRowState = "testing"
	RowReady         EnvironmentRowState = "ready"
	RowWarning       EnvironmentRowState = "warning"
	RowUnfit         EnvironmentRowState = "unfit"
	RowUnreachable   EnvironmentRowState = "unreachable"
	RowUntrusted     EnvironmentRowState = "untrusted"
	RowInterrupted   EnvironmentRowState = "interrupted"
	RowChanged       EnvironmentRowState = "changed"
	RowArchived      EnvironmentRowState = "archived"
	RowMaintenance   EnvironmentRowState = "maintenance"
	RowLocal         EnvironmentRowState = "local"
	RowDriverMissing EnvironmentRowState = "driver-missing"
	RowUnsupported   EnvironmentRowState = "unsupported" // installed, and not to be used here
)

// EnvironmentRowProps is one row of the list.
type EnvironmentRowProps struct {
	view      environment.EnvironmentView
	state     EnvironmentRowState
	pill      pill
	address   string
	problem   string // what is wrong, in red
	remark    string
	reviewKey bool
	tested    *time.Time
	took      int64
	platform  string
	uses      string
	budget    string // whose account, and its limits
	mayManage bool
	oob       bool
	now       time.Time
}

// Beside is the row as a part of an answer that is about something else: it
// takes the place of the one that stands on the page.
func (p EnvironmentRowProps) Beside() EnvironmentRowProps {
	p.oob = true
	return p
}

// NewEnvironmentRow makes a row. caps are what its driver can do; nil: it is not
// there.
func NewEnvironmentRow(v environment.EnvironmentView, caps *environment.Capabilities, mayManage bool, now time.Time) EnvironmentRowProps {
	p := EnvironmentRowProps{view: v, pill: healthPill(v), address: address(v.Environment), uses: usesText(v.Uses),
		mayManage: mayManage, now: now}
	if v.Last != nil {
		p.tested, p.took, p.platform = v.Last.FinishedAt, v.Last.DurationMs(), platformText(v.Last.Platform)
	}
	p.budget = budgetLine(v.Budget)
	p.state = rowState(v, caps)
	p.say()
	if p.state == RowUnsupported {
		p.remark = caps.Unsupported
	}
	return p
}

func rowState(v environment.EnvironmentView, caps *environment.Capabilities) EnvironmentRowState {
	switch {
	case v.Status == environment.StatusArchived:
		return RowArchived
	case caps == nil:
		return RowDriverMissing
	case v.Status == environment.StatusMaintenance:
		return RowMaintenance
	case v.Driver == environment.DriverLocal:
		return RowLocal
	case caps.Unsupported != "":
		return RowUnsupported
	}
	return EnvironmentRowState(v.Health())
}

// say fills in the words of a state.
func (p *EnvironmentRowProps) say() {
	switch p.state {
	case RowUntested:
		p.remark = "Never tested"
	case RowTesting:
		p.remark, p.tested = progress(*p.view.Active), nil
	case RowUnfit, RowUnreachable:
		p.problem = p.view.Last.Summary
	case RowUntrusted:
		p.problem, p.reviewKey = keyProblem(*p.view.Last), p.view.Last.Code != environment.CodeHostKeyRevoked
	case RowWarning:
		p.remark = firstWarning(*p.view.Last)
	case RowInterrupted:
		p.remark = "The last test did not end."
	case RowChanged:
		p.remark = "Edited since the test."
	case RowArchived:
		p.remark, p.tested = "Not offered for work.", nil
	case RowMaintenance:
		p.remark = "Takes no work for now."
	case RowLocal:
		p.remark = "Runs on the Berth host itself; a test proves host and folder only."
	case RowDriverMissing:
		p.pill = pill{"warn", "Driver missing"}
		p.remark = environment.NotInstalled(p.view.Key()).Message
	case RowUnsupported:
		p.pill = pill{"warn", "Not available here"}
	case RowReady:
		p.remark = qualificationRemark(p.view)
	}
}

func (p EnvironmentRowProps) canTest() bool {
	switch p.state {
	case RowLocal, RowDriverMissing, RowUnsupported, RowArchived, RowTesting:
		return false
	}
	return p.mayManage
}

// progress is how far a probe is: "5 of 10 · login".
func progress(probe environment.Probe) string {
	for i, s := range probe.Stages {
		if s.Status == environment.StageRunning {
			return strconv.Itoa(i+1) + " of " + strconv.Itoa(len(probe.Stages)) + " · " + lowerFirst(environment.StageTitle(s.Name)) + "…"
		}
	}
	if probe.State == environment.ProbeQueued {
		return "Waiting for its turn…"
	}
	return "Testing…"
}

func lowerFirst(s string) string {
	if strings.HasPrefix(s, "SSH") {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

func keyProblem(probe environment.Probe) string {
	if len(probe.Presented) == 0 {
		return probe.Summary
	}
	t := "Presented " + shortFingerprint(probe.Presented[0].Fingerprint)
	if len(probe.Trusted) > 0 {
		t += ", trusted " + shortFingerprint(probe.Trusted[0].Fingerprint)
	} else {
		t += ", none trusted yet"
	}
	return t
}

// shortFingerprint keeps enough of a fingerprint to tell two apart at a glance;
// the whole one is where it is compared.
func shortFingerprint(f string) string {
	const keep = len("SHA256:") + 8
	if len(f) <= keep {
		return f
	}
	return f[:keep] + "…"
}

func firstWarning(probe environment.Probe) string {
	for _, s := range probe.Stages {
		if s.Status == environment.StageWarning {
			return s.Message
		}
	}
	return ""
}

// qualificationRemark is what the last test said of the platform's qualification
// where that is not the best; "" for what needs no word.
func qualificationRemark(v environment.EnvironmentView) string {
	if v.Driver != environment.DriverSandbox || v.Last == nil || v.Last.Qualification == nil || v.Last.Qualification.Recorded {
		return ""
	}
	return v.Last.Qualification.Message
}
