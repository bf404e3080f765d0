package example

import (
	"encoding/json"
	"time"

	"berth/environment"

	"github.com/google/uuid"
)

// SSHConfig is build-box's: a key, a pinned host key, two required tools.
func SSHConfig() environment.SSHConfig {
	facts := KeyFacts()
	return environment.SSHConfig{Host: "build.example.net", Port: 2222, Username: "deploy", RemoteWorkspacePath: "/srv/work",
		PrivateKeySecretRef: pointer(environment.RefTo(id(0x08, 1))), KnownHosts: pointer(HostKeys()[0].KnownHostsLine),
		StrictHostKeyChecking: true, RequiredTools: []string{"git", "node"}, KeepAliveSec: 15, MinFreeMB: 512,
		KeyType: &facts.Type, KeyFingerprint: &facts.Fingerprint}
}

// sshView returns a saved ssh environment with its last probe.
func sshView(n byte, name string, last *environment.Probe) environment.EnvironmentView {
	v := environment.EnvironmentView{Environment: environment.Environment{ID: id(0x03, n), Name: name, Driver: environment.DriverSSH,
		Status: environment.StatusActive, Config: raw(SSHConfig()), EnvVars: map[string]environment.EnvVar{}, Metadata: json.RawMessage("null"),
		Revision: 5, ConfigRevision: 3, CreatedAt: Before(26 * time.Hour), UpdatedAt: Before(50 * time.Minute)}}
	if last != nil {
		last.EnvironmentID = &v.ID
		v.Last, v.Recent = last, marks(last)
	}
	return v
}

// marks is a latency line that ends with the last probe.
func marks(last *environment.Probe) []environment.ProbeMark {
	all := make([]environment.ProbeMark, 0, 12)
	for i, ms := range []int64{151, 149, 162, 158, 144, 171, 390, 166, 152, 147, 155} {
		all = append(all, environment.ProbeMark{At: Before(time.Duration(11-i) * time.Hour), OK: i != 6, DurationMs: ms})
	}
	if last.FinishedAt == nil {
		return all
	}
	return append(all, environment.ProbeMark{At: *last.FinishedAt, OK: last.OK, DurationMs: last.DurationMs()})
}

// Local is this server, the default.
func Local() environment.EnvironmentView {
	return environment.EnvironmentView{Environment: environment.Environment{ID: id(0x03, 1), Name: "Local", Driver: environment.DriverLocal,
		Status: environment.StatusActive, Config: json.RawMessage("{}"), EnvVars: map[string]environment.EnvVar{}, Metadata: json.RawMessage("null"),
		Revision: 1, ConfigRevision: 1, CreatedAt: Before(90 * 24 * time.Hour), UpdatedAt: Before(90 * 24 * time.Hour)},
		IsDefault: true}
}

// ReadySSH is build-box, tested four minutes ago and in use.
func ReadySSH() environment.EnvironmentView {
	v := sshView(2, "build-box", pointer(OKProbe()))
	v.Description = pointer("The build machine in rack 4")
	v.EnvVars = map[string]environment.EnvVar{
		"NODE_ENV":  {Type: "plain", Value: "production"},
		"NPM_TOKEN": {Type: "secret_ref", Ref: pointer(environment.RefTo(id(0x08, 2)))},
	}
	v.Uses = environment.Uses{ActiveLeases: 1, ActiveRuns: 1, Runs: 214}
	return v
}

// WarningSSH is ready but low on disk.
func WarningSSH() environment.EnvironmentView {
	return sshView(3, "ci-runner", pointer(WarningProbe()))
}

// UntrustedSSH presents a key that nobody has trusted yet.
func UntrustedSSH() environment.EnvironmentView {
	v := sshView(4, "new-host", pointer(FailedProbe(environment.CodeHostKeyUnknown)))
	c := SSHConfig()
	c.KnownHosts = nil
	v.Config = raw(c)
	return v
}

// ReplacedSSH presents another key than the trusted one.
func ReplacedSSH() environment.EnvironmentView {
	return sshView(11, "rebuilt-host", pointer(FailedProbe(environment.CodeHostKeyChanged)))
}

// Unreachable refuses connections.
func Unreachable() environment.EnvironmentView {
	return sshView(5, "lab-7", pointer(FailedProbe(environment.CodeConnectRefused)))
}

// Testing is in the login stage of a probe; it was ready before.
func Testing() environment.EnvironmentView {
	v := sshView(6, "staging", pointer(OKProbe()))
	v.Active = pointer(RunningProbe(4))
	v.Active.EnvironmentID = &v.ID
	return v
}

// Unfit was reached, but a tool is missing there.
func Unfit() environment.EnvironmentView {
	return sshView(7, "old-mac", pointer(FailedProbe(environment.CodeToolMissing)))
}

// Interrupted lost its server in the middle of its only test.
func Interrupted() environment.EnvironmentView {
	return sshView(8, "gpu-1", pointer(InterruptedProbe()))
}

// Changed was ready before its config was edited.
func Changed() environment.EnvironmentView {
	v := sshView(9, "edited-box", pointer(OKProbe()))
	v.Revision, v.ConfigRevision = 6, 6
	return v
}

// Untested was never tested.
func Untested() environment.EnvironmentView { return sshView(10, "fresh-box", nil) }

// Archived is out of use.
func Archived() environment.EnvironmentView {
	v := sshView(13, "retired-box", pointer(OKProbe()))
	v.Status = environment.StatusArchived
	return v
}

// Maintenance takes no work for now.
func Maintenance() environment.EnvironmentView {
	v := sshView(14, "rack-2", pointer(OKProbe()))
	v.Status = environment.StatusMaintenance
	return v
}

// NoDriver belongs to a driver that is not installed here.
func NoDriver() environment.EnvironmentView {
	v := sshView(15, "cloud-sandbox", nil)
	v.Driver, v.Config = environment.DriverSandbox, json.RawMessage(`{"provider":"docker","image":"debian:12"}`)
	return v
}

// Environments are one of each health, Local first.
func Environments() []environment.EnvironmentView {
	return []environment.EnvironmentView{Local(), ReadySSH(), WarningSSH(), UntrustedSSH(), Unreachable(), Testing(), Unfit(),
		Interrupted(), Changed(), Untested()}
}

// Impact is that of deleting build-box, which nothing blocks.
func Impact() environment.Impact {
	return environment.Impact{EnvironmentID: ReadySSH().ID, Blocked: []string{}, Uses: environment.Uses{Runs: 214}, SecretCount: 2}
}

// ImpactBlocked is that of a default environment in use.
func ImpactBlocked() environment.Impact {
	i := Impact()
	i.IsDefault, i.Blocked = true, []string{"instance_default", "active_use"}
	i.Uses.ActiveLeases, i.Uses.ActiveRuns = 1, 1
	return i
}

// StoredSecret is build-box's private key, without its value.
func StoredSecret() environment.StoredSecret {
	return environment.StoredSecret{ID: id(0x08, 1), EnvironmentID: pointer(uuid.UUID(ReadySSH().ID)), Name: "privateKey"}
}
