package probing_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"berth/environment"
	"berth/environment/catalogue"
	"berth/environment/environmenttest"
	"berth/environment/leasing"
	"berth/environment/probing"

	"github.com/google/uuid"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bed is a service on the twin with a driver that does what a test says.
type bed struct {
	t      *testing.T
	store  *environmenttest.Store
	faulty *faultyStore
	driver *fakeDriver
	boxes  *sandboxDriver
	specs  *fakeSpecs
	node   uuid.UUID
	owner  uuid.UUID // the server that is up
	*probing.Service
	stop func() // ends the service and waits for it
}

func newBed(t *testing.T, parallel int) *bed {
	t.Helper()
	store := environmenttest.NewStore(time.Now)
	b := &bed{t: t, store: store, faulty: &faultyStore{Store: store}, driver: &fakeDriver{}, boxes: newSandboxes(), specs: &fakeSpecs{}, node: environment.NewID()}
	b.store.TurnOn()
	b.serve(parallel)
	t.Cleanup(func() { b.stop() })
	return b
}

// serve starts a server on the store: again is a restart.
func (b *bed) serve(parallel int) {
	b.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	owner := environment.NewID()
	b.owner = owner
	if err := b.store.RegisterServer(ctx, owner, b.node, "test"); err != nil {
		b.t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	leases := leasing.New(b.store, b.specs, b.drivers(), leasing.Options{Owner: owner, InstanceID: b.node}, time.Now, log)
	b.Service = probing.New(b.faulty, b.specs, leases, b.drivers(), b.store, probing.Options{Owner: owner, Parallel: parallel}, time.Now, log)
	done := make(chan error, 2)
	go func() { done <- b.Run(ctx) }()
	go func() { done <- leases.Run(ctx) }()
	beats := make(chan struct{})
	go func() {
		defer close(beats)
		for tick := time.NewTicker(2 * time.Second); ; {
			select {
			case <-tick.C:
				if err := b.store.BeatServer(ctx, owner); err != nil {
					return // a later server of this folder has taken over
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	synctest.Wait()
	b.stop = sync.OnceFunc(func() {
		cancel()
		for range 2 {
			if err := <-done; err != nil {
				b.t.Errorf("Run: %v", err)
			}
		}
		<-beats
	})
}

func (b *bed) env(driver, name string, status environment.Status) environment.Environment {
	b.t.Helper()
	env, err := b.store.CreateEnvironment(b.t.Context(), catalogue.Write{Environment: environment.Environment{
		ID: environment.NewID(), Name: name, Driver: driver, Status: status, Config: json.RawMessage(`{"host":"h"}`),
	}})
	if err != nil {
		b.t.Fatal(err)
	}
	return env
}

func (b *bed) start(id uuid.UUID) environment.Probe {
	b.t.Helper()
	p, err := b.Start(b.t.Context(), operator, id, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

func (b *bed) wait(id uuid.UUID) environment.Probe {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 5*time.Minute)
	defer cancel()
	p, err := b.Wait(ctx, operator, id)
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

func (b *bed) get(id uuid.UUID) environment.Probe {
	b.t.Helper()
	p, err := b.Get(b.t.Context(), operator, id)
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

func (b *bed) health(id uuid.UUID) environment.Health {
	b.t.Helper()
	v, err := b.store.Environment(b.t.Context(), id)
	if err != nil {
		b.t.Fatal(err)
	}
	return v.Health()
}

var operator = environment.LocalOperator()

// registry has the driver for hosts, and that for sandboxes.
type registry struct {
	driver environment.Driver
	boxes  *sandboxDriver
}

func (b *bed) drivers() registry { return registry{b.driver, b.boxes} }

func (r registry) Driver(key environment.DriverKey) (environment.Driver, bool) {
	switch key.Driver {
	case environment.DriverSSH, environment.DriverLocal:
		return r.driver, true
	case "mute": // can do nothing beyond leases
		return mute{}, true
	case environment.DriverSandbox:
		switch key.Provider {
		case environment.ProviderDocker, environment.ProviderFake:
			return r.boxes, true
		case "blind":
			return blind{r.boxes}, true
		}
	}
	return nil, false
}

func (r registry) Capabilities() []environment.Capabilities {
	return []environment.Capabilities{{Driver: environment.DriverSandbox, Provider: environment.ProviderFake, Unsupported: r.boxes.why()}}
}

type mute struct{}

func (mute) Name() string { return "mute" }
func (mute) Acquire(context.Context, environment.Spec) (environment.Ref, error) {
	return environment.Ref{}, nil
}
func (mute) Release(context.Context, environment.Ref, environment.Disposition) (environment.Receipt, error) {
	return environment.Receipt{}, nil
}

// fakeDriver probes as its script says; without one it is content.
type fakeDriver struct {
	mute
	mu      sync.Mutex
	script  func(ctx context.Context, spec environment.Spec, report func(environment.Stage)) environment.ProbeResult
	running int
	most    int
	calls   int
}

func (d *fakeDriver) Probe(ctx context.Context, spec environment.Spec, report func(environment.Stage)) environment.ProbeResult {
	d.mu.Lock()
	d.running++
	d.calls++
	d.most = max(d.most, d.running)
	script := d.script
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		d.running--
		d.mu.Unlock()
	}()
	if script == nil {
		script = content
	}
	return script(ctx, spec, report)
}

// seen is how often the driver was asked, and how often at once.
func (d *fakeDriver) seen() (calls, most int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.calls, d.most
}

func (d *fakeDriver) Describe(json.RawMessage) string { return "u@h:22" }

func (d *fakeDriver) play(script func(context.Context, environment.Spec, func(environment.Stage)) environment.ProbeResult) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.script = script
}

func content(_ context.Context, _ environment.Spec, report func(environment.Stage)) environment.ProbeResult {
	for _, name := range environment.SSHStages() {
		report(environment.Stage{Name: name, Status: environment.StageOK})
	}
	return environment.ProbeResult{OK: true, Summary: "u@h:22 is ready."}
}

// silent gets to the greeting and then waits for the end.
func silent(ctx context.Context, _ environment.Spec, report func(environment.Stage)) environment.ProbeResult {
	report(environment.Stage{Name: "resolve", Status: environment.StageOK})
	report(environment.Stage{Name: "greeting", Status: environment.StageRunning})
	<-ctx.Done()
	return environment.ProbeResult{}
}

type fakeSpecs struct {
	mu        sync.Mutex
	pins      []string
	template  *uuid.UUID
	secrets   string        // of the versions that are referred to
	pause     time.Duration // of the database
	admission environment.Admission
}

func (s *fakeSpecs) set(change func(*fakeSpecs)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

func (*fakeSpecs) Spec(_ context.Context, e environment.Environment, _ environment.SecretUse) (environment.Spec, []environment.EnvValue, error) {
	return environment.Spec{EnvironmentID: e.ID, Driver: e.Driver, Config: e.Config, ConfigRevision: e.ConfigRevision}, nil, nil
}

func (*fakeSpecs) DraftSpec(_ context.Context, _ environment.Actor, company, _ *uuid.UUID, d environment.Draft) (environment.Spec, error) {
	return environment.Spec{Driver: d.Driver, Config: json.RawMessage(`{"provider":"docker"}`), CompanyID: company}, nil
}

func (s *fakeSpecs) pinned() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.pins)
}

func (s *fakeSpecs) PinFirstUse(_ context.Context, _ uuid.UUID, text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pins = append(s.pins, text)
	return nil
}

// faultyStore is the twin with a database that can be taken away.
type faultyStore struct {
	*environmenttest.Store
	mu   sync.Mutex
	away bool
	lost bool // the answer of the next write of a new probe
	used environment.Usage
	ends map[uuid.UUID]ending
}

// ending is what a probe's end wrote.
type ending struct {
	probe  environment.Probe
	change environment.QualificationChange
}

// ended is what was written of a probe, whose end is waited for.
func (b *bed) ended(id uuid.UUID) ending {
	b.t.Helper()
	b.wait(id)
	b.faulty.mu.Lock()
	defer b.faulty.mu.Unlock()
	return b.faulty.ends[id]
}

func (s *faultyStore) Usage(context.Context, uuid.UUID) (environment.Usage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used, nil
}

func (s *faultyStore) CreateProbe(ctx context.Context, p environment.Probe) (environment.Probe, bool, error) {
	made, created, err := s.Store.CreateProbe(ctx, p)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost {
		s.lost = false
		return environment.Probe{}, false, environment.Unavailable("database_unavailable", "The database does not answer.")
	}
	return made, created, err
}

func (s *faultyStore) setAway(away bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away = away
}

func (s *faultyStore) gone() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away {
		return environment.Unavailable("database_unavailable", "The database does not answer.")
	}
	return nil
}

func (s *faultyStore) FinishProbe(ctx context.Context, p environment.Probe, q environment.QualificationChange, a environment.Activity) (environment.Probe, error) {
	if err := s.gone(); err != nil {
		return p, err
	}
	s.mu.Lock()
	if s.ends == nil {
		s.ends = map[uuid.UUID]ending{}
	}
	s.ends[p.ID] = ending{p, q}
	s.mu.Unlock()
	return s.Store.FinishProbe(ctx, p, q, a)
}

func (s *faultyStore) ReportStages(ctx context.Context, id uuid.UUID, stages ...environment.Stage) error {
	if err := s.gone(); err != nil {
		return err
	}
	return s.Store.ReportStages(ctx, id, stages...)
}

func stageOf(p environment.Probe, name string) environment.Stage {
	for _, s := range p.Stages {
		if s.Name == name {
			return s
		}
	}
	return environment.Stage{}
}

func (*fakeSpecs) CompanyOf(_ context.Context, _ environment.Environment, given *uuid.UUID) (*uuid.UUID, error) {
	return given, nil
}

func (s *fakeSpecs) Fingerprints(_ context.Context, e environment.Environment) (environment.Fingerprints, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	time.Sleep(s.pause)
	print := string(e.Config) + s.secrets
	return environment.Fingerprints{Qualification: print, Reuse: print, Template: s.template}, nil
}

func (s *fakeSpecs) Admission(context.Context, environment.Environment, uuid.UUID) (environment.Admission, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.admission, nil
}

func (*fakeSpecs) CleanupSpec(_ context.Context, _, _ *uuid.UUID, driver string, config json.RawMessage) (environment.Spec, error) {
	return environment.Spec{Driver: driver, Config: config}, nil
}
