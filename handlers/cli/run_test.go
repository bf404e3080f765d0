package cli_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"berth/environment"
	"berth/handlers/api"

	"github.com/google/uuid"
)

const (
	companyID = "0190aaaa-0000-7000-8000-0000000000c0"
	targetID  = "0190aaaa-0000-7000-8000-0000000000e0"
	runID     = "0190aaaa-0000-7000-8000-0000000000a0"
)

// scripted is a server whose run's stream breaks where a test wants it to: the
// real one cannot be told to.
type scripted struct {
	chunks []api.LogChunk
	end    api.Run
	// perStream is how many chunks a stream sends before it breaks; 0 refuses
	// every stream.
	perStream int
	streams   atomic.Int32
	resumed   atomic.Int32 // streams that went on after an id
}

func (s *scripted) serve(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/companies/{c}/runs", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusCreated)
		answer(t, w, api.Run{ID: uuid.MustParse(runID), Status: "queued"})
	})
	mux.HandleFunc("GET /api/environments/{id}", func(w http.ResponseWriter, r *http.Request) {
		answer(t, w, api.Environment{ID: uuid.MustParse(targetID), Name: "Box", Driver: "ssh"})
	})
	mux.HandleFunc("GET /api/runs/{id}", func(w http.ResponseWriter, r *http.Request) { answer(t, w, s.end) })
	mux.HandleFunc("GET /api/runs/{id}/log", s.log(t))
	mux.HandleFunc("GET /api/runs/{id}/events", s.events(t))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

func answer(t *testing.T, w http.ResponseWriter, v any) {
	if err := json.NewEncoder(w).Encode(v); err != nil {
		t.Errorf("answer: %v", err)
	}
}

func (s *scripted) log(t *testing.T) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		offset, err := strconv.ParseInt(r.URL.Query().Get("offset"), 10, 64)
		if err != nil || r.URL.Query().Get("data") != "1" {
			t.Errorf("log asked with %q", r.URL.RawQuery)
		}
		log := api.Log{NextOffset: offset, Done: true}
		for _, c := range s.chunks {
			if c.Offset >= offset {
				log.Chunks = append(log.Chunks, c)
				log.NextOffset = c.Offset + int64(len(c.Data))
			}
		}
		answer(t, w, log)
	}
}

func (s *scripted) events(t *testing.T) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.streams.Add(1)
		if s.perStream == 0 {
			http.Error(w, "no streams here", http.StatusBadGateway)
			return
		}
		from := 0
		if last := r.Header.Get("Last-Event-ID"); last != "" {
			s.resumed.Add(1)
			n, err := strconv.Atoi(last)
			if err != nil {
				t.Errorf("Last-Event-ID %q", last)
			}
			from = n
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for i := from; i < len(s.chunks) && i < from+s.perStream; i++ {
			data, err := json.Marshal(s.chunks[i])
			if err != nil {
				t.Error(err)
			}
			if _, err := fmt.Fprintf(w, ": still here\n\nid: %d\nevent: output\ndata: %s\n\n", i+1, data); err != nil {
				t.Error(err)
			}
		}
	}
}

// output cuts texts into chunks on one count of bytes.
func output(pieces ...[2]string) []api.LogChunk {
	var chunks []api.LogChunk
	offset := int64(0)
	for _, p := range pieces {
		chunks = append(chunks, api.LogChunk{Stream: p[0], Offset: offset, Text: strings.ToValidUTF8(p[1], "\uFFFD"), Data: []byte(p[1])})
		offset += int64(len(p[1]))
	}
	return chunks
}

func ended(status environment.RunStatus, exit int, change ...func(*api.Run)) api.Run {
	r := api.Run{ID: uuid.MustParse(runID), Status: string(status), ExitCode: &exit}
	for _, f := range change {
		f(&r)
	}
	return r
}

func failure(code string) func(*api.Run) {
	return func(r *api.Run) {
		r.ExitCode, r.Failure = nil, &environment.Failure{Code: code, Message: "It did not work."}
	}
}

func runCommand(t *testing.T, base string, flags ...string) outcome {
	t.Helper()
	args := append([]string{"--company", companyID, "run", "--env", targetID}, flags...)
	return command(t, base, "", append(args, "--", "do", "it")...)
}

