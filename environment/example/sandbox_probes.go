package example

import (
	"time"

	"berth/environment"
)

// sandboxTimings are how long each stage of a good probe takes, in milliseconds.
var sandboxTimings = [...]int64{14, 2210, 96, 184, 22, 31, 12, 18, 402}

func sandboxMeasured(stage string) string {
	return map[string]string{
		"engine": "Docker Engine 27.5.1 answers.", "image": "The image is there.", "create": "A container was made.", "start": "It runs, in 0.2 s.",
		"shell": "/bin/sh works.", "platform": "Linux on x64 with musl 1.2.5.", "workspace": "/workspace is writable.", "tools": "git and python3 are there.",
		"cleanup": "The container is gone, as the engine confirmed.",
	}[stage]
}

func sandboxStage(n int, status environment.StageStatus, began time.Time) environment.Stage {
	s := environment.Stage{Name: environment.DockerStages()[n], Status: status, Severity: "info", Measured: map[string]any{}, Limit: map[string]any{}}
	switch status {
	case environment.StageOK:
		s.Message, s.StartedAt, s.DurationMs = sandboxMeasured(s.Name), pointer(began), sandboxTimings[n]
	case environment.StageRunning:
		s.StartedAt = pointer(began)
	case environment.StageSkipped:
		s.Message = "Not tried: an earlier stage failed."
	}
	return s
}

// sandboxStages are n good ones, then at, then the rest; the last one, which cleans
// up, is done whenever something was made.
func sandboxStages(n int, at *environment.Stage, rest environment.StageStatus, began time.Time) []environment.Stage {
	all := make([]environment.Stage, 0, len(sandboxTimings))
	for i := range sandboxTimings {
		switch {
		case i < n:
			all = append(all, sandboxStage(i, environment.StageOK, began))
		case i == n && at != nil:
			at.StartedAt = pointer(began)
			all = append(all, *at)
		case i == len(sandboxTimings)-1 && n > 2 && rest == environment.StageSkipped:
			all = append(all, sandboxStage(i, environment.StageOK, began))
		default:
			all = append(all, sandboxStage(i, rest, began))
		}
		began = began.Add(time.Duration(sandboxTimings[i]) * time.Millisecond)
	}
	return all
}

func sandboxProbe(n byte, ago time.Duration) environment.Probe {
	p := probe(n, id(0x03, 20), Before(ago))
	p.Driver, p.Target, p.LeaseID = environment.DriverSandbox, PinnedImage, pointer(id(0x06, 40))
	p.Deadline = p.CreatedAt.Add(environment.SandboxProbeLimit)
	return p
}

// Container is where a sandbox's probe ran, in its own words.
func Container() *environment.HostFacts {
	return &environment.HostFacts{Name: "7c1e09b2d4aa", BootID: "7c1e09b2d4aa5f0e8b1c2d3e4f5061728394a5b6c7d8e9f00112233445566778"}
}

// SandboxImage is what it was made from.
func SandboxImage() *environment.ImageIdentity {
	return &environment.ImageIdentity{Kind: environment.ImageDigest, Reference: PinnedImage, Repository: "registry.example.net:5000/team/py", Digest: Digest,
		ImageID: "sha256:1b0c9d9f2c41d0b7a2c0de5f1e3a9b8c7d6e5f4a3b2c1d0e9f8a7b6c5d4e3f2a"}
}

// QualifiedProbe passed in all nine stages and recorded a qualification.
func QualifiedProbe() environment.Probe {
	p := sandboxProbe(0x50, 4*time.Minute)
	p.OK, p.Stages = true, sandboxStages(len(sandboxTimings), nil, environment.StageOK, *p.StartedAt)
	p.Summary, p.Host, p.Image = "A sandbox of the image was made, measured and destroyed.", Container(), SandboxImage()
	p.Platform = &environment.Platform{OS: "linux", Arch: "x64", Libc: "musl", LibcVersion: "1.2.5", Distro: "Alpine Linux 3.22"}
	p.Qualification = &environment.QualificationResult{Recorded: true, Code: environment.QualRecorded, Message: "linux, x64, musl 1.2.5, for Acme Robotics and this configuration."}
	p.Proves = "It proves that this image starts here and does what it must, at that moment. It proves less than a finished run."
	p.FinishedAt = pointer(p.StartedAt.Add(2989 * time.Millisecond))
	return p
}

