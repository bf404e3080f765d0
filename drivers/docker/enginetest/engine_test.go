package enginetest_test

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/drivers/docker/enginetest"
)

var shared enginetest.Shared

func TestMain(m *testing.M) {
	code := m.Run()
	if err := shared.Close(); err != nil {
		println("end the shared engine:", err.Error())
		code = 1
	}
	os.Exit(code)
}

func TestImages(t *testing.T) {
	e := shared.Engine(t)
	for name, make := range map[string]func(testing.TB) string{
		"busybox": e.Busybox, "musl": e.Musl, "glibc": e.Glibc, "non-root": e.NonRoot, "no shell": e.NoShell, "unhealthy": e.Unhealthy} {
		t.Run(name, func(t *testing.T) {
			id := e.Create(t, make(t), map[string]string{"test": "images"})
			if ids := e.IDs(t, "test=images"); len(ids) != 1 || ids[0] != id {
				t.Errorf("got %v, want %s", ids, id)
			}
			e.Remove(t, id)
		})
	}
}

func TestRestart(t *testing.T) {
	e := enginetest.Start(t, enginetest.Options{TLS: true, DiskMiB: 64})
	id := e.Create(t, e.Busybox(t), nil)
	e.Restart(t)
	if got := e.Containers(t); len(got) != 1 || got[0].ID != id || got[0].State != "exited" {
		t.Errorf("got %+v, want %s, exited", got, id)
	}
	if got := answerOverTLS(t, e.TLS, true); got != http.StatusOK {
		t.Errorf("with a certificate: got %d, want 200", got)
	}
	if got := answerOverTLS(t, e.TLS, false); got != 0 {
		t.Errorf("without a certificate: got %d, want none", got)
	}
	e.FillDisk(t)
	if got := create(t, e); got != http.StatusInternalServerError {
		t.Errorf("on a full disk: got %d, want 500", got)
	}
	e.FreeDisk(t)
	if got := create(t, e); got != http.StatusCreated {
		t.Errorf("with room again: got %d, want 201", got)
	}
}

