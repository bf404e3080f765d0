package environment_test

import (
	"slices"
	"testing"
	"time"

	"berth/environment"
)

// TestHealthOfCode sorts every code that a probe can end with: "cannot reach"
// is never "unfit", and the reverse.
func TestHealthOfCode(t *testing.T) {
	sorted := map[environment.Health][]string{
		environment.HealthUnreachable: {
			"dns_not_found", "dns_temporary", "connect_refused", "connect_timeout", "no_route", "greeting_timeout",
			"not_ssh", "engine_unreachable", "registry_unreachable", "provider_unavailable", "timed_out",
		},
		environment.HealthUntrusted: {"host_key_unknown", "host_key_changed", "host_key_revoked"},
		environment.HealthUnfit: {
			"no_common_algorithm", "login_refused", "login_needs_interaction", "key_needs_passphrase", "key_unreadable",
			"shell_unusable", "platform_unknown", "workspace_missing", "workspace_not_writable", "disk_low",
			"tool_missing", "tool_not_executable", "clock_off", "engine_denied", "engine_too_old", "image_not_found",
			"image_denied", "image_digest_mismatch", "create_failed", "start_failed", "cleanup_unconfirmed",
			"credential_missing", "secret_missing", "secret_disabled",
		},
		environment.HealthInterrupted: {"interrupted"},
	}
	for want, codes := range sorted {
		for _, code := range codes {
			if got := environment.HealthOfCode(code); got != want {
				t.Errorf("%s is %s, want %s", code, got, want)
			}
		}
	}
}

func TestEveryProbeCodeHasARemedy(t *testing.T) {
	for _, code := range []string{
		environment.CodeDNSNotFound, environment.CodeDNSTemporary, environment.CodeConnectRefused, environment.CodeConnectTimeout,
		environment.CodeNoRoute, environment.CodeGreetingTimeout, environment.CodeNotSSH, environment.CodeHostKeyUnknown,
		environment.CodeHostKeyChanged, environment.CodeHostKeyRevoked, environment.CodeNoCommonAlgorithm, environment.CodeLoginRefused,
		environment.CodeLoginNeedsInteraction, environment.CodeKeyNeedsPassphrase, environment.CodeKeyUnreadable,
		environment.CodeShellUnusable, environment.CodePlatformUnknown, environment.CodeWorkspaceMissing,
		environment.CodeWorkspaceNotWritable, environment.CodeDiskLow, environment.CodeToolMissing, environment.CodeToolNotExecutable,
		environment.CodeClockOff, environment.CodeTimedOut, environment.CodeInterrupted, environment.CodeProviderUnavailable,
		environment.CodeCredentialMissing, environment.CodeSecretMissing, environment.CodeSecretDisabled,
		environment.CodeEngineUnreachable, environment.CodeEngineDenied, environment.CodeEngineTooOld, environment.CodeImageNotFound,
		environment.CodeImageDenied, environment.CodeRegistryUnreachable, environment.CodeImageDigestMismatch, environment.CodeCreateFailed, environment.CodeStartFailed,
		environment.CodeCleanupUnconfirmed, environment.CodeBudgetExhausted, environment.CodeLeaseInUse,
	} {
		if environment.Remedy(code) == "" {
			t.Errorf("nothing says how to fix %s", code)
		}
	}
}

func TestProbeHealth(t *testing.T) {
	warned := []environment.Stage{{Name: "clock", Status: environment.StageWarning}}
	for name, tc := range map[string]struct {
		probe environment.Probe
		want  environment.Health
	}{
		"queued":      {environment.Probe{State: environment.ProbeQueued}, environment.HealthTesting},
		"running":     {environment.Probe{State: environment.ProbeRunning}, environment.HealthTesting},
		"ready":       {environment.Probe{State: environment.ProbeDone, OK: true}, environment.HealthReady},
		"warned":      {environment.Probe{State: environment.ProbeDone, OK: true, Stages: warned}, environment.HealthWarning},
		"refused":     {environment.Probe{State: environment.ProbeDone, Code: "connect_refused"}, environment.HealthUnreachable},
		"bad login":   {environment.Probe{State: environment.ProbeDone, Code: "login_refused"}, environment.HealthUnfit},
		"cancelled":   {environment.Probe{State: environment.ProbeCancelled}, environment.HealthInterrupted},
		"interrupted": {environment.Probe{State: environment.ProbeInterrupted, Code: "interrupted"}, environment.HealthInterrupted},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tc.probe.Health(); got != tc.want {
				t.Errorf("health %s, want %s", got, tc.want)
			}
		})
	}
}

func TestEnvironmentHealth(t *testing.T) {
	ready := &environment.Probe{State: environment.ProbeDone, OK: true, ConfigRevision: 3}
	running := &environment.Probe{State: environment.ProbeRunning}
	for name, tc := range map[string]struct {
		last, active   *environment.Probe
		configRevision int
		want           environment.Health
	}{
		"never tested":                     {nil, nil, 1, environment.HealthUntested},
		"tested as it is":                  {ready, nil, 3, environment.HealthReady},
		"edited since":                     {ready, nil, 4, environment.HealthChanged},
		"first test under way":             {nil, running, 1, environment.HealthTesting},
		"tested again":                     {ready, running, 3, environment.HealthTesting},
		"edited and tested again just now": {ready, running, 4, environment.HealthTesting},
	} {
		t.Run(name, func(t *testing.T) {
			v := environment.EnvironmentView{Last: tc.last, Active: tc.active}
			v.ConfigRevision = tc.configRevision
			if got := v.Health(); got != tc.want {
				t.Errorf("health %s, want %s", got, tc.want)
			}
		})
	}
}

func TestEveryHealthHasItsRank(t *testing.T) {
	ranks := []int{}
	for _, h := range environment.Healths() {
		ranks = append(ranks, h.Rank())
	}
	slices.Sort(ranks)
	if len(slices.Compact(ranks)) != len(environment.Healths()) {
		t.Errorf("two health words share a rank: %v", ranks)
	}
	if environment.HealthUntrusted.Rank() > environment.HealthReady.Rank() {
		t.Error("what needs somebody does not come first")
	}
}

func TestInterruptSaysWhatHappened(t *testing.T) {
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	p := environment.Probe{State: environment.ProbeRunning, Stages: []environment.Stage{
		{Name: "resolve", Status: environment.StageOK}, {Name: "connect", Status: environment.StageRunning},
		{Name: "greeting", Status: environment.StageWaiting},
	}}
	p.Interrupt(now)
	want := []environment.StageStatus{environment.StageOK, environment.StageFailed, environment.StageSkipped}
	for i, s := range p.Stages {
		if s.Status != want[i] {
			t.Errorf("%s is %s, want %s", s.Name, s.Status, want[i])
		}
	}
	if !p.State.Ended() || p.Code != environment.CodeInterrupted || p.FinishedAt == nil || !p.FinishedAt.Equal(now) {
		t.Errorf("the probe ended as %s, %s, %v", p.State, p.Code, p.FinishedAt)
	}
}
