package handlers

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"berth/environment"
	"berth/handlers/api"
)

// reader reads a stream.
type reader struct {
	t      *testing.T
	lines  *bufio.Scanner
	cancel context.CancelFunc
	status int
	header http.Header
}

type event struct{ id, name, data string }

// stream opens a stream that ends with the test, with cancel, or after a while
// in which any test should have seen what it waits for.
func (f *front) stream(path string, headers ...string) *reader {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), 30*time.Second)
	req, err := http.NewRequestWithContext(ctx, "GET", f.url+path, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { cancel(); _ = resp.Body.Close() })
	return &reader{f.t, bufio.NewScanner(resp.Body), cancel, resp.StatusCode, resp.Header}
}

// next returns the next event; name "" when the stream ended. Comments give an
// event of the name ":".
func (r *reader) next() event {
	r.t.Helper()
	var e event
	for r.lines.Scan() {
		line := r.lines.Text()
		name, value, _ := strings.Cut(line, ": ")
		switch {
		case line == "" && e.name != "":
			return e
		case name == "":
			e.name = ":"
		case name == "id":
			e.id = value
		case name == "event":
			e.name = value
		case name == "data":
			e.data += value
		}
	}
	return event{}
}

// until skips comments and returns the events up to and with the first of a name.
func (r *reader) until(name string) []event {
	r.t.Helper()
	var all []event
	for {
		e := r.next()
		if e.name == ":" {
			continue
		}
		if e.name == "" {
			r.t.Fatalf("the stream ended without %q: %v", name, all)
		}
		if all = append(all, e); e.name == name {
			return all
		}
	}
}

func (f *front) startProbe(id string) string {
	f.t.Helper()
	var begun api.ProbeResult
	f.want(f.call("POST", "/api/environments/"+id+"/probe?wait=0", ""), 202, &begun)
	return begun.Details.ProbeID.String()
}

func TestProbeStream(t *testing.T) {
	f := newFront(t)
	probe := f.startProbe(f.create("box"))
	r := f.stream("/api/probes/" + probe + "/events")
	if r.status != 200 || r.header.Get("Content-Type") != "text/event-stream" || r.header.Get("Content-Encoding") != "" {
		t.Fatalf("status %d, headers %v", r.status, r.header)
	}
	begun := r.until("stage")
	var stage api.Stage
	if err := json.Unmarshal([]byte(begun[len(begun)-1].data), &stage); err != nil || stage.Name != "resolve" || stage.Measured == nil {
		t.Fatalf("stage %+v, %v", stage, err)
	}
	for e := r.next(); e.name != ":"; e = r.next() { // the heartbeat of a stream that waits
		if e.name == "" {
			t.Fatal("the stream ended while the probe runs")
		}
	}
	f.driver.open()
	r.until("end")
	if e := r.next(); e.name != "" {
		t.Errorf("after the end came %+v", e)
	}

	again := f.stream("/api/probes/"+probe+"/events", "Last-Event-ID: "+begun[0].id)
	rest := again.until("end")
	if rest[0].id == begun[0].id || len(rest) == 0 {
		t.Errorf("resumed after %s with %+v", begun[0].id, rest)
	}
	byQuery := f.stream("/api/probes/" + probe + "/events?after=" + begun[0].id).until("end")
	if len(byQuery) != len(rest) || byQuery[0] != rest[0] {
		t.Errorf("?after= gave %v, Last-Event-ID %v", byQuery, rest)
	}
	if done := f.stream("/api/probes/"+probe+"/events", "Last-Event-ID: "+rest[len(rest)-1].id); done.status != 204 {
		t.Errorf("a reader who saw the end gets %d, want 204", done.status)
	}
	for _, bad := range []string{"x", "-1", "1.5", "99999999999999999999"} {
		if r := f.stream("/api/probes/"+probe+"/events", "Last-Event-ID: "+bad); r.status != 400 {
			t.Errorf("Last-Event-ID %q: %d, want 400", bad, r.status)
		}
	}
}