func create(t *testing.T, e *enginetest.Engine) int {
	t.Helper()
	response, err := enginetest.NewProxy(t, e).Client().Post("http://engine/v1.41/containers/create", "application/json",
		strings.NewReader(`{"Image": "`+e.Busybox(t)+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode
}

// answerOverTLS is the status of a ping over TCP; 0 when the engine refused.
func answerOverTLS(t *testing.T, s *enginetest.TLS, authenticated bool) int {
	t.Helper()
	config := &tls.Config{RootCAs: x509.NewCertPool()}
	config.RootCAs.AppendCertsFromPEM([]byte(s.CA))
	if authenticated {
		pair, err := tls.X509KeyPair([]byte(s.Cert), []byte(s.Key))
		if err != nil {
			t.Fatal(err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	transport := &http.Transport{TLSClientConfig: config}
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport}).Get("https" + strings.TrimPrefix(s.Host, "tcp") + "/_ping")
	if err != nil {
		return 0
	}
	if err := response.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode
}

// TestPause stops an engine's clock: what is asked meanwhile waits.
func TestPause(t *testing.T) {
	e := enginetest.Start(t, enginetest.Options{})
	client := enginetest.NewProxy(t, e).Client()
	ping := func(limit time.Duration) error {
		client.Timeout = limit
		response, err := client.Get("http://engine/_ping")
		if err != nil {
			return err
		}
		return response.Body.Close()
	}
	e.Pause(t)
	if err := ping(200 * time.Millisecond); err == nil {
		t.Error("a paused engine answers")
	}
	e.Resume(t)
	if err := ping(20 * time.Second); err != nil {
		t.Errorf("it does not go on: %v", err)
	}
	e.Pause(t) // one that is paused is ended, too
}

// TestKill crashes an engine whose container lives on, and then gives it up.
func TestKill(t *testing.T) {
	var host string
	t.Run("engine", func(t *testing.T) {
		e := enginetest.Start(t, enginetest.Options{})
		host = filepath.Base(filepath.Dir(e.Socket))
		id := e.Create(t, e.Busybox(t), nil)
		e.Kill(t)
		e.Run(t)
		if got := e.Containers(t); len(got) != 1 || got[0].ID != id {
			t.Errorf("got %+v, want %s", got, id)
		}
		e.Create(t, e.Busybox(t), nil)
		if !strings.Contains(roots(t), host) {
			t.Error("a container's process is not found by its root")
		}
		e.Kill(t)
	})
	if strings.Contains(roots(t), host) {
		t.Error("a container outlives its engine")
	}
}

// roots are the root mounts of every process.
func roots(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		mounts, _ := os.ReadFile(file) // it may have ended
		for line := range strings.Lines(string(mounts)) {
			if fields := strings.Fields(line); len(fields) > 4 && fields[4] == "/" {
				all.WriteString(line)
			}
		}
	}
	return all.String()
}

func TestRegistry(t *testing.T) {
	e := shared.Engine(t)
	for name, o := range map[string]enginetest.RegistryOptions{"open": {}, "closed": {Username: "me", Password: "right"}} {
		t.Run(name, func(t *testing.T) {
			r := enginetest.StartRegistry(t, o)
			digest := r.Push(t, e, e.Busybox(t), "team/app:1")
			if got := r.Digest(t, "team/app:1"); got != digest || len(digest) != len("sha256:")+64 {
				t.Errorf("got %q, want %q", got, digest)
			}
			if other := r.Push(t, e, e.Variant(t, "b"), "team/app:2"); other == digest {
				t.Error("other content, same digest")
			}
			r.Delete(t, "team/app", digest)
			if got := r.Digest(t, "team/app:1"); got != "" {
				t.Errorf("deleted, but got %q", got)
			}
		})
	}
}

func TestPodman(t *testing.T) {
	e := enginetest.Podman(t)
	id := e.Create(t, e.Busybox(t), map[string]string{"test": "podman"})
	if ids := e.IDs(t, "test=podman"); len(ids) != 1 || ids[0] != id {
		t.Errorf("got %v, want %s", ids, id)
	}
}

func TestPodmanPulls(t *testing.T) {
	e, docker := enginetest.Podman(t), shared.Engine(t)
	r := enginetest.StartRegistry(t, enginetest.RegistryOptions{})
	r.Push(t, docker, docker.Busybox(t), "team/app:1")
	e.Pull(t, r.Address+"/team/app:1")
	e.Remove(t, e.Create(t, r.Address+"/team/app:1", nil))
}

func TestProxy(t *testing.T) {
	e := shared.Engine(t)
	p := enginetest.NewProxy(t, e)
	through := p.Client()
	create := func() error {
		_, err := through.Post("http://engine/v1.41/containers/create", "application/json",
			strings.NewReader(`{"Image": "`+e.Busybox(t)+`", "Labels": {"test": "proxy"}}`))
		return err
	}
	p.Refuse("POST /v1.41/containers/create", 1)
	if err := create(); err == nil || len(e.IDs(t, "test=proxy")) != 0 {
		t.Errorf("refused: got %v and %v, want an error and nothing made", err, e.IDs(t, "test=proxy"))
	}
	p.LoseAnswer("/containers/create", 1)
	err := create()
	made := e.IDs(t, "test=proxy")
	if err == nil || len(made) != 1 {
		t.Errorf("answer lost: got %v and %v, want an error and one made", err, made)
	}
	for _, id := range made {
		e.Remove(t, id)
	}
	p.Hang()
	go p.Go()
	if err := create(); err != nil {
		t.Errorf("after the trouble: %v", err)
	}
	for _, id := range e.IDs(t, "test=proxy") {
		e.Remove(t, id)
	}
	if got := p.Requests(); len(got) != 3 {
		t.Errorf("got the requests %q, want three", got)
	}
}
