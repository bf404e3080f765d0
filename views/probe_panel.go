package views

import (
	"strconv"
	"strings"
	"time"

	"berth/environment"
	"berth/views/ui"

	"github.com/google/uuid"
)

// ProbePanelState is how a test stands.
type ProbePanelState string

// The states of a test.
const (
	ProbePending           ProbePanelState = "pending"
	ProbeRunning           ProbePanelState = "running"
	ProbeReady             ProbePanelState = "ready"
	ProbeWarning           ProbePanelState = "warning"
	ProbeUnreachable       ProbePanelState = "unreachable"
	ProbeHostKeyUnknown    ProbePanelState = "host-key-unknown"
	ProbeHostKeyChanged    ProbePanelState = "host-key-changed"
	ProbeHostKeyRevoked    ProbePanelState = "host-key-revoked"
	ProbeCredentialMissing ProbePanelState = "credential-missing"
	ProbeAuthFailed        ProbePanelState = "auth-failed"
	ProbeUnfit             ProbePanelState = "unfit"
	ProbeCancelled         ProbePanelState = "cancelled"
	ProbeInterrupted       ProbePanelState = "interrupted"
)

// ProbePanelProps is a test: what it tries, how far it is, what it found.
type ProbePanelProps struct {
	probe     environment.Probe
	state     ProbePanelState
	pill      pill
	note      string
	stages    []stageProps
	outdated  bool // of a config that was edited since
	mayManage bool
	elapsed   string // seconds since it began, while it goes on
}

type stageProps struct {
	step      ui.StepProps
	presented []environment.HostKey
	trusted   []environment.HostKey
}

// NewProbePanel makes the panel of a probe. current is the ConfigRevision of
// what is saved, 0 for a draft.
func NewProbePanel(p environment.Probe, current int, mayManage bool, now time.Time) ProbePanelProps {
	props := ProbePanelProps{probe: p, state: probeState(p), mayManage: mayManage}
	props.pill = probePill(props.state, p)
	props.outdated = !p.Draft && p.State.Ended() && current != 0 && current != p.ConfigRevision
	props.note = p.Target
	if p.State.Ended() {
		props.note += " · " + ui.Millis(p.DurationMs())
	}
	switch {
	case p.Draft:
		props.note += " · this form, not yet saved"
	case p.FinishedAt != nil:
		props.note += " · " + ui.Ago(*p.FinishedAt, now)
	}
	if !p.State.Ended() && p.StartedAt != nil {
		props.elapsed = seconds(now.Sub(*p.StartedAt))
	}
	props.stages = stagesOf(p, now)
	return props
}

// seconds are whole ones; the page counts on from them.
func seconds(d time.Duration) string { return strconv.Itoa(int(max(0, d).Seconds())) }

func probeState(p environment.Probe) ProbePanelState {
	switch p.State {
	case environment.ProbeQueued:
		return ProbePending
	case environment.ProbeRunning:
		return ProbeRunning
	case environment.ProbeCancelled:
		return ProbeCancelled
	case environment.ProbeInterrupted:
		return ProbeInterrupted
	}
	switch p.Code {
	case environment.CodeHostKeyUnknown:
		return ProbeHostKeyUnknown
	case environment.CodeHostKeyChanged:
		return ProbeHostKeyChanged
	case environment.CodeHostKeyRevoked:
		return ProbeHostKeyRevoked
	case environment.CodeCredentialMissing, environment.CodeSecretMissing, environment.CodeSecretDisabled:
		return ProbeCredentialMissing
	case environment.CodeEngineDenied, environment.CodeImageDenied:
		return ProbeAuthFailed
	case environment.CodeLoginRefused, environment.CodeLoginNeedsInteraction, environment.CodeKeyNeedsPassphrase, environment.CodeKeyUnreadable:
		return ProbeAuthFailed
	}
	return ProbePanelState(p.Health()) // ready, warning, unreachable, unfit, interrupted
}

func probePill(state ProbePanelState, p environment.Probe) pill {
	switch state {
	case ProbePending:
		return pill{ui.Busy, "Waiting"}
	case ProbeRunning:
		return pill{ui.Busy, "Testing"}
	case ProbeCancelled:
		return pill{ui.Plain, "Cancelled"}
	case ProbeCredentialMissing:
		return pill{ui.Bad, "Credential missing"}
	case ProbeAuthFailed:
		if p.Driver == environment.DriverSandbox {
			return pill{ui.Bad, "Access denied"}
		}
		return pill{ui.Bad, "Login failed"}
	}
	h := p.Health()
	return pill{healthTone(h), healthWord(h, p.Code)}
}

// stagesOf lists a probe's stages. One that waits for its turn has none yet, so
// the names of its driver's stand there, waiting.
func stagesOf(p environment.Probe, now time.Time) []stageProps {
	stages := p.Stages
	if len(stages) == 0 {
		names := environment.SSHStages()
		switch p.Driver {
		case environment.DriverLocal:
			names = environment.LocalStages()
		case environment.DriverSandbox:
			names = environment.DockerStages()
		}
		for _, name := range names {
			stages = append(stages, environment.Stage{Name: name, Status: environment.StageWaiting})
		}
	}
	all := make([]stageProps, 0, len(stages))
	for _, s := range stages {
		sp := stageProps{step: ui.StepProps{ID: "stage-" + s.Name, Name: environment.StageTitle(s.Name), Status: string(s.Status), Text: s.Message, Fix: s.Remediation}}
		switch s.Status {
		case environment.StageSkipped:
			sp.step.Text = "not tried"
			if s.Message != "" && (s.StartedAt != nil || p.Draft && p.OK) {
				sp.step.Text = s.Message // it was cut short; why a draft leaves it out
			}
		case environment.StageRunning:
			if s.StartedAt != nil {
				sp.step.Elapsed = seconds(now.Sub(*s.StartedAt))
			}
			if sp.step.Text == "" {
				sp.step.Text = stageDoes(p.Driver, s.Name)
			}
		case environment.StageOK, environment.StageFailed, environment.StageWarning:
			sp.step.Time = ui.Millis(s.DurationMs)
		}
		if s.Status == environment.StageFailed && s.Message == p.Summary {
			sp.step.Text = "" // the verdict above says it
		}
		if s.Name == "host_key" && s.Status == environment.StageFailed {
			sp.presented, sp.trusted = p.Presented, p.Trusted
		}
		all = append(all, sp)
	}
	return all
}

