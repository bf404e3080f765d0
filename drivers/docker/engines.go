package docker

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"berth/environment"

	"github.com/moby/moby/client"
)

// oldestVersion of the API, which Docker 20.10 and Podman 4 speak.
const oldestVersion = "1.41"

// engine is a client of one engine, for all sandboxes there.
type engine struct {
	*client.Client
	at      endpoint
	connect dialer
	limits  Limits
	server  atomic.Pointer[string] // what it calls itself: "Docker/20.10.24"
	spoken  string                 // the version that was agreed on, once greeted
	stale   atomic.Bool            // another engine answers, which is older than that
	used    time.Time              // guarded by engines.mu
}

// engines keeps a client for each engine, so that its connections serve many.
type engines struct {
	idle   time.Duration
	mu     sync.Mutex
	open   map[engineKey]*engine
	closed bool
}

// engineKey stands for all that a connection depends on, secrets among it.
type engineKey [sha256.Size]byte

func newEngines(idle time.Duration) *engines {
	return &engines{idle: idle, open: map[engineKey]*engine{}}
}

// keyOf names an engine. The hash stays in memory.
func keyOf(c config, spec environment.Spec) (engineKey, error) {
	secrets := map[string]string{}
	for _, name := range secretsOf(c.endpoint().scheme) {
		secrets[name] = spec.Secrets[name].Reveal() + "\x00" + spec.SecretProblems[name]
	}
	text, err := json.Marshal([]any{c.endpoint().String(), c.TLSCA, c.TLSCert, c.SSHKnownHosts, secrets})
	if err != nil {
		return engineKey{}, fmt.Errorf("name an engine: %w", err)
	}
	return sha256.Sum256(text), nil
}

// engine returns the engine of a config, asked for its version when it is new.
// Errors have one of the codes engine_unreachable, engine_denied,
// engine_too_old, or the dialler's own.
func (d *Driver) engine(ctx context.Context, c config, spec environment.Spec) (*engine, error) {
	key, err := keyOf(c, spec)
	if err != nil {
		return nil, err
	}
	if e := d.engines.get(key, d.now()); e != nil {
		return e, nil
	}
	e, err := d.newEngine(c, spec)
	if err != nil {
		return nil, err
	}
	if err := e.greet(ctx); err != nil {
		_ = e.Close()
		return nil, err
	}
	e.spoken = e.ClientVersion()
	return d.engines.put(key, e, d.now()), nil
}

// newEngine makes a client. Nothing is dialled.
func (d *Driver) newEngine(c config, spec environment.Spec) (*engine, error) {
	connect, err := d.dialer(c, spec)
	if err != nil {
		return nil, err
	}
	e := &engine{at: c.endpoint(), connect: connect, limits: d.limits}
	e.Client, err = client.New(
		// The address is the dialler's; the client sees a socket, whatever it is.
		client.WithHost("unix:///engine"), client.WithScheme("http"), client.WithUserAgent("berth"),
		client.WithDialContext(e.dial), client.WithHTTPResponseHook(e.note),
	)
	if err != nil {
		return nil, fmt.Errorf("make a client for %s: %w", e.at, err)
	}
	return e, nil
}

// dial opens a connection. That for a stream is the stream's own and without a
// limit; one for calls limits each answer.
func (e *engine) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, e.limits.Dial)
	defer cancel()
	conn, err := e.connect(ctx)
	if err != nil || network == overUnix {
		return conn, err
	}
	return &answers{Conn: conn}, nil
}

// note keeps what an engine says of itself with each answer.
func (e *engine) note(r *http.Response) {
	if server, _, _ := strings.Cut(r.Header.Get("Server"), " "); server != "" {
		server = clean(server)
		e.server.Store(&server)
	}
	if now := r.Header.Get("Api-Version"); e.spoken != "" && versionLess(now, e.spoken) {
		e.stale.Store(true)
	}
}

// version is what the engine calls itself, or its API's version.
func (e *engine) version() string {
	if server := e.server.Load(); server != nil {
		return *server
	}
	return "API " + e.ClientVersion()
}

// greet asks an engine for its version. The first time decides which is spoken.
func (e *engine) greet(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, e.limits.Call)
	defer cancel()
	ping, err := e.Ping(limited, client.PingOptions{NegotiateAPIVersion: true})
	if versionLess(ping.APIVersion, oldestVersion) {
		return environment.NewError(environment.KindUnsupported, environment.CodeEngineTooOld,
			fmt.Sprintf("The engine at %s speaks version %s of the API; Berth needs %s.", e.at.shown(), clean(ping.APIVersion), oldestVersion)).
			Remedy("Update the engine: Docker 20.10 or newer, or Podman 4 or newer.").With("apiVersion", clean(ping.APIVersion))
	}
	if err != nil {
		return e.explain(ctx, err, environment.CodeEngineUnreachable, "say which version it is")
	}
	if ping.OSType != "" && ping.OSType != "linux" {
		return environment.NewError(environment.KindUnsupported, environment.CodeEngineTooOld,
			fmt.Sprintf("The engine at %s makes containers of %s; Berth needs Linux.", e.at.shown(), clean(ping.OSType)))
	}
	return nil
}

// versionLess reports whether a version is known and before another.
func versionLess(version, than string) bool {
	number := func(text string) (major, minor int, ok bool) {
		first, second, _ := strings.Cut(text, ".")
		major, err1 := strconv.Atoi(first)
		minor, err2 := strconv.Atoi(second)
		return major, minor, err1 == nil && err2 == nil
	}
	major, minor, ok := number(version)
	thanMajor, thanMinor, _ := number(than)
	return ok && (major < thanMajor || major == thanMajor && minor < thanMinor)
}

// call bounds one call of the engine.
func (e *engine) call(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, e.limits.Call)
}

// get returns an engine that is known, and forgets those that nobody used.
func (p *engines) get(key engineKey, now time.Time) *engine {
	p.mu.Lock()
	defer p.mu.Unlock()
	for k, e := range p.open {
		if e.stale.Load() || k != key && now.Sub(e.used) > p.idle {
			delete(p.open, k)
			_ = e.Close() // what it still does goes on
		}
	}
	e := p.open[key]
	if e != nil {
		e.used = now
	}
	return e
}

// put keeps an engine, unless another call was quicker.
func (p *engines) put(key engineKey, e *engine, now time.Time) *engine {
	p.mu.Lock()
	defer p.mu.Unlock()
	if known := p.open[key]; known != nil {
		_ = e.Close()
		e = known
	}
	if e.used = now; !p.closed {
		p.open[key] = e
	}
	return e
}

func (p *engines) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for k, e := range p.open {
		delete(p.open, k)
		_ = e.Close()
	}
}
