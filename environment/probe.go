package environment

import (
	"time"

	"github.com/google/uuid"
)

// ProbeState is where a probe's job is.
type ProbeState string

// The states. Queued and running pass: they have a deadline and an owner.
const (
	ProbeQueued      ProbeState = "queued"
	ProbeRunning     ProbeState = "running"
	ProbeDone        ProbeState = "done" // see OK
	ProbeCancelled   ProbeState = "cancelled"
	ProbeInterrupted ProbeState = "interrupted"
)

// Ended reports whether the state stays.
func (s ProbeState) Ended() bool { return s != ProbeQueued && s != ProbeRunning }

// StageStatus is where a stage of a probe is.
type StageStatus string

// The stage statuses.
const (
	StageWaiting StageStatus = "waiting"
	StageRunning StageStatus = "running"
	StageOK      StageStatus = "ok"
	StageWarning StageStatus = "warning"
	StageFailed  StageStatus = "failed"
	StageSkipped StageStatus = "skipped"
)

// Stage is one step of a probe. Code is "" unless the stage failed or warns.
type Stage struct {
	Name        string         `json:"name"`
	Status      StageStatus    `json:"status"`
	Code        string         `json:"code"`
	Severity    string         `json:"severity"` // "info", "warning", "error"
	Message     string         `json:"message"`
	Measured    map[string]any `json:"measured"` // never null
	Limit       map[string]any `json:"limit"`    // never null
	StartedAt   *time.Time     `json:"startedAt"`
	DurationMs  int64          `json:"durationMs"`
	Remediation string         `json:"remediation"`
}

// SSHStages are the stages of an ssh probe, in order.
func SSHStages() []string {
	return []string{"resolve", "connect", "greeting", "host_key", "login", "shell", "platform", "workspace", "tools", "clock"}
}

// LocalStages are the stages of a probe of the local driver.
func LocalStages() []string { return []string{"host"} }

// StageTitle is what people read for a stage's name.
func StageTitle(name string) string {
	if t, ok := stageTitles[name]; ok {
		return t
	}
	return name
}

var stageTitles = map[string]string{
	"resolve": "Name resolves", "connect": "Port answers", "greeting": "SSH greeting", "host_key": "Host key",
	"login": "Login", "shell": "Shell", "platform": "Platform", "workspace": "Workspace", "tools": "Tools",
	"clock": "Clock", "host": "Host and folder",
	"engine": "Engine answers", "image": "Image", "create": "Sandbox is made", "start": "Sandbox starts", "cleanup": "Cleaned up",
}

// HostFacts prove where something ran: the target's own words.
type HostFacts struct {
	Name   string `json:"name"`
	BootID string `json:"bootId"`
}

// Platform is what a target is. Libc and LibcVersion are "" when none was found.
type Platform struct {
	OS          string `json:"os"`             // "linux", "darwin"
	Arch        string `json:"arch"`           // "x64", "arm64"
	Libc        string `json:"libc,omitempty"` // "glibc", "musl", "none"
	LibcVersion string `json:"libcVersion,omitempty"`
	Distro      string `json:"distro,omitempty"`
}

// Probe is one test in a target: its job, its stages and its verdict.
type Probe struct {
	ID            uuid.UUID
	EnvironmentID *uuid.UUID // nil: a draft with no saved row
	CompanyID     *uuid.UUID
	Draft         bool // its verdict never changes the saved row
	Driver        string
	Target        string // "user@host:port" for people; never a secret
	State         ProbeState
	OK            bool
	Summary       string
	Code          string // of the stage that decided; "" when OK
	Stages        []Stage
	Host          *HostFacts
	Platform      *Platform
	// Image is what a sandbox was made from, or what a draft's image is; nil for
	// other drivers and when it was never found.
	Image *ImageIdentity
	// Qualification is what became of it; nil for drivers that cannot qualify, and
	// while the probe runs.
	Qualification *QualificationResult
	// LeaseID is the fresh lease of a saved sandbox's probe.
	LeaseID *uuid.UUID
	// Proves says in words what the result proves and what not.
	Proves string
	// Presented are the server's keys when host_key stopped the probe; Trusted
	// are the fingerprints that were trusted for that host.
	Presented      []HostKey
	Trusted        []HostKey
	ConfigRevision int // of the environment when the probe began
	ActorName      string
	Owner          uuid.UUID // the server that does it
	CreatedAt      time.Time
	StartedAt      *time.Time
	FinishedAt     *time.Time
	Deadline       time.Time
}

// DurationMs is how long the probe took; 0 while it runs.
func (p Probe) DurationMs() int64 {
	if p.StartedAt == nil || p.FinishedAt == nil {
		return 0
	}
	return p.FinishedAt.Sub(*p.StartedAt).Milliseconds()
}

// Health is the verdict as a health word.
func (p Probe) Health() Health {
	switch p.State {
	case ProbeQueued, ProbeRunning:
		return HealthTesting
	case ProbeInterrupted, ProbeCancelled:
		return HealthInterrupted
	}
	if p.OK {
		for _, s := range p.Stages {
			if s.Status == StageWarning {
				return HealthWarning
			}
		}
		return HealthReady
	}
	return HealthOfCode(p.Code)
}

// HealthOfCode sorts a failure: "cannot reach" is never "unfit", nor the
// reverse. A refused login is unfit: the host answered.
func HealthOfCode(code string) Health {
	switch code {
	case CodeHostKeyUnknown, CodeHostKeyChanged, CodeHostKeyRevoked:
		return HealthUntrusted
	case CodeDNSNotFound, CodeDNSTemporary, CodeConnectRefused, CodeConnectTimeout, CodeNoRoute, CodeGreetingTimeout,
		CodeNotSSH, CodeEngineUnreachable, CodeRegistryUnreachable, CodeProviderUnavailable, CodeTimedOut:
		return HealthUnreachable
	case CodeInterrupted:
		return HealthInterrupted
	}
	return HealthUnfit
}
