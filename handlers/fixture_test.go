package handlers

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"berth/environment"
	"berth/environment/catalogue"
	"berth/environment/environmenttest"
	"berth/environment/identity"
	"berth/environment/leasing"
	"berth/environment/probing"
	"berth/environment/running"
	"berth/environment/secrets"

	"github.com/google/uuid"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, goleak.Cleanup(finish)) }

// front is a whole front door on the twin of the database, with a scripted
// driver, behind a real socket.
type front struct {
	t        *testing.T
	store    *flaky
	driver   *scriptedSSH
	sandbox  *scriptedSandbox
	url      string
	log      *lockedBuffer
	company  uuid.UUID
	server   *server
	stopping chan struct{}
	stays    bool // where a redirect is answered
}

// flaky is the twin with a switch that takes it away.
type flaky struct {
	*environmenttest.Store
	away atomic.Bool
	// looks is told when a loop looks for what dead servers left, which it does once
	// it takes work; nobody need listen.
	looks chan string
	// noLeases takes the lists of leases away alone.
	noLeases atomic.Bool
	// beforeLog, unless nil, is called before a log is read.
	beforeLog func()
	// beforeActivity, unless nil, is called before the log of who did what is read.
	beforeActivity func() error
}

func (f *flaky) OrphanedRuns(ctx context.Context, owner uuid.UUID, limit int) ([]environment.Run, error) {
	f.tell("runs")
	return f.Store.OrphanedRuns(ctx, owner, limit)
}

func (f *flaky) InterruptOrphans(ctx context.Context, owner uuid.UUID) (int, error) {
	f.tell("probes")
	return f.Store.InterruptOrphans(ctx, owner)
}

func (f *flaky) tell(loop string) {
	select {
	case f.looks <- loop:
	default:
	}
}

// open waits until runs and probes are taken.
func (f *flaky) open() {
	for looked := map[string]bool{}; len(looked) < 2; {
		looked[<-f.looks] = true
	}
}

func (f *flaky) Activity(ctx context.Context, filter environment.ActivityFilter) (environment.Page[environment.Activity], error) {
	if f.beforeActivity != nil {
		if err := f.beforeActivity(); err != nil {
			return environment.Page[environment.Activity]{}, err
		}
	}
	return f.Store.Activity(ctx, filter)
}

func (f *flaky) Log(ctx context.Context, id uuid.UUID, offset int64, limit int) (environment.LogPage, error) {
	if f.beforeLog != nil {
		f.beforeLog()
	}
	return f.Store.Log(ctx, id, offset, limit)
}

func (f *flaky) err() error {
	if f.away.Load() {
		return environment.Unavailable("database_unavailable", "The database does not answer.")
	}
	return nil
}

func (f *flaky) CatalogueRevision(ctx context.Context) (int64, error) {
	if err := f.err(); err != nil {
		return 0, err
	}
	return f.Store.CatalogueRevision(ctx)
}

func (f *flaky) Companies(ctx context.Context) ([]environment.Company, error) {
	if err := f.err(); err != nil {
		return nil, err
	}
	return f.Store.Companies(ctx)
}

func (f *flaky) Probe(ctx context.Context, id uuid.UUID) (environment.Probe, error) {
	if err := f.err(); err != nil {
		return environment.Probe{}, err
	}
	return f.Store.Probe(ctx, id)
}

func (f *flaky) Events(ctx context.Context, subject uuid.UUID, after int64, limit int) ([]environment.Event, error) {
	if err := f.err(); err != nil {
		return nil, err
	}
	return f.Store.Events(ctx, subject, after, limit)
}

func (f *flaky) ActorOfSession(ctx context.Context, id uuid.UUID) (environment.Actor, error) {
	if err := f.err(); err != nil {
		return environment.Actor{}, err
	}
	return f.Store.ActorOfSession(ctx, id)
}

func (f *flaky) ActorOfKey(ctx context.Context, hash []byte) (environment.Actor, error) {
	if err := f.err(); err != nil {
		return environment.Actor{}, err
	}
	return f.Store.ActorOfKey(ctx, hash)
}

func (f *flaky) Counts(ctx context.Context, c environment.Credential) (environment.Actor, error) {
	if err := f.err(); err != nil {
		return environment.Actor{}, err
	}
	return f.Store.Counts(ctx, c)
}

func (f *flaky) Ping(context.Context) error { return f.err() }

