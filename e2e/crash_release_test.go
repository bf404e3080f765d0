package e2e

import (
	"database/sql"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/drivers/docker/enginetest"

	_ "github.com/lib/pq" // the database that a test changes behind a server's back
)

// TestC36_KilledBetweenEndAndRelease kills the server when the run has ended and the
// engine, which is slow, is about to destroy its sandbox. In one variant the
// environment's row goes before the next server comes.
func TestC36_KilledBetweenEndAndRelease(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	rows, err := sql.Open("postgres", db.cluster.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	s := &sandboxes{engine: engineOf(t), server: newServer(t, "DATABASE_URL="+db.cluster.URL(),
		"BERTH_KEYSET="+filepath.Join(t.TempDir(), "keyset.json"), "BERTH_RUN_GRACE=20s")}
	s.furnish(t, unique("C36"))
	proxy := enginetest.NewProxy(t, s.engine)
	for name, remove := range map[string]bool{"with its environment": false, "without": true} {
		env := saveSandbox(t, s.server, proxy.Host, unique("C36"), s.engine.Busybox(t), nil)
		run, lease := s.killedReleasing(t, proxy, env)
		for tries := 1; len(s.held(t, env)) == 0; tries++ { // the kill came too late
			if tries == 5 {
				t.Fatalf("%s: it is never killed in time", name)
			}
			s.start(t)
			run, lease = s.killedReleasing(t, proxy, env)
		}
		if status, _ := leaseRow(t, rows, lease); status != "releasing" {
			t.Errorf("%s: at the crash the lease is %s", name, status)
		}
		if remove {
			if _, err := rows.ExecContext(t.Context(), "delete from environments where id = $1", env); err != nil {
				t.Fatal(err)
			}
		}
		s.start(t)
		began := time.Now()
		until(t, 10*time.Second, name+": the sandbox is destroyed and its row released", func() bool {
			status, receipt := leaseRow(t, rows, lease)
			return len(s.held(t, env)) == 0 && status == "released" && strings.Contains(receipt, "destroyed")
		})
		t.Logf("%s: released %s after the start", name, time.Since(began).Round(10*time.Millisecond))
		if w := s.work(t, run); w.Status != "succeeded" {
			t.Errorf("%s: the run is %s", name, w)
		}
	}
}

// killedReleasing begins a run and kills the server when it asks a slow engine to
// destroy its sandbox.
func (s *sandboxes) killedReleasing(t *testing.T, proxy *enginetest.Proxy, env string) (run, lease string) {
	t.Helper()
	proxy.Delay(300 * time.Millisecond)
	defer proxy.Delay(0)
	asked := len(proxy.Requests())
	run = s.begin(t, env, "echo", "done")
	until(t, longWait, "there is a lease", func() bool { return s.work(t, run).Lease != nil })
	lease = s.work(t, run).Lease.ID
	until(t, longWait, "its destruction is asked for", func() bool {
		return slices.ContainsFunc(proxy.Requests()[asked:], func(line string) bool { return strings.HasPrefix(line, "DELETE ") })
	})
	s.kill(t)
	proxy.Cut()
	return run, lease
}

func leaseRow(t *testing.T, rows *sql.DB, id string) (status, receipt string) {
	t.Helper()
	err := rows.QueryRowContext(t.Context(), "select status, coalesce(receipt::text, '') from environment_leases where id = $1", id).Scan(&status, &receipt)
	if err != nil {
		t.Fatal(err)
	}
	return status, receipt
}