// TestRun_OutputIsWhole sends bytes that are no text, in pieces that cut a
// character, over a stream that breaks or is refused.
func TestRun_OutputIsWhole(t *testing.T) {
	chunks := output([2]string{"stdout", "one\x00\xff\n"}, [2]string{"stderr", "warn\n"}, [2]string{"stdout", "caf\xc3"}, [2]string{"stdout", "\xa9\n"}, [2]string{"stderr", "end\n"})
	for name, perStream := range map[string]int{"one stream": 99, "a break after each": 1, "a break after two": 2, "no stream at all": 0} {
		t.Run(name, func(t *testing.T) {
			s := &scripted{chunks: chunks, end: ended(environment.RunFailed, 3), perStream: perStream}
			got := runCommand(t, s.serve(t), "--quiet")
			want := outcome{3, "one\x00\xff\ncafé\n", "warn\nend\n"}
			if got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// TestRun_GoesOnAfterTheLastEvent wants a second stream to begin where the
// first one broke.
func TestRun_GoesOnAfterTheLastEvent(t *testing.T) {
	s := &scripted{chunks: output([2]string{"stdout", "a"}, [2]string{"stdout", "b"}), perStream: 1}
	s.end = api.Run{ID: uuid.MustParse(runID), Status: "running"}
	base := s.serve(t)
	// The run ends when its second stream was asked for.
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/runs/"+runID && s.resumed.Load() > 0 {
			answer(t, w, ended(environment.RunSucceeded, 0))
			return
		}
		if strings.HasSuffix(r.URL.Path, "/log") && s.resumed.Load() == 0 {
			answer(t, w, api.Log{NextOffset: 1})
			return
		}
		resp, err := forward(r, base)
		if err != nil {
			t.Error(err)
			return
		}
		copyAnswer(t, w, resp)
	})
	front := httptest.NewServer(mux)
	t.Cleanup(front.Close)
	if got, want := runCommand(t, front.URL, "--quiet"), (outcome{0, "ab", ""}); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if s.resumed.Load() == 0 {
		t.Error("no stream went on after the last event")
	}
}

func TestRun_ExitCode(t *testing.T) {
	signal := "KILL"
	for name, test := range map[string]struct {
		end  api.Run
		want int
		says string
	}{
		"zero":             {ended(environment.RunSucceeded, 0), 0, "succeeded"},
		"three":            {ended(environment.RunFailed, 3), 3, "exit code 3"},
		"255 is a code":    {ended(environment.RunFailed, 255), 255, "exit code 255"},
		"signal":           {ended(environment.RunFailed, 137, func(r *api.Run) { r.Signal = &signal }), 137, "signal KILL"},
		"refused":          {ended(environment.RunFailed, 0, failure(environment.CodeConnectRefused)), 7, "connect_refused"},
		"login refused":    {ended(environment.RunFailed, 0, failure(environment.CodeLoginRefused)), 1, "login_refused"},
		"untrusted":        {ended(environment.RunFailed, 0, failure(environment.CodeHostKeyChanged)), 1, "host_key_changed"},
		"lost":             {ended(environment.RunLost, 0, failure(environment.CodeConnectionLost)), 7, "connection_lost"},
		"timed out":        {ended(environment.RunTimedOut, 0, failure(environment.CodeTimedOut)), 1, "timed_out"},
		"cancelled":        {ended(environment.RunCancelled, 143), 1, "cancelled"},
		"not proven ended": {ended(environment.RunCancelled, 143, func(r *api.Run) { r.Termination = "unproven" }), 1, "termination_unproven"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &scripted{end: test.end}
			got := runCommand(t, s.serve(t))
			if got.code != test.want || got.out != "" || !strings.Contains(got.errOut, test.says) {
				t.Errorf("got %s, want exit %d, nothing on standard output, and %q", got, test.want, test.says)
			}
		})
	}
}

func TestRun_JSONIsOneValue(t *testing.T) {
	s := &scripted{chunks: output([2]string{"stdout", "out"}, [2]string{"stderr", "err"}), end: ended(environment.RunFailed, 0, failure(environment.CodeConnectRefused))}
	got := runCommand(t, s.serve(t), "--json")
	v := oneJSON(t, got.out)
	if got.code != 7 || v["stdout"] != "out" || v["stderr"] != "err" || v["code"] != environment.CodeConnectRefused || v["error"] == "" || v["status"] != "failed" {
		t.Errorf("exit %d, answer %v", got.code, v)
	}
	if got.errOut != "" {
		t.Errorf("standard error has %q, want nothing", got.errOut)
	}
}

func TestRun_Detach(t *testing.T) {
	s := &scripted{}
	if got, want := runCommand(t, s.serve(t), "--detach"), (outcome{0, runID + "\n", ""}); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if s.streams.Load() != 0 {
		t.Error("a detached run was followed")
	}
}
