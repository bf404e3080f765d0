package example

import (
	"time"

	"berth/environment"

	"github.com/google/uuid"
)

// timings are how long each stage of a good probe takes, in milliseconds.
var timings = [...]int64{2, 11, 4, 9, 38, 24, 12, 21, 18, 9}

// measured is what a stage of a good probe measures, with its limit.
func measured(stage string) (message string, values, limit map[string]any) {
	switch stage {
	case "resolve":
		return "build.example.net is 192.0.2.17.", map[string]any{"addresses": []any{"192.0.2.17"}}, map[string]any{}
	case "connect":
		return "192.0.2.17 port 2222 accepts connections.", map[string]any{"address": "192.0.2.17:2222"}, map[string]any{"seconds": 10}
	case "greeting":
		return "SSH-2.0-OpenSSH_9.2p1 answers.", map[string]any{"version": "SSH-2.0-OpenSSH_9.2p1"}, map[string]any{"seconds": 10}
	case "host_key":
		return "The host key is the trusted one.", map[string]any{"type": "ssh-ed25519", "fingerprint": HostKeys()[0].Fingerprint}, map[string]any{}
	case "login":
		return "deploy is logged in with a key.", map[string]any{"method": "publickey", "username": "deploy"}, map[string]any{}
	case "shell":
		return "/bin/sh works.", map[string]any{"shell": "/bin/sh"}, map[string]any{}
	case "platform":
		return "Linux on x64 with glibc 2.36.", map[string]any{"os": "linux", "arch": "x64", "libc": "glibc", "libcVersion": "2.36"}, map[string]any{}
	case "workspace":
		return "/srv/work is writable, 48 GB free.", map[string]any{"path": "/srv/work", "freeMB": 49152}, map[string]any{"minFreeMB": 512}
	case "tools":
		return "git and node are there.", map[string]any{"git": "/usr/bin/git", "node": "/usr/bin/node"}, map[string]any{}
	case "clock":
		return "The clock is 0.2 s off.", map[string]any{"offsetSeconds": 0.2}, map[string]any{"seconds": 60}
	case "host":
		return "This server's folder /srv/berth is writable. This proves no more than that.", map[string]any{"path": "/srv/berth"}, map[string]any{}
	}
	return "", map[string]any{}, map[string]any{}
}

// stage returns a stage of the ssh probe in a status.
func stage(n int, status environment.StageStatus, began time.Time) environment.Stage {
	name := environment.SSHStages()[n]
	s := environment.Stage{Name: name, Status: status, Severity: "info", Measured: map[string]any{}, Limit: map[string]any{}}
	switch status {
	case environment.StageOK:
		s.Message, s.Measured, s.Limit = measured(name)
		s.StartedAt, s.DurationMs = pointer(began), timings[n]
	case environment.StageRunning:
		_, _, s.Limit = measured(name)
		s.StartedAt = pointer(began)
	case environment.StageSkipped:
		s.Message = "Not tried: an earlier stage failed."
	}
	return s
}

// stages returns n good stages, then the given one, then the rest in status.
func stages(n int, at *environment.Stage, rest environment.StageStatus, began time.Time) []environment.Stage {
	all := make([]environment.Stage, 0, len(timings))
	for i := range timings {
		switch {
		case i < n:
			all = append(all, stage(i, environment.StageOK, began))
			began = began.Add(time.Duration(timings[i]) * time.Millisecond)
		case i == n && at != nil:
			s := *at
			s.StartedAt = pointer(began)
			all = append(all, s)
		default:
			all = append(all, stage(i, rest, began))
		}
	}
	return all
}

// probe returns the frame of a probe of build-box that began a while ago.
func probe(n byte, environmentID uuid.UUID, began time.Time) environment.Probe {
	return environment.Probe{ID: id(0x04, n), EnvironmentID: &environmentID, CompanyID: pointer(Acme().ID), Driver: environment.DriverSSH,
		Target: "deploy@build.example.net:2222", State: environment.ProbeDone, ConfigRevision: 3, ActorName: "local operator",
		Owner: Server(), CreatedAt: began, StartedAt: pointer(began), Deadline: began.Add(30 * time.Second),
		Presented: []environment.HostKey{}, Trusted: []environment.HostKey{}}
}

