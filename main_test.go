package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/environment"
	"berth/environment/identity"
	"berth/handlers/cli"
	"berth/store/storetest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestDefaultDataDir(t *testing.T) {
	tests := []struct {
		name string
		env  map[string]string
		uid  int
		want string
	}{
		{"root", map[string]string{"HOME": "/root", "XDG_DATA_HOME": "/x"}, 0, "/var/lib/berth"},
		{"a user", map[string]string{"HOME": "/home/u"}, 1000, "/home/u/.local/share/berth"},
		{"a user with XDG", map[string]string{"HOME": "/home/u", "XDG_DATA_HOME": "/data"}, 1000, "/data/berth"},
		{"relative XDG counts for nothing", map[string]string{"HOME": "/home/u", "XDG_DATA_HOME": "data"}, 1000, "/home/u/.local/share/berth"},
		{"no home", nil, 1000, ""},
	}
	for _, tt := range tests {
		got, err := defaultDataDir(func(name string) string { return tt.env[name] }, tt.uid)
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%s: %q, %v; want %q", tt.name, got, err, tt.want)
		}
	}
}

func TestListen(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = busy.Close() }()
	tests := []struct {
		name, listen string
		other        bool
		code, mode   string
	}{
		{"every address, where people sign in", "0.0.0.0:0", false, "", "authenticated"},
		{"loopback", "127.0.0.1:0", false, "", "local_trusted"},
		{"IPv6 loopback", "[::1]:0", false, "", "local_trusted"},
		{"localhost", "localhost:0", false, "", "local_trusted"},
		{"every address", "0.0.0.0:0", false, "listen_not_loopback", "local_trusted"},
		{"every address, short", ":0", false, "listen_not_loopback", "local_trusted"},
		{"another address", "10.0.0.1:0", false, "listen_not_loopback", "local_trusted"},
		{"a name that may be anywhere", "berth.test:0", false, "listen_not_loopback", "local_trusted"},
		{"no port", "127.0.0.1", false, "listen_invalid", "local_trusted"},
		{"a busy port", busy.Addr().String(), false, "listen_busy", "local_trusted"},
		{"another port instead", busy.Addr().String(), true, "", "local_trusted"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l, err := listen(t.Context(), cli.ServeOptions{Listen: tt.listen, OtherPort: tt.other, Mode: tt.mode})
			if l != nil {
				defer func() { _ = l.Close() }()
			}
			if code := environment.CodeOf(err); code != tt.code {
				t.Errorf("%s: %v (%s), want %q", tt.listen, err, code, tt.code)
			}
		})
	}
}

// options are those of a server for one test.
func options(t *testing.T) cli.ServeOptions {
	t.Helper()
	return cli.ServeOptions{
		Listen: "127.0.0.1:0", DataDir: t.TempDir(), DatabaseURL: storetest.URL(t), Mode: "local_trusted", Log: "json",
		RunGrace: time.Second, Getenv: func(string) string { return "" }, Err: t.Output(),
	}
}

func TestServerAnswersAndStops(t *testing.T) {
	o := options(t)
	srv, err := startServer(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"/api/health": `"status":"ok"`, "/readyz": `"ready"`, "/metrics": "go_goroutines", "/api/companies": "[]"} {
		if status, body := get(t, srv.URL+path); status != 200 || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	second, err := startServer(t.Context(), o)
	if environment.CodeOf(err) != "data_dir_in_use" {
		t.Errorf("a second server on the folder: %v, %v", second, err)
	}
	began := time.Now()
	if err := srv.Stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("stopping took %s", took)
	}
	http.DefaultClient.CloseIdleConnections()
	storetest.Exec(t, o.DatabaseURL, `do $$ begin
		if (select count(*) from servers where retired_at is not null) <> 1 then raise exception 'a stopped server is not retired'; end if; end $$`)
	again, err := startServer(t.Context(), o)
	if err != nil {
		t.Fatalf("start again: %v", err)
	}
	if err := again.Stop(); err != nil {
		t.Errorf("stop again: %v", err)
	}
}