// announcement is what a screen reader says when a test ends.
func (p ProbePanelProps) announcement() string { return p.pill.text + ". " + p.probe.Summary }

// proves says what this verdict proves, and no more.
func (p ProbePanelProps) proves() string {
	switch {
	case p.probe.Proves != "":
		return p.probe.Proves
	case p.probe.Driver == environment.DriverLocal:
		return "A test of Local proves that this server can use its folder, and no more."
	case p.state == ProbeReady || p.state == ProbeWarning:
		return "This proves that Berth can log in there and that folder, tools and clock are as they should be, at that moment. It proves less than a finished run."
	case p.state == ProbeUnreachable:
		return "This says that the target could not be reached from this server. It says nothing about what the target can do."
	case p.state == ProbeHostKeyChanged || p.state == ProbeHostKeyUnknown || p.state == ProbeHostKeyRevoked:
		return "No password or key was sent: the test stops before the login while the host is not trusted."
	}
	return "The target was reached. What is missing there, or in this configuration, is named above."
}

// canTrust reports whether the page may offer to trust a presented key.
func (p ProbePanelProps) canTrust() bool {
	return p.mayManage && (p.state == ProbeHostKeyUnknown || p.state == ProbeHostKeyChanged)
}

func (p ProbePanelProps) environmentID() uuid.UUID {
	if p.probe.EnvironmentID == nil {
		return uuid.Nil
	}
	return *p.probe.EnvironmentID
}

// where is the target in its own words; "" before it was reached.
func (p ProbePanelProps) where() string {
	if p.probe.Host == nil {
		return ""
	}
	if p.probe.Draft && p.probe.Driver == environment.DriverSandbox {
		return "Asked the engine of " + p.probe.Host.Name // nothing was made that it could have run in
	}
	s := "Ran on " + p.probe.Host.Name
	switch {
	case p.probe.Host.BootID == "":
	case p.probe.Driver == environment.DriverSandbox:
		s = "Ran in container " + shortID(p.probe.Host.BootID) + ", host name " + p.probe.Host.Name
	default:
		s += ", boot " + p.probe.Host.BootID
	}
	if t := platformText(p.probe.Platform); t != "" {
		s += " · " + t
	}
	if p.probe.Platform != nil && p.probe.Platform.Distro != "" {
		s += " · " + p.probe.Platform.Distro
	}
	return s
}

func replaces(s ProbePanelState) string {
	if s == ProbeHostKeyChanged {
		return "yes"
	}
	return "no"
}

func pinLabel(s ProbePanelState) string {
	if s == ProbeHostKeyChanged {
		return "Replace the trusted key in this form:"
	}
	return "I compared it; trust it in this form:"
}

// shortID is enough of a long id to find it by.
func shortID(id string) string {
	if len(id) > 12 {
		return id[:12]
	}
	return id
}

// images name what really was made, as the provider says: its reference with the
// digest, its id; none where that is not known.
func (p ProbePanelProps) images() []ui.Pair {
	i := p.probe.Image
	if i == nil {
		return nil
	}
	name := i.Reference
	if i.Repository != "" && i.Digest != "" && !strings.Contains(name, "@") {
		name = i.Repository + "@" + i.Digest
	}
	var pairs []ui.Pair
	for _, pair := range []ui.Pair{{Key: "Image", Value: name}, {Key: "Image id", Value: i.ImageID}, {Key: "Snapshot", Value: i.SnapshotID}} {
		if pair.Value != "" && (pair.Key == "Image" || pair.Value != name) {
			pairs = append(pairs, pair)
		}
	}
	return pairs
}

// qualified is what became of the platform's qualification; nil for none to tell.
func (p ProbePanelProps) qualified() *environment.QualificationResult {
	if p.probe.Draft || !p.probe.State.Ended() {
		return nil
	}
	return p.probe.Qualification
}

func (p ProbePanelProps) qualifiedTone() ui.Tone {
	switch p.qualified().Code {
	case environment.QualRecorded, environment.QualManagedNotNeeded:
		return ui.OK
	case environment.QualProbeFailed:
		return ui.Bad
	case environment.QualUnsupported, environment.QualCancelled:
		return ui.Plain
	}
	return ui.Warn
}

func (p ProbePanelProps) qualifiedText() string {
	if p.qualified().Recorded {
		return "Platform qualification recorded."
	}
	return "Platform qualification not recorded."
}

// stageDoes says what a slow stage is at; "" for the quick ones.
func stageDoes(driver, stage string) string {
	if driver != environment.DriverSandbox {
		return ""
	}
	switch stage {
	case "image":
		return "looked up, and fetched if it is not there…"
	case "create":
		return "a fresh sandbox is made…"
	case "start":
		return "waiting until it can be used…"
	case "cleanup":
		return "destroyed, and waiting for the provider's receipt…"
	}
	return ""
}