// OKProbe passed in all ten stages.
func OKProbe() environment.Probe {
	p := probe(1, id(0x03, 2), Before(4*time.Minute))
	p.OK, p.Stages = true, stages(len(timings), nil, environment.StageOK, *p.StartedAt)
	p.Summary = "build.example.net port 2222 is ready: all ten stages passed."
	p.Host, p.Platform = Host(), Platform()
	p.FinishedAt = pointer(p.StartedAt.Add(148 * time.Millisecond))
	return p
}

// Host is build-box in its own words.
func Host() *environment.HostFacts {
	return &environment.HostFacts{Name: "build-box", BootID: "6f1c7a52-0d0f-4be5-9c1f-3a0b8a54a1d7"}
}

// Platform is what build-box is.
func Platform() *environment.Platform {
	return &environment.Platform{OS: "linux", Arch: "x64", Libc: "glibc", LibcVersion: "2.36", Distro: "Debian GNU/Linux 12"}
}

// WarningProbe is good but for little free disk.
func WarningProbe() environment.Probe {
	p := OKProbe()
	p.ID = id(0x04, 2)
	p.Summary = "build.example.net port 2222 is ready, with 1 warning: little disk is free."
	s := &p.Stages[7]
	s.Status, s.Code, s.Severity = environment.StageWarning, environment.CodeDiskLow, "warning"
	s.Message, s.Remediation = "/srv/work is writable, but only 212 MB are free.", environment.Remedy(environment.CodeDiskLow)
	s.Measured = map[string]any{"path": "/srv/work", "freeMB": 212}
	return p
}

// QueuedProbe waits for its turn.
func QueuedProbe() environment.Probe {
	p := probe(3, id(0x03, 6), Before(time.Second))
	p.State, p.StartedAt = environment.ProbeQueued, nil
	p.Stages = []environment.Stage{}
	return p
}

// RunningProbe is in its stage n, counted from 0 in environment.SSHStages.
func RunningProbe(n int) environment.Probe {
	p := probe(4, id(0x03, 6), Before(2*time.Second))
	p.State = environment.ProbeRunning
	at := stage(n, environment.StageRunning, *p.StartedAt)
	p.Stages = stages(n, &at, environment.StageWaiting, *p.StartedAt)
	return p
}

// InterruptedProbe died with its server in the login stage.
func InterruptedProbe() environment.Probe {
	p := FailedProbe(environment.CodeInterrupted)
	p.State = environment.ProbeInterrupted
	return p
}

// CancelledProbe was stopped by a person while it connected.
func CancelledProbe() environment.Probe {
	p := probe(6, id(0x03, 2), Before(6*time.Minute))
	p.State, p.Summary = environment.ProbeCancelled, "The test was cancelled."
	p.Stages = stages(1, nil, environment.StageSkipped, *p.StartedAt)
	p.FinishedAt = pointer(p.StartedAt.Add(900 * time.Millisecond))
	return p
}

// LocalProbe passed on this server.
func LocalProbe() environment.Probe {
	p := probe(7, id(0x03, 1), Before(time.Hour))
	p.Driver, p.Target, p.OK = environment.DriverLocal, "this server", true
	s := environment.Stage{Name: "host", Status: environment.StageOK, Severity: "info", StartedAt: p.StartedAt, DurationMs: 3}
	s.Message, s.Measured, s.Limit = measured("host")
	p.Stages, p.Summary = []environment.Stage{s}, s.Message
	p.Host = &environment.HostFacts{Name: "berth-1", BootID: "0f7dd8a4-2f0b-4c55-8a64-6b5c3d1b6f22"}
	p.Platform, p.FinishedAt = Platform(), pointer(p.StartedAt.Add(3*time.Millisecond))
	return p
}
