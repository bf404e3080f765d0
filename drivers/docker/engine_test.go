package docker_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"berth/drivers/docker"
	"berth/drivers/docker/enginetest"
	"berth/environment"

	"github.com/google/uuid"
)

// stub is an engine that answers as a handler says, on a socket.
func stub(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: handler}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener) // until it is closed
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-done
	})
	return "unix://" + socket
}

// specAt is a spec of an engine that is none of enginetest's.
func specAt(engine string, more string) environment.Spec {
	return environment.Spec{EnvironmentID: environment.NewID(), Driver: environment.DriverSandbox,
		Config:         json.RawMessage(fmt.Sprintf(`{"provider":"docker","engine":%q,"image":"app:1"%s}`, engine, more)),
		IdempotencyKey: environment.NewID().String(), InstanceID: uuid.New()}
}

// api answers a ping as an engine of a version does.
func api(version string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Api-Version", version)
		w.Header().Set("Ostype", "linux")
		if r.URL.Path != "/_ping" {
			http.Error(w, `{"message":"not here"}`, http.StatusInternalServerError)
		}
	}
}

func TestEngineThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	silent := stub(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	for name, tt := range map[string]struct {
		engine, code, says string
	}{
		"no socket":      {"unix:///nowhere/docker.sock", environment.CodeEngineUnreachable, "does not exist"},
		"nobody listens": {"tcp://127.0.0.1:1", environment.CodeEngineUnreachable, "refused"},
		"too old":        {stub(t, api("1.40")), environment.CodeEngineTooOld, "1.40"},
		"much too old":   {stub(t, api("1.24")), environment.CodeEngineTooOld, "1.24"},
		"of Windows": {stub(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Api-Version", "1.41")
			w.Header().Set("Ostype", "windows")
		}), environment.CodeEngineTooOld, "windows"},
		"it refuses": {stub(t, func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, "authorization denied by plugin", http.StatusForbidden)
		}), environment.CodeEngineDenied, "denied"},
		"it says nothing":    {silent, environment.CodeEngineUnreachable, "did not answer within"},
		"it breaks off":      {stub(t, func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }), environment.CodeEngineUnreachable, "broke"},
		"not an engine":      {stub(t, func(w http.ResponseWriter, r *http.Request) { http.Error(w, "<html>what?", http.StatusTeapot) }), environment.CodeEngineUnreachable, ""},
		"over SSH, not here": {"ssh://me@host", environment.CodeEngineUnreachable, "SSH"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := driver(t, docker.Options{Limits: docker.Limits{Call: time.Second, Dial: time.Second}})
			began := time.Now()
			spec := specAt(tt.engine, "")
			_, err := d.Acquire(t.Context(), spec)
			if environment.CodeOf(err) != tt.code || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("acquire: got %v (%s), want %s, %q", err, environment.CodeOf(err), tt.code, tt.says)
			}
			if e := environment.AsError(err); e.Details["providerLeaseId"] != nil {
				t.Errorf("there is nothing to clean up: %v", e.Details)
			}
			result := d.Probe(t.Context(), spec, func(environment.Stage) {})
			if result.OK || result.Code != tt.code || len(result.Stages) != 1 || result.Stages[0].Status != environment.StageFailed {
				t.Errorf("probe: got %+v", result)
			}
			if _, err := d.List(t.Context(), spec); environment.CodeOf(err) != tt.code {
				t.Errorf("list: got %v", err)
			}
			if _, err := d.Release(t.Context(), environment.Ref{Spec: spec}, environment.Destroy); environment.CodeOf(err) != tt.code {
				t.Errorf("release: got %v, want no receipt", err)
			}
			lessThan(t, began, 8*time.Second)
		})
	}
}

// TestAnswersAreBounded lists the containers of an engine that does not stop.
func TestAnswersAreBounded(t *testing.T) {
	t.Parallel()
	engine := stub(t, func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/containers/json") {
			api("1.41")(w, r)
			return
		}
		_, err := w.Write([]byte(`["`))
		for err == nil {
			_, err = w.Write([]byte(strings.Repeat("x", 1<<20)))
		}
	})
	_, err := driver(t, docker.Options{}).List(t.Context(), specAt(engine, ""))
	if environment.CodeOf(err) != environment.CodeEngineUnreachable || !strings.Contains(err.Error(), "MiB at once") {
		t.Errorf("got %v", err)
	}
}