// NotRecorded is why a qualification was not recorded.
func NotRecorded(code string) *environment.QualificationResult {
	messages := map[string]string{
		environment.QualMutableImage:     "The image is named by a tag, which can lead elsewhere tomorrow. Pin its digest.",
		environment.QualUnmeasured:       "No libc was found in the sandbox, so its platform is not wholly known.",
		environment.QualCleanup:          "The provider did not confirm that the sandbox is gone.",
		environment.QualConfigChanged:    "The environment was edited while it was tested.",
		environment.QualProbeFailed:      "The test failed, so what was recorded before is revoked.",
		environment.QualManagedNotNeeded: "The platform selects this image itself, so none is needed.",
		environment.QualUnsupported:      "The provider cannot prove which image runs.",
		environment.QualCompanyRequired:  "A qualification is for one company, and none was named.",
	}
	return &environment.QualificationResult{Code: code, Message: messages[code]}
}

// QueuedSandboxProbe waits for its turn.
func QueuedSandboxProbe() environment.Probe {
	p := sandboxProbe(0x51, time.Second)
	p.State, p.StartedAt, p.LeaseID, p.Stages = environment.ProbeQueued, nil, nil, []environment.Stage{}
	return p
}

// RunningSandboxProbe is in its stage n, counted from 0 in environment.DockerStages.
func RunningSandboxProbe(n int) environment.Probe {
	p := sandboxProbe(0x52, 8*time.Second)
	p.State = environment.ProbeRunning
	at := sandboxStage(n, environment.StageRunning, *p.StartedAt)
	p.Stages = sandboxStages(n, &at, environment.StageWaiting, *p.StartedAt)
	return p
}

// sandboxFailures lists the codes that stop a sandbox's probe, in the order of the
// stages.
func sandboxFailures() []failure {
	const at = "unix:///var/run/docker.sock"
	return []failure{
		{environment.CodeEngineUnreachable, 0, "The engine at " + at + " does not answer."},
		{environment.CodeEngineDenied, 0, "The engine at " + at + " refuses the server's user."},
		{environment.CodeEngineTooOld, 0, "The engine at " + at + " is 19.03; 20.10 is needed."},
		{environment.CodeImageNotFound, 1, "The registry has no team/py with that digest."},
		{environment.CodeImageDenied, 1, "The registry refuses the user name and password."},
		{environment.CodeImageDigestMismatch, 1, "The registry sent another content than the digest names."},
		{environment.CodeCreateFailed, 2, "The engine could not make a container: no space left on its disk."},
		{environment.CodeStartFailed, 3, "The container ended at once, with exit code 127."},
		{environment.CodeCleanupUnconfirmed, 8, "The engine did not confirm that the container is gone. The clean-up goes on by itself."},
	}
}

// SandboxFailureCodes lists the codes for which FailedSandboxProbe has a probe.
func SandboxFailureCodes() []string {
	all := sandboxFailures()
	codes := make([]string, len(all))
	for i, f := range all {
		codes[i] = f.code
	}
	return codes
}

// FailedSandboxProbe was stopped by a code.
func FailedSandboxProbe(code string) environment.Probe {
	n, f := byte(0x60), failure{code, 3, "The test failed."}
	for i, known := range sandboxFailures() {
		if known.code == code {
			n, f = byte(0x60+i), known
		}
	}
	p := sandboxProbe(n, 9*time.Minute)
	p.Code, p.Summary = code, f.message
	at := sandboxStage(f.stage, environment.StageFailed, *p.StartedAt)
	at.Code, at.Severity, at.Message, at.Remediation, at.DurationMs = code, "error", f.message, environment.Remedy(code), 31
	p.Stages = sandboxStages(f.stage, &at, environment.StageSkipped, *p.StartedAt)
	p.FinishedAt = pointer(p.StartedAt.Add(time.Duration(200+300*f.stage) * time.Millisecond))
	p.Qualification = NotRecorded(environment.QualProbeFailed)
	if f.stage > 3 {
		p.Host = Container()
	}
	return p
}
