package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/drivers/docker/enginetest"

	"github.com/playwright-community/playwright-go"
)

// The journeys may run against a server that is up already, and be seen.
const (
	envURL    = "BERTH_E2E_URL"
	envHeaded = "BERTH_E2E_HEADED"
	envCache  = "BERTH_TEST_CACHE" // where set-up put the browser driver and axe-core
)

// stage is what all tests of a run share: each part is made when a test first
// asks for it, and taken down after the last one.
type stage struct {
	binary  func() (string, error)
	browser func() (playwright.Browser, error)
	server  func() (*server, error)

	states states
	engine enginetest.Shared

	mu   sync.Mutex
	undo []func() error
}

func (s *stage) later(f func() error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.undo = append(s.undo, f)
}

func newStage() *stage {
	s := &stage{}
	s.binary = sync.OnceValues(s.build)
	s.browser = sync.OnceValues(s.launch)
	s.later(s.engine.Close)
	s.server = sync.OnceValues(s.serve)
	return s
}

// shared is set by TestMain and only read afterwards.
var shared *stage

func TestMain(m *testing.M) {
	shared = newStage()
	code := m.Run()
	for i := len(shared.undo) - 1; i >= 0; i-- {
		if err := shared.undo[i](); err != nil {
			fmt.Fprintln(os.Stderr, "e2e: take down:", err)
			code = max(code, 1)
		}
	}
	featureMap, err := os.ReadFile("../docs/feature-map.md")
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		code = max(code, 1)
	}
	for _, name := range shared.states.report(os.Stdout, string(featureMap)) {
		fmt.Fprintf(os.Stderr, "e2e: no journey reaches %s, and docs/feature-map.md states no reason\n", name)
		code = max(code, 1)
	}
	os.Exit(code)
}

// build makes the binary that all tests drive.
func (s *stage) build() (string, error) {
	dir, err := os.MkdirTemp("", "berth-e2e-bin")
	if err != nil {
		return "", err
	}
	s.later(func() error { return os.RemoveAll(dir) })
	path := filepath.Join(dir, "berth")
	out, err := exec.Command("go", "build", "-o", path, "..").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w: %s", err, out)
	}
	return path, nil
}

func binary(t *testing.T) string {
	t.Helper()
	path, err := shared.binary()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// cacheFolder is where set-up put what comes from npm.
func cacheFolder() (string, error) {
	if dir := os.Getenv(envCache); dir != "" {
		return dir, nil
	}
	dir, err := os.UserCacheDir()
	return filepath.Join(dir, "berth"), err
}

// launch starts the browser.
func (s *stage) launch() (playwright.Browser, error) {
	cache, err := cacheFolder()
	if err != nil {
		return nil, err
	}
	pw, err := playwright.Run(&playwright.RunOptions{DriverDirectory: filepath.Join(cache, "playwright-1.52.0"), SkipInstallBrowsers: true})
	if err != nil {
		return nil, fmt.Errorf("start playwright (go tool task setup): %w", err)
	}
	s.later(pw.Stop)
	browser, err := pw.Chromium.Launch(playwright.BrowserTypeLaunchOptions{
		ExecutablePath: playwright.String("/usr/bin/chromium"),
		Headless:       playwright.Bool(os.Getenv(envHeaded) == ""),
		Args: []string{"--no-sandbox", "--disable-quic", "--disable-background-networking", "--disable-component-update",
			"--disable-sync", "--no-first-run"},
	})
	if err != nil {
		return nil, fmt.Errorf("start chromium: %w", err)
	}
	s.later(func() error { return browser.Close() })
	return browser, nil
}

// serve starts the server that the journeys share.
func (s *stage) serve() (*server, error) {
	if url := os.Getenv(envURL); url != "" {
		return &server{url: strings.TrimRight(url, "/"), log: &logBuffer{}}, nil
	}
	server, err := makeServer()
	if err != nil {
		return nil, err
	}
	s.later(server.end)
	return server, server.launch()
}

// site is the server of the journeys, with a company of the test's own.
func site(t *testing.T) *server {
	t.Helper()
	server, err := shared.server()
	if err != nil {
		t.Fatal(err)
	}
	mine := *server
	mine.furnish(t, fmt.Sprintf("%s %d", t.Name(), time.Now().UnixNano()))
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the server said:\n%s", tail(server.log.String(), 4000))
		}
	})
	return &mine
}

func tail(text string, n int) string { return text[max(0, len(text)-n):] }

// until waits for a condition, and fails the test when it does not come.
func until(t *testing.T, limit time.Duration, what string, condition func() bool) {
	t.Helper()
	if err := waitFor(limit, condition); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

var errTooLong = errors.New("not within the limit")

func waitFor(limit time.Duration, condition func() bool) error {
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		if condition() {
			return nil
		}
		select {
		case <-deadline.C:
			return fmt.Errorf("%w of %s", errTooLong, limit)
		case <-look.C:
		}
	}
}
