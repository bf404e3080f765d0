package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// server is a Berth under test: a process of ours on a data folder of its own,
// or the one that BERTH_E2E_URL names.
type server struct {
	url     string
	dir     string
	listen  string
	args    []string
	env     []string
	cmd     *exec.Cmd
	log     *logBuffer
	exited  *ending
	company string
	token   string // what call and cli show; "": nothing
}

// ending is the end of a process.
type ending struct {
	done chan struct{}
	err  error // once done
}

// logBuffer keeps what a process said, for when a test fails.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(b)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// newServer starts a server with a private PostgreSQL in a temporary folder.
// Its end, and that of its database, belongs to the test.
func newServer(t *testing.T, env ...string) *server {
	t.Helper()
	s := unstarted(t, env...)
	s.start(t)
	return s
}

// newServerWith is newServer with more arguments.
func newServerWith(t *testing.T, args ...string) *server {
	t.Helper()
	s := unstarted(t)
	s.args = args
	s.start(t)
	return s
}

func unstarted(t *testing.T, env ...string) *server {
	t.Helper()
	binary(t)
	s, err := makeServer(env...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.end(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("the server said:\n%s", s.log.String())
		}
	})
	return s
}

// makeServer prepares a server that was not started yet.
func makeServer(env ...string) (*server, error) {
	dir, err := os.MkdirTemp("", "berth-e2e")
	if err != nil {
		return nil, err
	}
	listen, err := freeAddress()
	if err != nil {
		return nil, err
	}
	s := &server{dir: dir, listen: listen, url: "http://" + listen, env: env, log: &logBuffer{}}
	return s, os.Chmod(dir, 0o711)
}

// start runs the binary and returns when it answers.
func (s *server) start(t *testing.T) {
	t.Helper()
	if err := s.launch(); err != nil {
		t.Fatalf("%v\n%s", err, s.log.String())
	}
}

func (s *server) launch() error {
	path, err := shared.binary()
	if err != nil {
		return err
	}
	args := append([]string{"serve", "--dev", "--listen", s.listen, "--data-dir", filepath.Join(s.dir, "data")}, s.args...)
	s.cmd = exec.Command(path, args...)
	s.cmd.Env = append(os.Environ(), s.env...)
	s.cmd.Stdout, s.cmd.Stderr = s.log, s.log
	if err := s.cmd.Start(); err != nil {
		return err
	}
	s.exited = &ending{done: make(chan struct{})}
	go func(cmd *exec.Cmd, e *ending) {
		e.err = cmd.Wait()
		close(e.done)
	}(s.cmd, s.exited)
	var ended error
	err = waitFor(60*time.Second, func() bool {
		select {
		case <-s.exited.done:
			ended = fmt.Errorf("the server ended: %w", s.exited.err)
			return true
		default:
			return s.answers("/readyz")
		}
	})
	return errors.Join(err, ended)
}

func (s *server) answers(path string) bool {
	res, err := http.Get(s.url + path)
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, res.Body)
	return errors.Join(err, res.Body.Close()) == nil && res.StatusCode == http.StatusOK
}

// kill ends the server without a word, as a crash does.
func (s *server) kill(t *testing.T) {
	t.Helper()
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-s.exited.done
	s.cmd = nil
}

// stop ends the server in good order. It has five seconds; a machine that does
// much else at once gets more.
func (s *server) stop(t *testing.T) {
	t.Helper()
	if err := s.halt(); err != nil {
		t.Errorf("%v\n%s", err, s.log.String())
	}
}

func (s *server) halt() error {
	defer func() { s.cmd = nil }()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-s.exited.done:
		if s.exited.err != nil {
			return fmt.Errorf("the server ended with %w on SIGTERM", s.exited.err)
		}
		return nil
	case <-time.After(15 * time.Second):
		_ = s.cmd.Process.Kill() // it may end just now
		<-s.exited.done
		return errors.New("the server did not end within 15 s of SIGTERM")
	}
}

// end stops what is left: the server, or the database of one that was killed.
func (s *server) end() error {
	var errs []error
	if s.cmd != nil {
		errs = append(errs, s.halt())
	}
	if pid := s.postmaster(); pid != 0 {
		if err := syscall.Kill(pid, syscall.SIGQUIT); err != nil && !errors.Is(err, syscall.ESRCH) {
			errs = append(errs, err)
		}
		errs = append(errs, waitFor(10*time.Second, func() bool { return syscall.Kill(pid, 0) != nil }))
	}
	return errors.Join(append(errs, os.RemoveAll(s.dir))...)
}

// postmaster is the process of the private PostgreSQL, 0 when there is none.
func (s *server) postmaster() int {
	pid := 0
	_ = filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error { // a folder may go while we look
		if err != nil || d.Name() != "postmaster.pid" {
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return nil
		}
		first, _, _ := strings.Cut(string(b), "\n")
		if n, err := strconv.Atoi(first); err == nil && syscall.Kill(n, 0) == nil {
			pid = n
		}
		return fs.SkipAll
	})
	return pid
}

// call speaks JSON and fails the test unless the status is the wanted one.
func (s *server) call(t *testing.T, method, path string, body, answer any, want int) {
	t.Helper()
	status, out, err := s.try(method, path, body)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	if status != want {
		t.Fatalf("%s %s: %d, want %d: %s", method, path, status, want, out)
	}
	if answer != nil {
		if err := json.Unmarshal(out, answer); err != nil {
			t.Fatalf("%s %s: %v: %s", method, path, err, out)
		}
	}
}

// try is call for a server that may be down.
func (s *server) try(method, path string, body any) (status int, out []byte, err error) {
	var in io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return 0, nil, err
		}
		in = bytes.NewReader(b)
	}
	req, err := http.NewRequest(method, s.url+path, in)
	if err != nil {
		return 0, nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if s.token != "" {
		req.Header.Set("Authorization", "Bearer "+s.token)
	}
	client := http.Client{Timeout: 60 * time.Second}
	res, err := client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	out, err = io.ReadAll(res.Body)
	return res.StatusCode, out, errors.Join(err, res.Body.Close())
}

// furnish makes a company and turns environments on.
func (s *server) furnish(t *testing.T, name string) {
	t.Helper()
	var c struct{ ID string }
	s.call(t, "POST", "/api/companies", map[string]any{"name": name}, &c, 201)
	s.company = c.ID
	s.turn(t, true)
}

// turn switches environments on or off.
func (s *server) turn(t *testing.T, on bool) {
	t.Helper()
	s.call(t, "PATCH", "/api/instance/settings/experimental", map[string]any{"enableEnvironments": on}, nil, 200)
}

// cli runs one command line of the binary against the server.
func (s *server) cli(t *testing.T, stdin string, args ...string) (code int, out, errOut string) {
	t.Helper()
	cmd := exec.Command(binary(t), args...)
	var o, e bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &o, &e
	cmd.Env = append(os.Environ(), "BERTH_API_BASE="+s.url, "BERTH_COMPANY="+s.company, "BERTH_API_KEY="+s.token)
	err := cmd.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), o.String(), e.String()
}
