package handlers

import (
	"encoding/json"
	"strings"
	"testing"

	"berth/environment"
	"berth/handlers/api"
)

func (f *front) startRun(env, more string) api.Run {
	f.t.Helper()
	var run api.Run
	f.want(f.call("POST", "/api/companies/"+f.company.String()+"/runs", `{"environmentId":"`+env+`","command":["x"]`+more+`}`), 201, &run)
	return run
}

func (f *front) ended(run api.Run) api.Run {
	f.t.Helper()
	eventually(f.t, "the run to end", func() bool {
		f.want(f.call("GET", "/api/runs/"+run.ID.String(), ""), 200, &run)
		return environment.RunStatus(run.Status).Ended()
	})
	return run
}

// TestC80_OutputThatIsNoText has NUL, a broken byte, and a character that two
// chunks and two streams cut apart.
func TestC80_OutputThatIsNoText(t *testing.T) {
	f := newFront(t)
	f.driver.output = []piece{
		{environment.Stdout, "a\x00b\xffc \xe2\x82"}, {environment.Stderr, "err"}, {environment.Stdout, "\xac!"}, {environment.Stdout, "\xf0\x9f"},
	}
	f.driver.open()
	run := f.ended(f.startRun(f.create("box"), ""))
	if run.Status != "failed" || run.ExitCode == nil || *run.ExitCode != 3 || run.Lease == nil {
		t.Fatalf("run %+v", run)
	}
	path := "/api/runs/" + run.ID.String()
	const want = "a\uFFFDb\uFFFDc €!\uFFFD"
	var log api.Log
	f.want(f.call("GET", path+"/log", ""), 200, &log)
	if got := textOf(log.Chunks, "stdout"); !strings.HasPrefix(got, want) || !log.Done || log.NextOffset != run.LogSize {
		t.Errorf("log %q, done %t, next %d of %d; want %q", got, log.Done, log.NextOffset, run.LogSize, want)
	}
	raw := f.call("GET", path+"/log?raw=1&stream=stdout", "")
	if raw.Body != "a\x00b\xffc \xe2\x82\xac!\xf0\x9f" || raw.Header.Get("Content-Type") != "application/octet-stream" {
		t.Errorf("raw log %q of type %s", raw.Body, raw.Header.Get("Content-Type"))
	}
	var streamed []api.LogChunk
	for _, e := range f.stream(path + "/events").until("end") {
		if e.name == "output" {
			var chunk api.LogChunk
			if err := json.Unmarshal([]byte(e.data), &chunk); err != nil {
				t.Fatal(err)
			}
			streamed = append(streamed, chunk)
		}
	}
	if got := textOf(streamed, "stdout"); !strings.HasPrefix(got, want) {
		t.Errorf("stream %q, want %q", got, want)
	}
}

func textOf(chunks []api.LogChunk, stream string) string {
	var text strings.Builder
	for _, c := range chunks {
		if c.Stream == stream {
			text.WriteString(c.Text)
		}
	}
	return text.String()
}

// TestResumeWithinACharacter cuts the stream where a character is in two chunks.
func TestResumeWithinACharacter(t *testing.T) {
	f := newFront(t)
	f.driver.output = []piece{{environment.Stdout, "1 \xe2\x82"}, {environment.Stderr, "e"}, {environment.Stdout, "\xac 2"}}
	f.driver.open()
	run := f.ended(f.startRun(f.create("box"), ""))
	path := "/api/runs/" + run.ID.String() + "/events"
	all := f.stream(path).until("end")
	for i, e := range all[:len(all)-1] {
		before, after := outputOf(t, all[:i+1]), outputOf(t, f.stream(path, "Last-Event-ID: "+e.id).until("end"))
		if got := before + after; got != "1 € 2" {
			t.Errorf("cut after event %d: %q + %q", i, before, after)
		}
	}
}

func outputOf(t *testing.T, events []event) string {
	t.Helper()
	var chunks []api.LogChunk
	for _, e := range events {
		if e.name != "output" {
			continue
		}
		var chunk api.LogChunk
		if err := json.Unmarshal([]byte(e.data), &chunk); err != nil {
			t.Fatal(err)
		}
		chunks = append(chunks, chunk)
	}
	return textOf(chunks, "stdout")
}

