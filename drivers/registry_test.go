package drivers_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"berth/drivers"
	"berth/environment"
)

// bare is a driver that can do nothing beyond the core.
type bare string

func (b bare) Name() string { return string(b) }
func (bare) Acquire(context.Context, environment.Spec) (environment.Ref, error) {
	return environment.Ref{}, nil
}
func (bare) Release(context.Context, environment.Ref, environment.Disposition) (environment.Receipt, error) {
	return environment.Receipt{}, nil
}

// holding is a driver with connections to close and one ability.
type holding struct {
	bare
	closed int
	err    error
}

func (h *holding) Close() error { h.closed++; return h.err }

func (h *holding) Configure(environment.ConfigInput) (environment.ConfigOutput, error) {
	return environment.ConfigOutput{}, nil
}

func TestNewRegistryRefuses(t *testing.T) {
	tests := []struct {
		name    string
		entries []drivers.Entry
		want    string
	}{
		{"a second driver of a name", []drivers.Entry{{Driver: bare("a")}, {Driver: bare("b")}, {Driver: bare("a")}}, `"a"`},
		{"a driver without a name", []drivers.Entry{{Driver: bare("")}}, "no name"},
		{"nil", []drivers.Entry{{}}, "nil"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := drivers.NewRegistry(tt.entries...)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("NewRegistry: got error %v, want one with %q", err, tt.want)
			}
		})
	}
}

func TestRegistryReads(t *testing.T) {
	h := &holding{bare: "zeta"}
	r, err := drivers.NewRegistry(drivers.Entry{Driver: h, DisplayName: "Zeta"}, drivers.Entry{Driver: bare("alpha"), DisplayName: "Alpha"})
	if err != nil {
		t.Fatal(err)
	}
	caps := r.Capabilities()
	if len(caps) != 2 || caps[0].Driver != "alpha" || caps[1].Driver != "zeta" {
		t.Fatalf("Capabilities: got %+v, want alpha then zeta", caps)
	}
	if caps[0].Configure || !caps[1].Configure || caps[1].DisplayName != "Zeta" {
		t.Errorf("Capabilities: got %+v, want only Zeta to configure", caps)
	}
	caps[0].Driver = "spoilt"
	if r.Capabilities()[0].Driver != "alpha" {
		t.Error("a caller's change of the slice reached the registry")
	}
	if d, ok := r.Driver(environment.KeyOf("zeta", "")); !ok || d != environment.Driver(h) {
		t.Errorf("Driver(zeta) = %v, %v", d, ok)
	}
	if _, ok := r.Driver(environment.KeyOf("nobody", "")); ok {
		t.Error("Driver(nobody) is there")
	}
}

func TestRegistryClose(t *testing.T) {
	boom := errors.New("boom")
	h := &holding{bare: "held", err: boom}
	r, err := drivers.NewRegistry(drivers.Entry{Driver: h}, drivers.Entry{Driver: bare("other")})
	if err != nil {
		t.Fatal(err)
	}
	before := r.Snapshot().Generation
	if err := r.Close(); !errors.Is(err, boom) {
		t.Errorf("Close: got %v, want %v", err, boom)
	}
	if err := r.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	if h.closed != 1 {
		t.Errorf("closed %d times, want once", h.closed)
	}
	if _, ok := r.Driver(environment.KeyOf("held", "")); ok || r.Snapshot().Generation <= before {
		t.Error("the closed driver is still there, or the generation did not grow")
	}
}
