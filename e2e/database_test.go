package e2e

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"berth/store/cluster"
)

// database is a PostgreSQL that a test can take away and bring back.
type database struct {
	dir     string
	cluster *cluster.Cluster
}

func newDatabase(t *testing.T) *database {
	t.Helper()
	dir, err := os.MkdirTemp("", "berth-db")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	d := &database{dir: filepath.Join(dir, "data")}
	t.Cleanup(func() {
		d.stop(t)
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	d.start(t)
	return d
}

func (d *database) start(t *testing.T) {
	t.Helper()
	if err := os.MkdirAll(d.dir, 0o711); err != nil {
		t.Fatal(err)
	}
	var err error
	if d.cluster, err = cluster.Start(t.Context(), d.dir, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
}

func (d *database) stop(t *testing.T) {
	t.Helper()
	if d.cluster == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := d.cluster.Stop(ctx); err != nil {
		t.Error(err)
	}
	d.cluster = nil
}

// outage takes the database away from a server with a run and an open page for
// a while. Nothing acknowledged is lost, requests meanwhile are answered 503 and
// do not hang, pages say so, and the server recovers by itself.
func outage(t *testing.T, away time.Duration) {
	db := newDatabase(t)
	s := newServer(t, "DATABASE_URL="+db.cluster.URL())
	s.furnish(t, "Outage")
	host := newHost(t)
	env := host.save(t, s, "Box")
	lines := int(away/(100*time.Millisecond)) + 60
	run := s.begin(t, env, counting(lines, "0.1")...)
	d := &drill{server: s}
	d.prints(t, run, "line 5\n")
	b := open(t, s.url, desktop)
	b.expect("503")
	b.expect(`\[object Event\]`) // htmx on a stream that broke
	b.visit("/companies/" + s.company + "/runs/" + run)
	b.inState("#run", "running")

	db.stop(t)
	gone := time.NewTimer(away)
	defer gone.Stop()
	until(t, 10*time.Second, "the server says that the database is away", func() bool {
		began := time.Now()
		status, body, err := s.try("GET", "/api/instance/settings", nil)
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("a request without a database took %s", took)
		}
		return err == nil && status == 503 && strings.Contains(string(body), `"code"`)
	})
	if !s.answers("/api/health") {
		t.Error("the server is not well without its database")
	}
	other := b.another()
	other.expect("503")
	if status := other.visitStatus(pages); status != 503 {
		t.Errorf("the page is answered with %d, want 503", status)
	}
	other.inState("#error", "database-away")
	<-gone.C
	db.start(t)

	until(t, 10*time.Second, "the server is back", func() bool { return s.answers("/readyz") })
	got := s.ends(t, run, 60*time.Second)
	if got.Status != "failed" || got.ExitCode == nil || *got.ExitCode != 7 {
		t.Errorf("the run %s; want failed with exit code 7", got)
	}
	s.wantCounted(t, run, lines)
	b.inState("#run-summary", "failed")
	leavesNothing(t, run, 5*time.Second)
}

func TestDrill_DatabaseAway(t *testing.T) {
	t.Parallel()
	outage(t, 4*time.Second)
}

// TestDrill_PrivateDatabaseKilled: the server starts its PostgreSQL again.
func TestDrill_PrivateDatabaseKilled(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.furnish(t, "Killed")
	pid := s.postmaster()
	if pid == 0 {
		t.Fatal("no postmaster found")
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	until(t, 20*time.Second, "another one runs", func() bool {
		now := s.postmaster()
		return now != 0 && now != pid && s.answers("/readyz")
	})
	s.call(t, "GET", "/api/companies/"+s.company, nil, nil, 200)
}

// TestDrill_SecondServerOnOneFolder: it says so and ends.
func TestDrill_SecondServerOnOneFolder(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	second := &server{dir: s.dir, url: "http://127.0.0.1:1", log: &logBuffer{}}
	var err error
	if second.listen, err = freeAddress(); err != nil {
		t.Fatal(err)
	}
	if err := second.launch(); err == nil {
		second.stop(t)
		t.Fatal("two servers run on one data folder")
	}
	if said := second.log.String(); !strings.Contains(said, s.dir) {
		t.Errorf("the second one says %q, and does not name the folder", said)
	}
	if !s.answers("/readyz") {
		t.Error("the first one suffered")
	}
}
