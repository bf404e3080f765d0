package ssh_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"berth/drivers/ssh"
	"berth/drivers/ssh/sshdtest"
	"berth/environment"
)

// newDriver returns a driver that is closed with the test.
func newDriver(t testing.TB, change ...func(*ssh.Options)) *ssh.Driver {
	t.Helper()
	var opts ssh.Options
	for _, c := range change {
		c(&opts)
	}
	d := ssh.New(opts)
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Errorf("close the driver: %v", err)
		}
	})
	return d
}

// settings are the config of a server as a form would send it.
func settings(s *sshdtest.Server, change map[string]any) map[string]any {
	config := map[string]any{
		"host": s.Host, "port": s.Port, "username": s.User, "remoteWorkspacePath": s.Home + "/work",
		"privateKey": s.PrivateKey, "knownHosts": s.KnownHosts(),
	}
	maps.Copy(config, change)
	maps.DeleteFunc(config, func(_ string, v any) bool { return v == nil })
	return config
}

// configure lets the driver normalise a config.
func configure(t testing.TB, d *ssh.Driver, config map[string]any, stored map[string]string) (environment.ConfigOutput, error) {
	t.Helper()
	raw := map[string]json.RawMessage{}
	for key, value := range config {
		b, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		raw[key] = b
	}
	return d.Configure(environment.ConfigInput{Config: raw, Stored: func(field string) (environment.Secret, bool) {
		text, ok := stored[field]
		return environment.NewSecret(text), ok
	}})
}

// specOf is the spec of a config, through Configure, as a save would make it.
func specOf(t testing.TB, d *ssh.Driver, config map[string]any) environment.Spec {
	t.Helper()
	out, err := configure(t, d, config, nil)
	if err != nil {
		t.Fatalf("configure: %v %v", err, fieldsOf(err))
	}
	return environment.Spec{EnvironmentID: environment.NewID(), Driver: "ssh", Config: out.Config, Secrets: out.Secrets}
}

func fieldsOf(err error) map[string]string {
	fields := map[string]string{}
	if e, ok := errors.AsType[*environment.Error](err); ok {
		for _, f := range e.Fields {
			fields[f.Field] = f.Message
		}
	}
	return fields
}

// probe probes with the product's limit and checks what holds for every probe.
func probe(t testing.TB, d *ssh.Driver, spec environment.Spec) environment.ProbeResult {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	last := map[string]environment.Stage{}
	result := d.Probe(ctx, spec, func(s environment.Stage) { last[s.Name] = s })
	checkResult(t, result, last)
	return result
}

func checkResult(t testing.TB, r environment.ProbeResult, reported map[string]environment.Stage) {
	t.Helper()
	var names []string
	failed := false
	for _, s := range r.Stages {
		names = append(names, s.Name)
		if s.Measured == nil || s.Limit == nil {
			t.Errorf("stage %s has a null map", s.Name)
		}
		switch s.Status {
		case environment.StageFailed:
			failed = true
			if s.Code != r.Code || s.Message == "" || s.Remediation == "" {
				t.Errorf("failed stage %s: code %q (result %q), message %q, remediation %q", s.Name, s.Code, r.Code, s.Message, s.Remediation)
			}
		case environment.StageSkipped:
			if !failed {
				t.Errorf("stage %s is skipped, but none before it failed", s.Name)
			}
		case environment.StageOK, environment.StageWarning:
			if failed {
				t.Errorf("stage %s is %s after a failure", s.Name, s.Status)
			}
			if s.StartedAt == nil {
				t.Errorf("stage %s has no time", s.Name)
			}
		default:
			t.Errorf("stage %s ended as %q", s.Name, s.Status)
		}
		if got := reported[s.Name]; got.Status != s.Status || got.Code != s.Code {
			t.Errorf("stage %s was last reported as %s %q, result says %s %q", s.Name, got.Status, got.Code, s.Status, s.Code)
		}
	}
	if want := strings.Join(environment.SSHStages(), " "); strings.Join(names, " ") != want {
		t.Errorf("stages %v, want %s", names, want)
	}
	if r.OK == failed || r.OK != (r.Code == "") || r.Summary == "" {
		t.Errorf("ok %v, code %q, failed %v, summary %q", r.OK, r.Code, failed, r.Summary)
	}
}

// mustPass fails the test unless the probe passed.
func mustPass(t testing.TB, r environment.ProbeResult) {
	t.Helper()
	if !r.OK {
		t.Fatalf("probe failed: %s: %s\n%s", r.Code, r.Summary, stageList(r))
	}
}

// mustFail fails the test unless the probe failed at a stage with a code.
func mustFail(t testing.TB, r environment.ProbeResult, stage, code string) environment.Stage {
	t.Helper()
	if r.OK || r.Code != code || stageOf(r, stage).Status != environment.StageFailed {
		t.Fatalf("probe: ok %v, code %q (%s), want %q at %s\n%s", r.OK, r.Code, r.Summary, code, stage, stageList(r))
	}
	return stageOf(r, stage)
}

func stageOf(r environment.ProbeResult, name string) environment.Stage {
	for _, s := range r.Stages {
		if s.Name == name {
			return s
		}
	}
	return environment.Stage{}
}

func stageList(r environment.ProbeResult) string {
	var b strings.Builder
	for _, s := range r.Stages {
		b.WriteString(s.Name + " " + string(s.Status) + " " + s.Code + " " + s.Message + "\n")
	}
	return b.String()
}

func contains(t testing.TB, text string, wanted ...string) {
	t.Helper()
	for _, w := range wanted {
		if !strings.Contains(text, w) {
			t.Errorf("%q does not say %q", text, w)
		}
	}
}