// newFront opens one in local_trusted, or as changed.
func newFront(t *testing.T, changes ...func(*Deps)) *front {
	t.Helper()
	f := &front{t: t, driver: newScriptedSSH(), sandbox: newScriptedSandbox(), log: &lockedBuffer{}, stopping: make(chan struct{})}
	f.store = &flaky{Store: environmenttest.NewStore(time.Now), looks: make(chan string, 10)}
	log := slog.New(slog.NewTextHandler(f.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	d := newDeps(t, f.store, log, f.driver, f.sandbox)
	d.Ping, d.Stopping = f.store.Ping, f.stopping
	books, probes, runs := d.Catalogue, d.Probing, d.Running
	for _, change := range changes {
		change(&d)
	}
	f.server = newServer(d)
	f.server.heartbeat, f.server.retry = 20*time.Millisecond, 10*time.Millisecond
	f.server.assets = packedForms{}
	web := httptest.NewServer(documented(t, f.server.handler()))
	f.url = web.URL
	loops, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	group.Go(func() { _ = probes.Run(loops) }) // ends with its context
	group.Go(func() { _ = runs.Run(loops) })
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(f.log.String())
		}
		f.driver.open()
		f.sandbox.open()
		cancel()
		group.Wait()
		web.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	f.store.open()
	if _, err := books.EnsureLocal(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	company, err := books.CreateCompany(t.Context(), environment.LocalOperator(), "Acme")
	if err != nil {
		t.Fatal(err)
	}
	f.company = company.ID
	on := true
	if _, err := books.UpdateSettings(t.Context(), environment.LocalOperator(), environment.SettingsPatch{EnableEnvironments: &on}); err != nil {
		t.Fatal(err)
	}
	return f
}

// newDeps wires the services over a store, in the mode local_trusted.
func newDeps(t *testing.T, store environmenttest.Stores, log *slog.Logger, drivers ...environment.Driver) Deps {
	t.Helper()
	registry := driverTable{{Driver: environment.DriverLocal}: localDriver{}}
	for _, d := range drivers {
		registry[environment.CapabilitiesOf(d, "").Key()] = d
	}
	owner := environment.NewID()
	if err := store.RegisterServer(t.Context(), owner, environment.NewID(), "test"); err != nil {
		t.Fatal(err)
	}
	vault := environmenttest.OpenKeyset(nil)
	books := catalogue.New(store, registry, vault, time.Now, log)
	leases := leasing.New(store, books, registry, leasing.Options{Owner: owner, InstanceID: environment.NewID()}, time.Now, log)
	probes := probing.New(store, books, leases, registry, store, probing.Options{Owner: owner, Parallel: 4, Limit: 20 * time.Second}, time.Now, log)
	runs := running.New(store, books, leases, registry, vault, store, running.Options{Owner: owner, Grace: time.Second}, time.Now, log)
	return Deps{
		Catalogue: books, Probing: probes, Leasing: leases, Running: runs, Feed: store,
		Identity: identity.New(store, plainHasher{}, rand.Reader, identity.Options{}, time.Now, log),
		Secrets:  secrets.NewService(store, vault, time.Now, log),
		Ping:     func(context.Context) error { return nil }, Log: log, Now: time.Now,
		Version: "test", Mode: modeLocalTrusted, Listen: "127.0.0.1:0", PublicURL: "https://berth.example",
		StateCounts: func(context.Context) (map[string]map[string]int, error) {
			return map[string]map[string]int{"run": {"running": 3}}, nil
		},
	}
}

// plainHasher is quick and protects nothing.
type plainHasher struct{}

func (plainHasher) Hash(password environment.Secret) (string, error) {
	return "plain " + password.Reveal(), nil
}

func (plainHasher) Matches(hash string, password environment.Secret) (ok, stale bool) {
	return hash == "plain "+password.Reveal(), false
}

// answer is a response with its body read.
type answer struct {
	Status int
	Header http.Header
	Body   string
}

// stay is call that follows no redirect.
func (f *front) stay(method, path, body string, headers ...string) answer {
	f.t.Helper()
	staying := *f
	staying.stays = true
	return staying.call(method, path, body, headers...)
}

// call sends a request; body "" sends none. headers are "Name: value".
func (f *front) call(method, path, body string, headers ...string) answer {
	f.t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(f.t.Context(), method, f.url+path, reader)
	if err != nil {
		f.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			req.Host = value
			continue
		}
		req.Header.Set(name, value)
	}
	client := *http.DefaultClient
	if f.stays {
		client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	resp, err := client.Do(req)
	if err != nil {
		f.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		f.t.Fatalf("%s %s: read: %v", method, path, err)
	}
	return answer{resp.StatusCode, resp.Header, string(raw)}
}

// want checks the status and decodes the body into into, if that is not nil.
func (f *front) want(a answer, status int, into any) answer {
	f.t.Helper()
	if a.Status != status {
		f.t.Fatalf("status %d, want %d: %s", a.Status, status, a.Body)
	}
	if into != nil {
		if err := json.Unmarshal([]byte(a.Body), into); err != nil {
			f.t.Fatalf("body %q: %v", a.Body, err)
		}
	}
	return a
}

func (f *front) environments() string {
	return "/api/companies/" + f.company.String() + "/environments"
}

// create makes an ssh environment and returns its id.
func (f *front) create(name string) string {
	f.t.Helper()
	var env struct{ ID string }
	f.want(f.call("POST", f.environments(), `{"name":"`+name+`","driver":"ssh","config":{"host":"box.test","username":"runner"}}`), 201, &env)
	return env.ID
}

// lockedBuffer takes logs from several goroutines.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// eventually waits until check holds.
func eventually(t *testing.T, what string, check func() bool) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !check() {
		select {
		case <-deadline:
			t.Fatalf("timed out waiting: %s", what)
		case <-tick.C:
		}
	}
}