// TestC33_OnlyHealthyIsReady starts a sandbox whose engine says all sorts of words
// about its health.
func TestC33_OnlyHealthyIsReady(t *testing.T) {
	t.Parallel()
	words := []string{`{"Status":"starting"}`, `{}`, `{"Status":"warming"}`, `{"Status":"unhealthy"}`, `null`, `{"Status":"healthy"}`}
	var looks atomic.Int32
	spec := specAt("", "")
	engine := stub(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Api-Version", "1.41")
		w.Header().Set("Content-Type", "application/json")
		switch {
		case strings.HasSuffix(r.URL.Path, "/containers/create"):
			_, _ = fmt.Fprint(w, `{"Id":"made"}`)
		case strings.HasSuffix(r.URL.Path, "/start"):
			w.WriteHeader(http.StatusNoContent)
		case strings.HasPrefix(r.URL.Path, "/v1.41/containers/"):
			i := int(looks.Add(1)) - 2 // the first is that of a container that was only made
			word := words[max(0, min(i, len(words)-1))]
			_, _ = fmt.Fprintf(w, `{"Id":"made","Image":"sha256:x","State":{"Running":%v,"Health":%s},"Config":{"Hostname":"h","Healthcheck":{"Test":["CMD","x"]},"Labels":{"berth.instance":%q,"berth.lease":%q}}}`,
				i >= 0, word, spec.InstanceID, spec.IdempotencyKey)
		case strings.HasPrefix(r.URL.Path, "/v1.41/images/"):
			_, _ = fmt.Fprint(w, `{"Id":"sha256:x"}`)
		}
	})
	spec.Config = specAt(engine, "").Config
	var seen []any
	spec.Report = func(s environment.Stage) {
		if s.Name == "start" {
			seen = append(seen, fmt.Sprint(s.Status, " ", s.Measured["status"], s.Code))
		}
	}
	if _, err := driver(t, docker.Options{}).Acquire(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	want := []any{"running <nil>", "running starting", "running starting", "running warming", "running unhealthy", "running starting", "ok healthy"}
	if !slices.Equal(seen, want) {
		t.Errorf("got  %v\nwant %v", seen, want)
	}
}

func TestEngineOverTLS(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t, enginetest.Options{TLS: true})
	image := e.Busybox(t)
	d := driver(t, docker.Options{})
	spec := specOf(t, e, image, settings{"engine": e.TLS.Host, "tlsCA": e.TLS.CA, "tlsCert": e.TLS.Cert})
	spec.Secrets = map[string]environment.Secret{"tlsKey": environment.NewSecret(e.TLS.Key)}
	ref := acquire(t, d, spec)
	if got := run(t, d, ref, "echo over TLS"); got != "over TLS\n" {
		t.Errorf("got %q", got)
	}
	for name, tt := range map[string]struct {
		more     settings
		key      string
		problems map[string]string
		code     string
	}{
		"an authority that did not sign": {settings{"tlsCA": ""}, e.TLS.Key, nil, environment.CodeEngineDenied},
		"no client certificate":          {settings{"tlsCert": ""}, "", nil, environment.CodeEngineDenied},
		"no key":                         {nil, "", nil, environment.CodeCredentialMissing},
		"a key that is gone":             {nil, "", map[string]string{"tlsKey": environment.CodeSecretMissing}, environment.CodeSecretMissing},
		"a key that is disabled":         {nil, "", map[string]string{"tlsKey": environment.CodeSecretDisabled}, environment.CodeSecretDisabled},
	} {
		t.Run(name, func(t *testing.T) {
			s := specOf(t, e, image, settings{"engine": e.TLS.Host, "tlsCA": e.TLS.CA, "tlsCert": e.TLS.Cert}, tt.more)
			s.Secrets, s.SecretProblems = map[string]environment.Secret{}, tt.problems
			if tt.key != "" {
				s.Secrets["tlsKey"] = environment.NewSecret(tt.key)
			}
			refused(t, e, d, s, tt.code)
		})
	}
}

// TestEngineOverSSH hands a fake of the ssh driver's part in.
func TestEngineOverSSH(t *testing.T) {
	t.Parallel()
	e := shared.Engine(t)
	var asked atomic.Pointer[environment.Spec]
	untrusted := environment.Unavailable(environment.CodeHostKeyUnknown, "The host key is not trusted yet.")
	refuse := false
	d := driver(t, docker.Options{DialSSH: func(ctx context.Context, spec environment.Spec, socket string) (net.Conn, error) {
		asked.Store(&spec)
		if socket != "/run/engine.sock" {
			return nil, errors.New("another socket: " + socket)
		}
		if refuse {
			return nil, untrusted
		}
		return (&net.Dialer{}).DialContext(ctx, "unix", e.Socket)
	}})
	spec := specOf(t, e, e.Busybox(t), settings{"engine": "ssh://me@host:2222/run/engine.sock", "sshKnownHosts": "host ssh-ed25519 AAAA\n"})
	spec.Secrets = map[string]environment.Secret{"sshPrivateKey": environment.NewSecret("KEY"), "sshPassphrase": environment.NewSecret("P"), "registryPassword": environment.NewSecret("R")}
	ref := acquire(t, d, spec)
	if got := run(t, d, ref, "echo over SSH"); got != "over SSH\n" {
		t.Errorf("got %q", got)
	}
	way := asked.Load()
	var host environment.SSHConfig
	if err := json.Unmarshal(way.Config, &host); err != nil {
		t.Fatal(err)
	}
	if host.Host != "host" || host.Port != 2222 || host.Username != "me" || !host.StrictHostKeyChecking || *host.KnownHosts != "host ssh-ed25519 AAAA\n" || host.UseAgent {
		t.Errorf("the way is %+v", host)
	}
	if len(way.Secrets) != 2 || way.Secrets["privateKey"].Reveal() != "KEY" || way.Secrets["passphrase"].Reveal() != "P" {
		t.Errorf("%d secrets went along", len(way.Secrets))
	}
	refuse = true
	other := spec
	other.Secrets = map[string]environment.Secret{"sshPrivateKey": environment.NewSecret("OTHER")} // another connection
	if _, err := d.Acquire(t.Context(), other); environment.CodeOf(err) != environment.CodeHostKeyUnknown {
		t.Errorf("got %v, want the ssh driver's own error", err)
	}
}
