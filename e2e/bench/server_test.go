//go:build bench

package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"berth/store/cluster"
)

// building the binary once per run.
var build = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "berth-bench")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "berth")
	out, err := exec.Command("go", "build", "-o", path, "../..").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w: %s", err, out)
	}
	return path, nil
})

func binary(t *testing.T) string {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// database starts a PostgreSQL of its own, so that the server's start is timed
// with the database already up.
func database(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "berth-bench")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o711); err != nil { // the user of the database passes through
		t.Fatal(err)
	}
	db, err := cluster.Start(t.Context(), dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := db.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return db.URL()
}

// server is a running binary.
type server struct {
	url     string
	cmd     *exec.Cmd
	company string
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return addr
}

// serve starts the binary and returns when a page was answered, with the time
// that took.
func serve(t *testing.T, databaseURL, dataDir string) (*server, time.Duration) {
	t.Helper()
	path := binary(t)
	addr := freePort(t)
	began := time.Now()
	cmd := exec.Command(path, "serve", "--listen", addr, "--data-dir", dataDir, "--database-url", databaseURL)
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		_ = cmd.Wait() // its exit status on SIGTERM is the journeys' concern
	})
	s := &server{url: "http://" + addr, cmd: cmd}
	for time.Since(began) < 30*time.Second {
		res, err := http.Get(s.url + "/company/settings/instance/experimental")
		if err != nil {
			continue
		}
		_, err = io.Copy(io.Discard, res.Body)
		if cerr := res.Body.Close(); err == nil && cerr == nil && res.StatusCode == 200 {
			return s, time.Since(began)
		}
	}
	t.Fatalf("no page within 30 s: %s", log.String())
	return nil, 0
}

// call speaks JSON and fails the test unless the status is the wanted one.
func (s *server) call(t *testing.T, method, path string, body, answer any, want int) {
	t.Helper()
	var in io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		in = bytes.NewReader(b)
	}
	req, err := http.NewRequest(method, s.url+path, in)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(res.Body)
	if cerr := res.Body.Close(); err != nil || cerr != nil {
		t.Fatal(err, cerr)
	}
	if res.StatusCode != want {
		t.Fatalf("%s %s: %d, want %d: %s", method, path, res.StatusCode, want, out)
	}
	if answer != nil {
		if err := json.Unmarshal(out, answer); err != nil {
			t.Fatalf("%s %s: %v: %s", method, path, err, out)
		}
	}
}

// furnish makes a company and turns environments on.
func (s *server) furnish(t *testing.T) {
	t.Helper()
	var c struct{ ID string }
	s.call(t, "POST", "/api/companies", map[string]any{"name": "Bench"}, &c, 201)
	s.company = c.ID
	s.call(t, "PATCH", "/api/instance/settings/experimental", map[string]any{"enableEnvironments": true}, nil, 200)
}

func (s *server) environment(t *testing.T, name string, config map[string]any) string {
	t.Helper()
	var e struct{ ID string }
	s.call(t, "POST", "/api/companies/"+s.company+"/environments",
		map[string]any{"name": name, "driver": "ssh", "config": config}, &e, 201)
	return e.ID
}

// rss is the resident memory of the process in kB.
func (s *server) rss(t *testing.T) int {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(b))
	for lines.Scan() {
		var kb int
		if strings.HasPrefix(lines.Text(), "VmRSS:") {
			if _, err := fmt.Sscanf(lines.Text(), "VmRSS: %d kB", &kb); err != nil {
				t.Fatal(err)
			}
			return kb
		}
	}
	t.Fatal("no VmRSS")
	return 0
}

// drain reads an answer to its end, so that its connection is used again.
func drain(res *http.Response) error {
	_, err := io.Copy(io.Discard, res.Body)
	if cerr := res.Body.Close(); err == nil {
		err = cerr
	}
	return err
}
