// Package drivertest states once what every driver must do. A driver's tests
// call Run; what a driver cannot do is left out by its capabilities alone.
package drivertest

import (
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"testing"

	"berth/environment"
)

// Run checks a driver against the rules. newDriver returns a driver and the spec
// of a target that it can reach, whose work runs on a machine with /proc; both
// live until the end of the test. want is what the driver must declare, but for
// its schema. What sandboxes must do is checked of a driver with a provider.
func Run(t *testing.T, newDriver func(t *testing.T) (environment.Driver, environment.Spec), want environment.Capabilities) {
	// In the server's own environment; it stays there, so that drivers may be tested
	// beside other tests.
	if err := os.Setenv("BERTH_DRIVERTEST_CANARY", canary); err != nil {
		t.Fatal(err)
	}
	d, spec := newDriver(t)
	rounds := roundsOnHost
	if want.Provider != "" {
		spec, rounds = ofInstance(spec), roundsInSandbox
	}
	t.Run("declares what it can do", func(t *testing.T) { declares(t, d, want) })
	t.Run("acquires and releases, twice each", func(t *testing.T) { acquires(t, d, spec) })
	if want.Probe {
		t.Run("probes a target that is ready", func(t *testing.T) { probes(t, d, spec) })
	}
	if !want.Exec && !want.Files {
		return
	}
	if want.Provider != "" {
		runSandboxes(t, &sandboxes{driver: d, spec: spec, can: want})
	}
	ref, err := d.Acquire(t.Context(), spec)
	if err != nil {
		t.Fatalf("acquire: %v", err)
	}
	ref.Spec = spec
	if want.Exec {
		runCommands(t, &target{driver: d, ref: ref, rounds: rounds})
	}
	if want.Exec && want.Files {
		runFiles(t, &target{driver: d, ref: ref})
	}
	if _, err := d.Release(t.Context(), ref, environment.Destroy); err != nil {
		t.Errorf("release: %v", err)
	}
}

const canary = "canary-of-the-server"

func declares(t *testing.T, d environment.Driver, want environment.Capabilities) {
	got := environment.CapabilitiesOf(d, want.DisplayName)
	if s, ok := d.(environment.Schemer); ok && json.Valid(s.Schema()) {
		want.Schema = string(s.Schema())
	}
	if got != want {
		t.Errorf("CapabilitiesOf:\n got %+v\nwant %+v", got, want)
	}
	if d.Name() == "" || d.Name() != want.Driver {
		t.Errorf("Name: got %q, want %q", d.Name(), want.Driver)
	}
}

func acquires(t *testing.T, d environment.Driver, spec environment.Spec) {
	first, err := d.Acquire(t.Context(), spec)
	if err != nil {
		t.Fatalf("acquire: %v", err)
	}
	second, err := d.Acquire(t.Context(), spec)
	if err != nil {
		t.Fatalf("acquire again: %v", err)
	}
	if first.ProviderID == "" || first.Dir == "" || first.Driver != d.Name() || first.Host.Name == "" || first.Host.BootID == "" {
		t.Errorf("the ref says too little: %+v", first)
	}
	if first.Host != second.Host {
		t.Errorf("one target, two hosts: %+v and %+v", first.Host, second.Host)
	}
	for _, ref := range []environment.Ref{first, second, first} { // twice is not an error
		ref.Spec = spec
		receipt, err := d.Release(t.Context(), ref, environment.Destroy)
		if err != nil {
			t.Errorf("release: %v", err)
		}
		if receipt.Outcome == "" || receipt.ProviderID != ref.ProviderID || receipt.At.IsZero() {
			t.Errorf("the receipt says too little: %+v", receipt)
		}
	}
}

func probes(t *testing.T, d environment.Driver, spec environment.Spec) {
	var reported []environment.Stage
	result := d.(environment.Prober).Probe(t.Context(), spec, func(s environment.Stage) { reported = append(reported, s) })
	_, isSandbox := d.(environment.Provided) // a draft of one makes nothing that had a host
	if !result.OK || result.Code != "" || result.Host == nil && !isSandbox {
		t.Errorf("probe: got %+v, want OK with the host", result)
	}
	ended := map[string]environment.Stage{}
	running := map[string]bool{}
	for _, s := range reported {
		if s.Status == environment.StageRunning {
			running[s.Name] = true
			continue
		}
		ended[s.Name] = s
	}
	for _, s := range result.Stages {
		if !running[s.Name] && s.Status != environment.StageSkipped || !reflect.DeepEqual(ended[s.Name], s) {
			t.Errorf("stage %s was not reported as running, then as it ended: %+v", s.Name, ended[s.Name])
		}
		if s.Measured == nil || s.Limit == nil {
			t.Errorf("stage %s has a null measure or limit", s.Name)
		}
	}
}

// codeOf is the stable code of an error, "" for one that is not ours.
func codeOf(err error) string {
	if e, ok := errors.AsType[*environment.Error](err); ok {
		return e.Code
	}
	return ""
}