func TestRunCancelListAndFiles(t *testing.T) {
	f := newFront(t)
	run := f.startRun(f.create("box"), `,"stdin":"a\u0000b","env":{"A":"1"},"title":"t"`)
	if run.Status != "queued" && run.Status != "acquiring" {
		t.Errorf("a new run is %s", run.Status)
	}
	path := "/api/runs/" + run.ID.String()
	eventually(t, "the command to run", func() bool { return strings.Contains(f.call("GET", path, "").Body, `"status":"running"`) })
	var files api.Workspace
	f.want(f.call("GET", path+"/workspace", ""), 200, &files)
	if files.Type != "dir" || len(files.Entries) != 1 || files.Text != nil {
		t.Errorf("folder %+v", files)
	}
	if body := f.call("GET", path+"/workspace", "").Body; !strings.Contains(body, `"modifiedAt":"2023-11-14T22:13:20.000Z"`) {
		t.Errorf("times of a folder: %s", body)
	}
	f.want(f.call("GET", path+"/workspace?path=a.bin", ""), 200, &files)
	if files.Type != "file" || files.Text == nil || *files.Text != "a\uFFFDb\uFFFDc" {
		t.Errorf("file %+v", files)
	}
	raw := f.call("GET", path+"/workspace?path=a.bin&raw=1", "")
	if raw.Body != "a\x00b\xffc" || raw.Header.Get("Content-Disposition") != "attachment" {
		t.Errorf("raw file %q %v", raw.Body, raw.Header)
	}
	if a := f.call("GET", path+"/workspace?path=%00", ""); a.Status != 400 {
		t.Errorf("NUL in a path: %d", a.Status)
	}
	f.want(f.call("POST", path+"/cancel", ""), 202, nil)
	if run = f.ended(run); run.Status != "cancelled" {
		t.Errorf("a cancelled run is %s", run.Status)
	}
	var runs []api.Run
	f.want(f.call("GET", "/api/companies/"+f.company.String()+"/runs?status=cancelled", ""), 200, &runs)
	if len(runs) != 1 || runs[0].ID != run.ID {
		t.Errorf("list %+v", runs)
	}
	f.want(f.call("POST", "/api/environment-leases/"+run.Lease.ID.String()+"/release", ""), 200, nil)
	for _, q := range []string{"offset=-1", "limit=0", "limit=x", "offset=x", "raw=x", "stream=stdin"} {
		if a := f.call("GET", path+"/log?"+q, ""); a.Status != 400 {
			t.Errorf("log?%s: %d, want 400", q, a.Status)
		}
	}
	for body, status := range map[string]int{
		`{}`: 422, `{"command":"x"}`: 400, `{"command":[1]}`: 400, `{"command":["x"],"x":1}`: 400, `{"command":["x"],"env":{"A":null}}`: 400,
		`{"environmentId":"x","command":["x"]}`: 400, `{"command":["x"],"timeoutSec":"1"}`: 400,
	} {
		if a := f.call("POST", "/api/companies/"+f.company.String()+"/runs", body); a.Status != status {
			t.Errorf("%s: %d, want %d: %s", body, a.Status, status, a.Body)
		}
	}
}

// TestCanaries plants secrets and looks for them in every answer and in the log.
func TestCanaries(t *testing.T) {
	f := newFront(t)
	f.driver.open()
	canaries := []string{"canary-key-7c1", "canary-pass-7c2", "canary-env-7c3", "canary-token-7c4", "canary-run-7c5", "canary-stdin-7c6", "canary-inspect-7c7"}
	var answers []string
	keep := func(a answer) string { answers = append(answers, a.Body); return a.Body }
	var env api.Environment
	created := f.want(f.call("POST", f.environments(), `{"name":"box","driver":"ssh","config":{"host":"box.test","privateKey":"canary-key-7c1","passphrase":"canary-pass-7c2"},
		"envVars":{"PLAIN":{"type":"secret","value":"canary-env-7c3"},"API_TOKEN":"canary-token-7c4"}}`), 201, &env)
	keep(created)
	id := env.ID.String()
	run := f.startRun(id, `,"env":{"RUN_TOKEN":"canary-run-7c5"},"stdin":"canary-stdin-7c6"`)
	f.ended(run)
	keep(f.call("POST", "/api/ssh-keys/inspect", `{"key":"canary-inspect-7c7","keyy":"canary-inspect-7c7"}`))
	keep(f.call("POST", f.environments(), `{"name":"box","driver":"ssh","config":{"host":"x","privateKey":"canary-key-7c1"}}`))
	keep(f.call("POST", f.environments(), `{"name":"box2","driver":"ssh","config":{"privateKey":"canary-key-7c1"}}`))
	keep(f.call("PATCH", "/api/environments/"+id, `{"config":{"password":"canary-pass-7c2"},"envVars":{"API_TOKEN":{"type":"secret","value":"canary-token-7c4"}}}`))
	keep(f.call("PATCH", "/api/environments/"+id, `{"envVars":{"API_TOKEN":{"type":"plain","value":["canary-token-7c4"]}}}`))
	keep(f.call("POST", "/api/environments/"+id+"/probe", ""))
	keep(f.call("POST", f.environments()+"/probe-config", `{"driver":"ssh","config":{"host":"a.test","privateKey":"canary-key-7c1"}}`))
	for _, path := range []string{
		f.environments(), "/api/environments/" + id, "/api/environments/" + id + "/leases", "/api/environments/" + id + "/probes",
		"/api/activity", "/api/runs/" + run.ID.String(), "/api/runs/" + run.ID.String() + "/log", "/api/runs/" + run.ID.String() + "/events",
		"/api/companies/" + f.company.String() + "/runs", "/metrics",
	} {
		keep(f.call("GET", path, ""))
	}
	keep(f.call("DELETE", "/api/environments/"+id, ""))
	for _, canary := range canaries {
		for _, body := range answers {
			if strings.Contains(body, canary) {
				t.Errorf("%s is in an answer: %.300s", canary, body)
			}
		}
		if strings.Contains(f.log.String(), canary) {
			t.Errorf("%s is in the log", canary)
		}
	}
}
