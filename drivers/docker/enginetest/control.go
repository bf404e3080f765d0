package enginetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// Stop ends the engine, as an upgrade does: its containers stop.
func (e *Engine) Stop(t testing.TB) {
	t.Helper()
	e.http.CloseIdleConnections()
	if err := e.daemon.stop(); err != nil {
		t.Fatalf("stop the engine: %v", err)
	}
}

// Run starts the engine again after Stop or Kill and returns when it answers.
func (e *Engine) Run(t testing.TB) {
	t.Helper()
	if !e.daemon.hasEnded() {
		t.Fatal("the engine runs")
	}
	if err := e.run(); err != nil {
		t.Fatal(err)
	}
}

// Restart is Stop and Run.
func (e *Engine) Restart(t testing.TB) {
	t.Helper()
	e.Stop(t)
	e.Run(t)
}

// Kill ends the engine at once. Its containers may live on until it runs again.
func (e *Engine) Kill(t testing.TB) {
	t.Helper()
	e.http.CloseIdleConnections()
	e.daemon.kill()
	// Its containerd dies with it, but its pid may still be taken: nobody may have
	// waited for it.
	if err := until("containerd has ended", bootTime, func() (bool, error) {
		return len(processesOf(e.dir, "containerd")) == 0, nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(e.dir, "exec", "containerd", "containerd.pid")); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
}

// Pause makes the engine answer nothing, until Resume or the end of the test.
func (e *Engine) Pause(t testing.TB) {
	t.Helper()
	t.Cleanup(func() { e.daemon.signal(syscall.SIGCONT) })
	e.daemon.signal(syscall.SIGSTOP)
}

// Resume makes a paused engine answer again.
func (e *Engine) Resume(t testing.TB) {
	t.Helper()
	e.daemon.signal(syscall.SIGCONT)
}

// Container is what the engine says of one.
type Container struct {
	ID     string `json:"Id"`
	Names  []string
	Image  string
	State  string // "created", "running", "exited", ...
	Labels map[string]string
}

// Containers lists those with all the labels ("name" or "name=value"), stopped
// ones too.
func (e *Engine) Containers(t testing.TB, labels ...string) []Container {
	t.Helper()
	found, err := e.containers(labels...)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// IDs are those of Containers.
func (e *Engine) IDs(t testing.TB, labels ...string) []string {
	t.Helper()
	var ids []string
	for _, c := range e.Containers(t, labels...) {
		ids = append(ids, c.ID)
	}
	return ids
}

func (e *Engine) containers(labels ...string) ([]Container, error) {
	filters, err := json.Marshal(map[string][]string{"label": slices.Concat([]string{}, labels)})
	if err != nil {
		return nil, fmt.Errorf("write the filter: %w", err)
	}
	query := url.Values{"all": {"1"}, "filters": {string(filters)}}
	var found []Container
	_, err = e.call(http.MethodGet, "/v1.41/containers/json", query, nil, nil, &found)
	return found, err
}

// Create makes a container that lives until it is removed, and starts it. It is
// somebody else's as far as the tested code is concerned.
func (e *Engine) Create(t testing.TB, image string, labels map[string]string) string {
	t.Helper()
	var made struct{ ID string }
	in := map[string]any{"Image": image, "Labels": labels, "Cmd": []string{"/bin/sleep", "100000"},
		"HostConfig": map[string]any{"NetworkMode": "none", "Init": true}}
	if err := e.send("/v1.41/containers/create", nil, in, &made); err != nil {
		t.Fatal(err)
	}
	if _, err := e.call(http.MethodPost, "/v1.41/containers/"+made.ID+"/start", nil, nil, nil, nil); err != nil {
		t.Fatal(err)
	}
	return made.ID
}

// Commit makes an image of a container, as a person at the engine does, and
// returns its id. It is removed with the engine.
func (e *Engine) Commit(t testing.TB, container string) string {
	t.Helper()
	var made struct {
		ID string `json:"Id"`
	}
	if err := e.send("/v1.41/commit", url.Values{"container": {container}}, map[string]any{}, &made); err != nil {
		t.Fatal(err)
	}
	return made.ID
}

// Remove removes a container, running or not. One that is gone is no error.
func (e *Engine) Remove(t testing.TB, id string) {
	t.Helper()
	if err := e.remove(id); err != nil {
		t.Fatal(err)
	}
}

func (e *Engine) remove(id string) error {
	_, err := e.call(http.MethodDelete, "/v1.41/containers/"+id, url.Values{"force": {"1"}, "v": {"1"}}, nil, nil, nil)
	if isStatus(err, http.StatusNotFound) {
		return nil
	}
	return err
}

func (e *Engine) removeAll() error {
	all, err := e.containers()
	if err != nil {
		return err
	}
	var errs []error
	for _, c := range all {
		errs = append(errs, e.remove(c.ID))
	}
	return errors.Join(errs...)
}

// Kills ends a container from outside, as running out of memory does.
func (e *Engine) Kills(t testing.TB, id string) {
	t.Helper()
	if _, err := e.call(http.MethodPost, "/v1.41/containers/"+id+"/kill", nil, nil, nil, nil); err != nil {
		t.Fatal(err)
	}
}

// FillDisk leaves no room on the engine's disk, of an engine with DiskMiB.
func (e *Engine) FillDisk(t testing.TB) {
	t.Helper()
	file := filepath.Join(e.dir, "data", "ballast")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	chunk := []byte(strings.Repeat("x", 1<<20))
	for size := len(chunk); size > 0; {
		if _, err = f.Write(chunk[:size]); err == nil {
			continue
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
		size /= 2
	}
}

// FreeDisk undoes FillDisk.
func (e *Engine) FreeDisk(t testing.TB) {
	t.Helper()
	if err := os.Remove(filepath.Join(e.dir, "data", "ballast")); err != nil {
		t.Fatal(err)
	}
}
