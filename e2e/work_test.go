package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// work is a run as the API tells it, in so far as the drills look at it.
type work struct {
	ID       string
	Status   string
	ExitCode *int
	Signal   *string
	Failure  *struct{ Code, Message, Stage string }
	Lease    *struct{ ID, Status string }
	Host     *struct{ Name, BootID string }

	Termination string
	LogSize     int64
}

func (w work) String() string {
	text := w.Status
	if w.ExitCode != nil {
		text += fmt.Sprintf(", exit %d", *w.ExitCode)
	}
	if w.Failure != nil {
		text += fmt.Sprintf(", %s %q", w.Failure.Code, w.Failure.Message)
	}
	if w.Lease != nil {
		text += ", lease " + w.Lease.Status
	}
	return text + ", termination " + w.Termination
}

func (w work) ended() bool {
	switch w.Status {
	case "succeeded", "failed", "cancelled", "timed_out", "lost":
		return true
	}
	return false
}

// begin starts a run.
func (s *server) begin(t *testing.T, environment string, argv ...string) string {
	t.Helper()
	var w work
	s.call(t, "POST", "/api/companies/"+s.company+"/runs", map[string]any{"environmentId": environment, "command": argv}, &w, 201)
	return w.ID
}

func (s *server) work(t *testing.T, id string) work {
	t.Helper()
	var w work
	s.call(t, "GET", "/api/runs/"+id, nil, &w, 200)
	return w
}

// reaches waits until a run is in one of some states.
func (s *server) reaches(t *testing.T, id string, limit time.Duration, states ...string) work {
	t.Helper()
	var w work
	err := waitFor(limit, func() bool {
		w = s.work(t, id)
		for _, state := range states {
			if w.Status == state {
				return true
			}
		}
		return false
	})
	if err != nil {
		t.Fatalf("run %s is %s and not %v: %v", id, w, states, err)
	}
	return w
}

// ends waits until a run has ended and its lease is given back.
func (s *server) ends(t *testing.T, id string, limit time.Duration) work {
	t.Helper()
	var w work
	err := waitFor(limit, func() bool {
		w = s.work(t, id)
		return w.ended() && (w.Lease == nil || isOver(w.Lease.Status))
	})
	if err != nil {
		t.Fatalf("run %s is %s: %v", id, w, err)
	}
	return w
}

func isOver(lease string) bool { return lease == "released" || lease == "expired" || lease == "failed" }

// output is all of a stream, as it is.
func (s *server) output(t *testing.T, id, stream string) string {
	t.Helper()
	var all strings.Builder
	for offset := 0; ; {
		status, body, err := s.try("GET", fmt.Sprintf("/api/runs/%s/log?offset=%d", id, offset), nil)
		if err != nil || status != 200 {
			t.Fatalf("log of %s: %d %v", id, status, err)
		}
		var page struct {
			NextOffset int
			Chunks     []struct{ Stream, Text string }
		}
		decode(t, body, &page)
		for _, c := range page.Chunks {
			if c.Stream == stream {
				all.WriteString(c.Text)
			}
		}
		if page.NextOffset <= offset {
			return all.String()
		}
		offset = page.NextOffset
	}
}

// counting is a command that prints n numbered lines on both streams, one each
// tick, and exits with 7.
func counting(n int, tick string) []string {
	return []string{"sh", "-c", fmt.Sprintf(`i=0; while [ $i -lt %d ]; do i=$((i+1)); echo "line $i"; echo "warning $i" >&2; sleep %s; done; exit 7`, n, tick)}
}

// wantCounted fails unless every line is there once, in order.
func (s *server) wantCounted(t *testing.T, id string, n int) {
	t.Helper()
	for stream, word := range map[string]string{"stdout": "line", "stderr": "warning"} {
		var want strings.Builder
		for i := range n {
			fmt.Fprintf(&want, "%s %d\n", word, i+1)
		}
		if got := s.output(t, id, stream); got != want.String() {
			t.Errorf("%s of run %s is %q, want %d lines in order", stream, id, got, n)
		}
	}
}

// leftovers are the processes of a run that live: they carry its mark.
func leftovers(t *testing.T, run string) []int {
	t.Helper()
	var pids []int
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		environ, err := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		if err != nil {
			continue // it ended, or belongs to somebody else
		}
		if bytes.Contains(environ, []byte("BERTH_RUN_ID="+run)) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// leavesNothing waits until no process of a run is left.
func leavesNothing(t *testing.T, run string, limit time.Duration) {
	t.Helper()
	if err := waitFor(limit, func() bool { return len(leftovers(t, run)) == 0 }); err != nil {
		t.Errorf("run %s has processes left: %v", run, leftovers(t, run))
	}
}

func readAll(t *testing.T, res *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(res.Body)
	if err = errors.Join(err, res.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return string(b)
}
