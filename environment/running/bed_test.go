package running_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"berth/environment"
	"berth/environment/catalogue"
	"berth/environment/environmenttest"
	"berth/environment/leasing"
	"berth/environment/running"

	"github.com/google/uuid"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var operator = environment.LocalOperator()

// fatal is what a test and a property check have in common.
type fatal interface {
	Helper()
	Fatalf(string, ...any)
	Errorf(string, ...any)
}

// bed is a database and a target, and the servers that come and go.
type bed struct {
	t       fatal
	store   *environmenttest.Store
	target  *target
	node    uuid.UUID
	env     environment.Environment
	company uuid.UUID
	specs   *fakeSpecs
	server  *server // the one that is up
	all     []*server
	grace   time.Duration
}

func newBed(t fatal, target *target) *bed {
	t.Helper()
	target.changed = make(chan struct{}) // one of the bubble's own
	b := &bed{t: t, store: environmenttest.NewStore(time.Now), target: target, node: environment.NewID(), company: environment.NewID(),
		specs: &fakeSpecs{}, grace: environment.RunGrace}
	if err := b.store.CreateCompany(context.Background(), environment.Company{ID: b.company, Name: "acme"}, environment.Activity{}); err != nil {
		t.Fatalf("company: %v", err)
	}
	b.store.TurnOn()
	b.env = b.newEnv("ssh", "box", environment.StatusActive)
	b.boot()
	return b
}

func (b *bed) newEnv(driver, name string, status environment.Status) environment.Environment {
	b.t.Helper()
	env, err := b.store.CreateEnvironment(context.Background(), catalogue.Write{Environment: environment.Environment{
		ID: environment.NewID(), Name: name, Driver: driver, Status: status, Config: json.RawMessage(`{"host":"h"}`),
	}})
	if err != nil {
		b.t.Fatalf("environment: %v", err)
	}
	return env
}

// server is one process of Berth on the bed.
type server struct {
	*running.Service
	leases *leasing.Service
	held   *holds
	store  *serverStore
	owner  uuid.UUID
	link   *link
	stop   func()
	ended  chan struct{}
}

// boot starts a server; a second one is a restart on the same data folder.
func (b *bed) boot() *server {
	b.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s := &server{owner: environment.NewID(), link: &link{target: b.target, cut: make(chan struct{})}, ended: make(chan struct{})}
	s.store = &serverStore{Store: b.store, onCrash: sync.OnceFunc(func() { close(s.link.cut) })}
	if err := b.store.RegisterServer(ctx, s.owner, b.node, "test"); err != nil {
		b.t.Fatalf("register: %v", err)
	}
	log := slog.New(slog.DiscardHandler)
	drivers := registry{s.link}
	s.leases = leasing.New(s.store, b.specs, drivers, leasing.Options{Owner: s.owner, InstanceID: b.node}, time.Now, log)
	s.held = &holds{Service: s.leases}
	s.Service = running.New(s.store, b.specs, s.held, drivers, environmenttest.Vault{}, b.store,
		running.Options{Owner: s.owner, Grace: b.grace}, time.Now, log)
	var group sync.WaitGroup
	group.Go(func() { _ = s.Service.Run(ctx) }) // nil at all times
	group.Go(func() { _ = s.leases.Run(ctx) })
	group.Go(func() {
		for tick := time.NewTicker(2 * time.Second); ; {
			select {
			case <-tick.C:
				if s.store.dead() || b.store.BeatServer(ctx, s.owner) != nil {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	})
	go func() {
		defer close(s.ended)
		group.Wait()
		if !s.store.dead() {
			if err := b.store.RetireServer(context.Background(), s.owner); err != nil {
				b.t.Errorf("retire: %v", err)
			}
		}
	}()
	s.stop = func() {
		cancel()
		<-s.ended
	}
	synctest.Wait()
	b.server, b.all = s, append(b.all, s)
	return s
}

// kill -9: nothing of the server is heard of again.
func (s *server) kill() { s.store.crash() }

// close ends everything that is left.
func (b *bed) close() {
	for _, s := range b.all {
		s.stop()
	}
	b.target.set(func(t *target) {
		for _, w := range t.works {
			w.end(environment.ExecResult{Ended: "closed"})
		}
	})
	time.Sleep(5 * time.Second) // the bubble's clock: the watches look once a second
}

func (b *bed) input(argv ...string) running.Input {
	return running.Input{CompanyID: b.company, EnvironmentID: &b.env.ID, Command: argv}
}

func (b *bed) start(in running.Input) environment.Run {
	b.t.Helper()
	r, err := b.server.Start(context.Background(), operator, in)
	if err != nil {
		b.t.Fatalf("start: %v", err)
	}
	return r
}

func (b *bed) run(id uuid.UUID) environment.Run {
	b.t.Helper()
	r, err := b.store.Run(context.Background(), id)
	if err != nil {
		b.t.Fatalf("run: %v", err)
	}
	return r
}

// wait returns the run when it is as wanted, or fails after an hour.
func (b *bed) wait(id uuid.UUID, wanted func(environment.Run) bool) environment.Run {
	b.t.Helper()
	for range 36_000 {
		if r := b.run(id); wanted(r) {
			return r
		}
		time.Sleep(100 * time.Millisecond)
	}
	b.t.Fatalf("run stays %+v", b.run(id))
	return environment.Run{}
}

func (b *bed) end(id uuid.UUID) environment.Run {
	b.t.Helper()
	return b.wait(id, func(r environment.Run) bool { return r.Status.Ended() })
}

func is(s environment.RunStatus) func(environment.Run) bool {
	return func(r environment.Run) bool { return r.Status == s }
}

// output is what is stored of each stream.
func (b *bed) output(id uuid.UUID) (stdout, stderr string) {
	b.t.Helper()
	text := map[environment.Stream]*bytes.Buffer{environment.Stdout: {}, environment.Stderr: {}}
	for offset := int64(0); ; {
		page, err := b.store.Log(context.Background(), id, offset, 1<<20)
		if err != nil {
			b.t.Fatalf("log: %v", err)
		}
		for _, c := range page.Chunks {
			text[c.Stream].Write(c.Data)
		}
		if page.NextOffset == offset || page.Done {
			return text[environment.Stdout].String(), text[environment.Stderr].String()
		}
		offset = page.NextOffset
	}
}

func (b *bed) lease(r environment.Run) environment.Lease {
	b.t.Helper()
	if r.LeaseID == nil {
		b.t.Fatalf("run %+v has no lease", r)
	}
	l, err := b.store.Lease(context.Background(), *r.LeaseID)
	if err != nil {
		b.t.Fatalf("lease: %v", err)
	}
	return l
}

// inBubble runs a test on fake time.
func inBubble(t *testing.T, target *target, test func(*testing.T, *bed)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, target)
		defer b.close()
		test(t, b)
	})
}