// TestStopEndsStreams has a stream open while the server stops.
func TestStopEndsStreams(t *testing.T) {
	srv, err := startServer(t.Context(), options(t))
	if err != nil {
		t.Fatal(err)
	}
	var company struct{ ID string }
	post(t, srv.URL+"/api/companies", `{"name":"Acme"}`, &company)
	patch, err := http.NewRequestWithContext(t.Context(), "PATCH", srv.URL+"/api/instance/settings/experimental", strings.NewReader(`{"enableEnvironments":true}`))
	if err != nil {
		t.Fatal(err)
	}
	patch.Header.Set("Content-Type", "application/json")
	do(t, patch, nil)
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }()
	_, port, _ := net.SplitHostPort(silent.Addr().String())
	var env struct{ ID string }
	post(t, srv.URL+"/api/companies/"+company.ID+"/environments",
		`{"name":"silent","driver":"ssh","config":{"host":"127.0.0.1","port":`+port+`,"username":"u","remoteWorkspacePath":"/tmp/w"}}`, &env)
	var probe struct{ Details struct{ ProbeID string } }
	post(t, srv.URL+"/api/environments/"+env.ID+"/probe?wait=0", "", &probe)
	stream, err := http.Get(srv.URL + "/api/probes/" + probe.Details.ProbeID + "/events")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Body.Close() }()
	stopped := make(chan error, 1)
	began := time.Now()
	go func() { stopped <- srv.Stop() }()
	if _, err := io.ReadAll(stream.Body); err != nil {
		t.Errorf("the stream broke instead of ending: %v", err)
	}
	if err := <-stopped; err != nil {
		t.Errorf("stop: %v", err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("stopping took %s", took)
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestWrongKeysetIsRefused(t *testing.T) {
	o := options(t)
	srv, err := startServer(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := srv.Stop(); err != nil {
		t.Fatal(err)
	}
	o.Keyset = filepath.Join(t.TempDir(), "other.json")
	if _, err := startServer(t.Context(), o); environment.CodeOf(err) != "keyset_mismatch" {
		t.Errorf("another keyset: %v", err)
	}
}

// TestFirstAdminLink: a server that nobody administers says once how somebody
// may, to whoever started it and not to its log.
func TestFirstAdminLink(t *testing.T) {
	var said lockedText
	var logged strings.Builder
	o := options(t)
	o.Mode, o.PublicURL, o.Err = "authenticated", "https://berth.example/", &said
	srv, err := startServer(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(said.String(), "\n")
	link := ""
	for _, line := range lines {
		if at := strings.TrimSpace(line); strings.HasPrefix(at, "https://berth.example/link/berth_link_") {
			link = strings.TrimPrefix(at, "https://berth.example")
		} else if strings.HasPrefix(at, "{") {
			logged.WriteString(at)
		}
	}
	if link == "" || strings.Count(said.String(), "berth_link_") != 1 || strings.Contains(logged.String(), "berth_link_") || !strings.Contains(said.String(), "until 20") {
		t.Fatalf("it said:\n%s", said.String())
	}
	for path, want := range map[string]int{"/api/health": 200, "/api/companies": 401, "/metrics": 401, "/readyz": 200, link: 200} {
		if status, body := get(t, srv.URL+path); status != want {
			t.Errorf("%s: %d %s, want %d", path, status, body, want)
		}
	}
	token := strings.TrimPrefix(link, "/link/")
	in := identity.Redemption{Email: "ada@berth.test", Name: "Ada", Password: environment.NewSecret("correct horse battery")}
	if _, actor, err := srv.parts.identity.Redeem(t.Context(), token, in, identity.Client{}); err != nil || !actor.InstanceAdmin {
		t.Errorf("redeem: %+v, %v", actor, err)
	}
	if err := srv.Stop(); err != nil {
		t.Fatal(err)
	}
	var again lockedText
	o.Err = &again
	if srv, err = startServer(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if err := srv.Stop(); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(again.String(), "/link/") {
		t.Errorf("with an admin it says:\n%s", again.String())
	}
}

// lockedText takes what several goroutines write.
type lockedText struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lockedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func TestServeEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o := options(t)
	o.Ready = func(string) { cancel() }
	if err := serve(ctx, o); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("serve: %v", err)
	}
}

func TestMigrateAndDoctor(t *testing.T) {
	o := options(t)
	version, err := migrate(t.Context(), o)
	if err != nil || version < 1 {
		t.Errorf("migrate: %d, %v", version, err)
	}
	for _, check := range doctor(t.Context(), o) {
		if check.Name == "" || check.For == "" || check.Found == "" || (!check.OK && check.Remedy == "") || (check.Needed && !check.OK) {
			t.Errorf("check %+v", check)
		}
	}
	o.DatabaseURL = "postgres://u:pass-canary@127.0.0.1:1/x"
	var text bytes.Buffer
	if err := json.NewEncoder(&text).Encode(doctor(t.Context(), o)); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text.String(), "pass-canary") {
		t.Errorf("the doctor shows the password: %s", &text)
	}
}

func TestRunIsTheProgram(t *testing.T) {
	var out, errOut bytes.Buffer
	var mu sync.Mutex
	getenv := func(string) string { mu.Lock(); defer mu.Unlock(); return "" }
	if code := run(t.Context(), []string{"version", "--json"}, getenv, strings.NewReader(""), &out, &errOut); code != 0 || !strings.Contains(out.String(), `"`+release+`"`) {
		t.Errorf("version: %d %s %s", code, &out, &errOut)
	}
	if code := run(t.Context(), []string{"nonsense"}, getenv, strings.NewReader(""), &out, &errOut); code != 2 {
		t.Errorf("nonsense: exit %d, want 2", code)
	}
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func post(t *testing.T, url, body string, into any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "POST", url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	do(t, req, into)
}

func do(t *testing.T, req *http.Request, into any) {
	t.Helper()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode >= 300 {
		t.Fatalf("%s %s: %d %s %v", req.Method, req.URL, resp.StatusCode, body, err)
	}
	if into != nil {
		if err := json.Unmarshal(body, into); err != nil {
			t.Fatal(err)
		}
	}
}