// TestC83_StreamOutlivesTheDatabase loses the database under an open stream.
func TestC83_StreamOutlivesTheDatabase(t *testing.T) {
	f := newFront(t)
	id := f.create("box")
	probe := f.startProbe(id)
	r := f.stream("/api/probes/" + probe + "/events")
	r.until("stage")

	f.store.away.Store(true)
	for path, want := range map[string]string{
		"/readyz": "database_unavailable", f.environments(): "database_unavailable", "/api/companies": "database_unavailable",
		"/api/probes/" + probe: "database_unavailable", "/api/probes/" + probe + "/events": "database_unavailable",
	} {
		if a := f.call("GET", path, ""); a.Status != 503 || !strings.Contains(a.Body, want) || a.Header.Get("Retry-After") == "" {
			t.Errorf("%s: %d %s, want 503 %s", path, a.Status, a.Body, want)
		}
	}
	if a := f.call("GET", "/api/health", ""); a.Status != 200 {
		t.Errorf("health: %d", a.Status)
	}
	if a := f.call("GET", "/metrics", ""); a.Status != 200 {
		t.Errorf("metrics: %d", a.Status)
	}
	f.driver.open() // it ends meanwhile, and nobody is woken that could read
	for range 3 {
		if e := r.next(); e.name != ":" {
			t.Fatalf("while the database is away came %+v", e)
		}
	}
	f.store.away.Store(false)
	r.until("end")
	if a := f.call("GET", "/readyz", ""); a.Status != 200 {
		t.Errorf("readyz after the return: %d", a.Status)
	}
}

func TestStreamsEndWithTheServer(t *testing.T) {
	f := newFront(t)
	probe := f.startProbe(f.create("box"))
	r := f.stream("/api/probes/" + probe + "/events")
	r.until("stage")
	waiting := make(chan answer, 1)
	id := f.create("other")
	go func() { waiting <- f.call("POST", "/api/environments/"+id+"/probe", "") }()
	eventually(t, "the second probe", func() bool {
		return strings.Contains(f.call("GET", "/api/environments/"+id, "").Body, `"testing"`)
	})
	close(f.stopping)
	for e := r.next(); e.name != ""; e = r.next() {
		if e.name == "end" {
			t.Error("the probe has not ended, but its stream says so")
		}
	}
	if a := <-waiting; a.Status != 503 || !strings.Contains(a.Body, "server_stopping") {
		t.Errorf("who waits for a probe gets %d %s", a.Status, a.Body)
	}
}

func TestDroppedConnectionCancelsNothing(t *testing.T) {
	f := newFront(t)
	id := f.create("box")
	ctx, drop := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, "POST", f.url+"/api/environments/"+id+"/probe", nil)
	if err != nil {
		t.Fatal(err)
	}
	gone := make(chan error, 1)
	go func() {
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			_ = resp.Body.Close()
		}
		gone <- err
	}()
	health := func(word string) func() bool {
		return func() bool {
			return strings.Contains(f.call("GET", "/api/environments/"+id, "").Body, `"health":"`+word+`"`)
		}
	}
	eventually(t, "the probe to run", health("testing"))
	drop()
	if err := <-gone; err == nil {
		t.Fatal("the connection was not dropped")
	}
	f.driver.open()
	eventually(t, "the probe to end well", health("ready"))
	var stored []api.ProbeResult
	f.want(f.call("GET", "/api/environments/"+id+"/probes", ""), 200, &stored)
	if len(stored) != 1 || !stored[0].OK || stored[0].Details.State != string(environment.ProbeDone) {
		t.Errorf("history: %+v", stored)
	}
}

func TestProbeResultIs200EitherWay(t *testing.T) {
	f := newFront(t)
	f.driver.open()
	id := f.create("box")
	var result api.ProbeResult
	f.want(f.call("POST", "/api/environments/"+id+"/probe", ""), 200, &result)
	if !result.OK || result.Driver != "ssh" || result.Details.CompanyID == nil || *result.Details.CompanyID != f.company {
		t.Errorf("result %+v", result)
	}
	f.want(f.call("POST", f.environments()+"/probe-config", `{"driver":"ssh","config":{"host":"a.test"}}`), 200, &result)
	if !result.Details.Draft || result.Details.EnvironmentID != nil {
		t.Errorf("a draft's result: %+v", result.Details)
	}
	f.want(f.call("POST", f.environments()+"/probe-config", `{"driver":"ssh","config":{}}`), 422, nil)
}
