// Package enginetest runs a real Docker engine, a registry and Podman for tests:
// each with folders, sockets and ports of its own, with images that are made on
// the spot and nothing pulled from anywhere. The tests run as root.
package enginetest

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// Options of an Engine; the zero value is an engine on a unix socket.
type Options struct {
	// TLS makes it listen on a port of the loopback too, with client certificates.
	TLS bool
	// DiskMiB gives it a disk of its own of that size; 0: it shares this machine's.
	DiskMiB int
	// Args are more arguments of dockerd.
	Args []string
}

// Engine is a running engine. What is made in it goes with it.
type Engine struct {
	// Host is where it listens: "unix:///...".
	Host string
	// Socket is Host's path.
	Socket string
	// TLS says how it is reached by TCP; nil without Options.TLS.
	TLS *TLS

	dir    string
	kind   string // "dockerd" or "podman"
	args   []string
	env    []string
	daemon *daemon
	http   *http.Client
	mu     sync.Mutex
	images map[string]string // made already: name to reference
}

// bootTime is how long an engine may take to answer, or to end.
const bootTime = 30 * time.Second

// Start runs an engine until the end of the test.
func Start(t testing.TB, o Options) *Engine {
	t.Helper()
	e, err := open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.close(); err != nil {
			t.Errorf("end the engine: %v", err)
		}
	})
	return e
}

// Shared is one engine for all tests of a program. Its zero value is ready: the
// first who asks starts the engine, and TestMain calls Close at the end.
type Shared struct {
	Options Options
	mu      sync.Mutex
	engine  *Engine
}

// Engine returns the shared engine, whose images and containers others see too.
func (s *Shared) Engine(t testing.TB) *Engine {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.engine == nil {
		e, err := open(s.Options)
		if err != nil {
			t.Fatal(err)
		}
		s.engine = e
	}
	return s.engine
}

// Close ends the engine, if one was started.
func (s *Shared) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.engine == nil {
		return nil
	}
	e := s.engine
	s.engine = nil
	return e.close()
}

func open(o Options) (_ *Engine, err error) {
	if os.Geteuid() != 0 {
		return nil, errors.New("a Docker engine for tests needs root")
	}
	dockerd, err := exec.LookPath("dockerd")
	if err != nil {
		dockerd = "/usr/sbin/dockerd" // not on everybody's PATH
	}
	e, err := newEngine("dockerd")
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.close())
		}
	}()
	data := filepath.Join(e.dir, "data")
	if o.DiskMiB > 0 {
		if err := mountDisk(data, o.DiskMiB); err != nil {
			return nil, err
		}
	}
	e.args = append([]string{dockerd, "--data-root", data, "--exec-root", filepath.Join(e.dir, "exec"),
		"--pidfile", filepath.Join(e.dir, "pid"), "--config-file", filepath.Join(e.dir, "daemon.json"), "--host", e.Host,
		// Networks of this machine stay as they are.
		"--bridge=none", "--iptables=false", "--ip6tables=false", "--ip-forward=false",
		// A containerd of the machine's own is shared with others: apart by name.
		"--containerd-namespace", filepath.Base(e.dir), "--containerd-plugins-namespace", filepath.Base(e.dir) + "-plugins",
		"--insecure-registry", "127.0.0.0/8", "--shutdown-timeout", "2"}, o.Args...)
	if err := os.WriteFile(filepath.Join(e.dir, "daemon.json"), []byte("{}"), 0o600); err != nil {
		return nil, fmt.Errorf("write the engine's configuration: %w", err)
	}
	if o.TLS {
		if e.TLS, err = newTLS(e.dir); err != nil {
			return nil, err
		}
		e.args = append(e.args, e.TLS.args(e.dir)...)
	}
	return e, e.run()
}

func newEngine(kind string) (*Engine, error) {
	if err := sweep(); err != nil {
		return nil, err
	}
	// Short, as a socket's path has to be; by the process, so that what a killed
	// test left behind is found.
	dir, err := os.MkdirTemp("", fmt.Sprintf("%s%d-", prefix, os.Getpid()))
	if err != nil {
		return nil, fmt.Errorf("make the engine's folder: %w", err)
	}
	socket := filepath.Join(dir, "sock")
	return &Engine{Host: "unix://" + socket, Socket: socket, dir: dir, kind: kind,
		http: unixClient(socket), images: map[string]string{}}, nil
}

// run starts the daemon and returns when it answers.
func (e *Engine) run() error {
	log, err := os.OpenFile(e.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the engine's log: %w", err)
	}
	defer func() { _ = log.Close() }() // the daemon has its own
	e.daemon, err = startDaemon(e.args, e.env, log)
	if err != nil {
		return err
	}
	if err := until("the engine answers", bootTime, func() (bool, error) {
		if e.daemon.hasEnded() {
			return false, errors.New("it ended")
		}
		return e.ping() == nil, nil
	}); err != nil {
		return fmt.Errorf("%s: %w; its log ends with:\n%s", e.kind, err, e.lastWords())
	}
	return nil
}

// close ends the engine and everything of it.
func (e *Engine) close() error {
	var errs []error
	e.http.CloseIdleConnections()
	if e.kind == "podman" {
		errs = append(errs, e.removeAll())
	}
	if e.daemon != nil {
		errs = append(errs, e.daemon.stop())
	}
	errs = append(errs, clear(e.dir))
	return errors.Join(errs...)
}

func (e *Engine) logFile() string { return filepath.Join(e.dir, "log") }

func (e *Engine) lastWords() string {
	b, err := os.ReadFile(e.logFile())
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return strings.Join(lines[max(0, len(lines)-15):], "\n")
}