type registry struct{ link *link }

func (r registry) Driver(key environment.DriverKey) (environment.Driver, bool) {
	switch key.Driver {
	case "ssh", "local":
		return r.link, true
	case "mute":
		return mute{}, true
	case environment.DriverSandbox:
		if key.Provider == environment.ProviderDocker || key.Provider == environment.ProviderFake {
			return boxLink{link: r.link, provider: key.Provider}, true
		}
	}
	return nil, false
}
func (r registry) Capabilities() []environment.Capabilities { return nil }

type mute struct{}

func (mute) Name() string { return "mute" }
func (mute) Acquire(context.Context, environment.Spec) (environment.Ref, error) {
	return environment.Ref{}, nil
}
func (mute) Release(context.Context, environment.Ref, environment.Disposition) (environment.Receipt, error) {
	return environment.Receipt{}, nil
}

// fakeSpecs opens what a test put in.
type fakeSpecs struct {
	secrets  map[string]environment.Secret
	problems map[string]string
	vars     []environment.EnvValue

	mu        sync.Mutex
	admission environment.Admission
	asked     int // for an admission
}

func (s *fakeSpecs) admit(a environment.Admission) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.admission = a
}

func (s *fakeSpecs) admissions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

func (s *fakeSpecs) Spec(_ context.Context, e environment.Environment, _ environment.SecretUse) (environment.Spec, []environment.EnvValue, error) {
	vars := s.vars
	if e.Name == "" { // opened again from a lease: the config only
		vars = nil
	}
	return environment.Spec{EnvironmentID: e.ID, Driver: e.Driver, Config: e.Config, Secrets: s.secrets, SecretProblems: s.problems}, vars, nil
}

func leaseFilter() leasing.Filter { return leasing.Filter{} }

func (*fakeSpecs) Serves(context.Context, environment.Environment, *uuid.UUID) error { return nil }

func (*fakeSpecs) Fingerprints(_ context.Context, e environment.Environment) (environment.Fingerprints, error) {
	return environment.Fingerprints{Qualification: string(e.Config), Reuse: string(e.Config)}, nil
}

func (s *fakeSpecs) Admission(context.Context, environment.Environment, uuid.UUID) (environment.Admission, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	return s.admission, nil
}

func (*fakeSpecs) CleanupSpec(_ context.Context, _, _ *uuid.UUID, driver string, config json.RawMessage) (environment.Spec, error) {
	return environment.Spec{Driver: driver, Config: config}, nil
}
