package example

import (
	"time"

	"berth/environment"
)

// failure says at which stage a code stops a probe and what people read.
type failure struct {
	code    string
	stage   int
	message string
}

// failures lists every code of an ssh probe, in the order of the stages.
func failures() []failure {
	const at = "build.example.net port 2222"
	return []failure{
		{environment.CodeSecretMissing, 0, "The stored private key of " + at + " is gone."},
		{environment.CodeSecretDisabled, 0, "The stored private key of " + at + " is disabled."},
		{environment.CodeProviderUnavailable, 0, "The driver ssh is not installed on this server."},
		{environment.CodeDNSNotFound, 0, "No such host: build.example.net."},
		{environment.CodeDNSTemporary, 0, "The name server did not answer for build.example.net."},
		{environment.CodeConnectRefused, 1, at + " refuses connections."},
		{environment.CodeConnectTimeout, 1, at + " does not answer."},
		{environment.CodeNoRoute, 1, "There is no route to " + at + "."},
		{environment.CodeGreetingTimeout, 2, at + " accepts connections but sends no SSH greeting."},
		{environment.CodeNotSSH, 2, at + " answers, but not as an SSH server."},
		{environment.CodeNoCommonAlgorithm, 3, at + " shares no algorithm with Berth."},
		{environment.CodeHostKeyUnknown, 3, at + " presents a key that is not trusted yet."},
		{environment.CodeHostKeyChanged, 3, at + " presents another key than the trusted one."},
		{environment.CodeHostKeyRevoked, 3, at + " presents a key that is marked as revoked."},
		{environment.CodeCredentialMissing, 4, "There is neither a key nor a password for deploy on " + at + "."},
		{environment.CodeKeyUnreadable, 4, "The private key for " + at + " cannot be read."},
		{environment.CodeKeyNeedsPassphrase, 4, "The private key for " + at + " is encrypted."},
		{environment.CodeLoginRefused, 4, at + " refuses the login of deploy."},
		{environment.CodeLoginNeedsInteraction, 4, at + " asks deploy for a one-time code."},
		{environment.CodeInterrupted, 4, "The server stopped during the test."},
		{environment.CodeTimedOut, 5, "The test of " + at + " did not end within 30 s."},
		{environment.CodeShellUnusable, 5, "deploy has no working /bin/sh on " + at + "."},
		{environment.CodePlatformUnknown, 6, "build.example.net is a SunOS machine."},
		{environment.CodeWorkspaceMissing, 7, "/srv/work does not exist and cannot be made."},
		{environment.CodeWorkspaceNotWritable, 7, "/srv/work is not writable for deploy."},
		{environment.CodeToolMissing, 8, "node is not there."},
		{environment.CodeToolNotExecutable, 8, "node is there but deploy may not execute it."},
	}
}

// FailureCodes lists the codes for which FailedProbe has a probe, in the order
// of the stages.
func FailureCodes() []string {
	all := failures()
	codes := make([]string, len(all))
	for i, f := range all {
		codes[i] = f.code
	}
	return codes
}

// FailedProbe was stopped by a code. A code that stops no ssh probe gives one
// that the login stopped.
func FailedProbe(code string) environment.Probe {
	n, f := byte(17), failure{code, 4, "The test failed."}
	for i, known := range failures() {
		if known.code == code {
			n, f = byte(0x20+i), known
		}
	}
	p := probe(n, id(0x03, 2), Before(9*time.Minute))
	p.Code, p.Summary = code, f.message
	at := stage(f.stage, environment.StageFailed, *p.StartedAt)
	at.Code, at.Severity, at.Message = code, "error", f.message
	at.Remediation, at.DurationMs = environment.Remedy(code), 31
	_, _, at.Limit = measured(at.Name)
	p.Stages = stages(f.stage, &at, environment.StageSkipped, *p.StartedAt)
	p.FinishedAt = pointer(p.StartedAt.Add(time.Duration(60+40*f.stage) * time.Millisecond))
	switch code {
	case environment.CodeHostKeyUnknown:
		p.Presented = HostKeys()
	case environment.CodeHostKeyChanged:
		p.Presented, p.Trusted = []environment.HostKey{NewHostKey()}, HostKeys()[:1]
	case environment.CodeHostKeyRevoked:
		p.Presented, p.Trusted = HostKeys()[:1], HostKeys()[:1]
	}
	if f.stage > 5 {
		p.Host = Host()
	}
	if f.stage > 6 {
		p.Platform = Platform()
	}
	return p
}
