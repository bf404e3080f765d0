package example_test

import (
	"slices"
	"strings"
	"testing"

	"berth/environment"
	"berth/environment/example"
)

func TestHealthOfEachEnvironment(t *testing.T) {
	for name, c := range map[string]struct {
		view environment.EnvironmentView
		want environment.Health
	}{
		"local":       {example.Local(), environment.HealthUntested},
		"ready":       {example.ReadySSH(), environment.HealthReady},
		"warning":     {example.WarningSSH(), environment.HealthWarning},
		"untrusted":   {example.UntrustedSSH(), environment.HealthUntrusted},
		"replaced":    {example.ReplacedSSH(), environment.HealthUntrusted},
		"unreachable": {example.Unreachable(), environment.HealthUnreachable},
		"testing":     {example.Testing(), environment.HealthTesting},
		"unfit":       {example.Unfit(), environment.HealthUnfit},
		"interrupted": {example.Interrupted(), environment.HealthInterrupted},
		"changed":     {example.Changed(), environment.HealthChanged},
		"untested":    {example.Untested(), environment.HealthUntested},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.view.Health(); got != c.want {
				t.Errorf("health of %q: got %s, want %s", c.view.Name, got, c.want)
			}
		})
	}
}

func TestEnvironmentsShowEachHealth(t *testing.T) {
	seen := map[environment.Health]bool{}
	for _, v := range example.Environments() {
		seen[v.Health()] = true
	}
	for _, h := range environment.Healths() {
		if !seen[h] {
			t.Errorf("no example environment is %s", h)
		}
	}
}

func TestEachFailureStopsOneStage(t *testing.T) {
	for _, code := range example.FailureCodes() {
		t.Run(code, func(t *testing.T) {
			p := example.FailedProbe(code)
			i := slices.IndexFunc(p.Stages, func(s environment.Stage) bool { return s.Status == environment.StageFailed })
			if i < 0 || p.Stages[i].Code != code || p.Stages[i].Remediation == "" {
				t.Fatalf("stages of %s: no failed stage with its code and a remedy: %+v", code, p.Stages)
			}
			for _, s := range p.Stages[i+1:] {
				if s.Status != environment.StageSkipped {
					t.Errorf("stage %s after the failure: got %s, want skipped", s.Name, s.Status)
				}
			}
		})
	}
}

func TestEachStateHasItsExample(t *testing.T) {
	for _, s := range environment.RunStatuses() {
		r := example.Run(s)
		if r.Status != s || s.Ended() != (r.FinishedAt != nil) {
			t.Errorf("run %s: got status %s, finished %v", s, r.Status, r.FinishedAt)
		}
	}
	for _, s := range environment.LeaseStatuses() {
		if l := example.Lease(s); l.Status != s {
			t.Errorf("lease %s: got status %s", s, l.Status)
		}
	}
}

func TestLogIsWhole(t *testing.T) {
	var all strings.Builder
	for _, c := range example.Log().Chunks {
		if c.Offset != int64(all.Len()) {
			t.Errorf("chunk at %d, want %d", c.Offset, all.Len())
		}
		all.Write(c.Data)
	}
	if int64(all.Len()) != example.Log().NextOffset || !strings.HasPrefix(string(example.Log().Chunks[1].Data), "warn") {
		t.Errorf("log: got %q", all.String())
	}
}
