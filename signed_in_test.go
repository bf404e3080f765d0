package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/handlers/cli"
)

// browser is a client with cookies that stays where it is sent away.
type browser struct {
	t      *testing.T
	client *http.Client
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	b := &browser{t, &http.Client{Jar: jar, Transport: &http.Transport{}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	t.Cleanup(b.client.CloseIdleConnections)
	return b
}

func (b *browser) send(method, address, body string, want int) string {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if strings.Contains(address, "/link/") {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := b.client.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		b.t.Fatal(err)
	}
	if resp.StatusCode != want {
		b.t.Fatalf("%s %s: %d, want %d: %s", method, address, resp.StatusCode, want, text)
	}
	return string(text)
}

// TestSessionOnTwoServers signs in at one of two servers of one database: the
// other knows the session, a restart keeps it, and when one ends it a stream of
// the other ends too.
func TestSessionOnTwoServers(t *testing.T) {
	var said lockedText
	one := options(t)
	one.Mode, one.Err = "authenticated", &said
	two := one
	two.DataDir, two.Keyset = t.TempDir(), filepath.Join(one.DataDir, "keyset.json")
	first, second := begin(t, one), begin(t, two)

	at := strings.LastIndex(said.String(), "/link/berth_link_")
	link, _, _ := strings.Cut(said.String()[at:], "\n")
	b := newBrowser(t)
	b.send("POST", first.URL+link, url.Values{"email": {"ada@berth.test"}, "name": {"Ada"}, "password": {"correct horse battery"}}.Encode(), 303)
	b.send("GET", second.URL+"/api/companies", "", 200)
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}
	first = begin(t, one)
	b.send("GET", first.URL+"/api/companies", "", 200)

	events := b.follow(first.URL, second.URL)
	began := time.Now()
	b.send("DELETE", second.URL+"/api/account/sessions", "", 200)
	for line := ""; line != `data: {"reason":"signed_out"}`; line = events.Text() {
		if !events.Scan() {
			t.Fatalf("the stream ended without a reason: %v", events.Err())
		}
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the stream ended after %v", took)
	}
	b.send("GET", first.URL+"/api/companies", "", 401)
	for _, srv := range []*runningServer{first, second} {
		if err := srv.Stop(); err != nil {
			t.Error(err)
		}
	}
}

func begin(t *testing.T, o cli.ServeOptions) *runningServer {
	t.Helper()
	srv, err := startServer(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return srv
}

// follow starts a run by way of one server and reads its events at another.
func (b *browser) follow(reader, starter string) *bufio.Scanner {
	b.t.Helper()
	var company, run struct{ ID string }
	var environments []struct{ ID string }
	read := func(text string, into any) {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			b.t.Fatal(err)
		}
	}
	b.send("PATCH", starter+"/api/instance/settings/experimental", `{"enableEnvironments":true}`, 200)
	read(b.send("POST", starter+"/api/companies", `{"name":"Acme"}`, 201), &company)
	read(b.send("GET", starter+"/api/companies/"+company.ID+"/environments", "", 200), &environments)
	read(b.send("POST", starter+"/api/companies/"+company.ID+"/runs", `{"environmentId":"`+environments[0].ID+`","command":["sleep","8"]}`, 201), &run)
	ctx, cancel := context.WithTimeout(b.t.Context(), 30*time.Second)
	req, err := http.NewRequestWithContext(ctx, "GET", reader+"/api/runs/"+run.ID+"/events", nil)
	if err != nil {
		b.t.Fatal(err)
	}
	resp, err := b.client.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { cancel(); _ = resp.Body.Close() })
	if resp.StatusCode != 200 {
		b.t.Fatalf("the stream is answered %d", resp.StatusCode)
	}
	return bufio.NewScanner(resp.Body)
}

// TestWarningOfPlainAddress: who listens beyond this machine without TLS is told.
func TestWarningOfPlainAddress(t *testing.T) {
	for name, tt := range map[string]struct {
		listen, public string
		warned         bool
	}{
		"loopback":         {"127.0.0.1:3100", "", false},
		"behind a proxy":   {"0.0.0.0:3100", "https://berth.example", false},
		"nothing known":    {"0.0.0.0:3100", "", true},
		"every address":    {":3100", "", true},
		"plain public URL": {"10.0.0.1:3100", "http://berth.example", true},
	} {
		var said lockedText
		warnOfPlainAddress(cli.ServeOptions{Listen: tt.listen, PublicURL: tt.public}, slog.New(slog.NewTextHandler(&said, nil)))
		if warned := strings.Contains(said.String(), "level=WARN"); warned != tt.warned {
			t.Errorf("%s: it said %q", name, said.String())
		}
	}
}
