package cluster_test

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"berth/environment"
	"berth/store/cluster"
	"berth/store/storetest"

	"go.uber.org/goleak"
)

func start(t *testing.T, dir string) *cluster.Cluster {
	t.Helper()
	c, err := cluster.Start(t.Context(), dir, slog.New(slog.DiscardHandler), "fsync=off")
	if err != nil {
		t.Fatalf("start a cluster in %s: %v", dir, err)
	}
	t.Cleanup(func() { stop(t, c) })
	return c
}

func stop(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	if err := c.Stop(context.WithoutCancel(t.Context())); err != nil {
		t.Errorf("stop the cluster: %v", err)
	}
}

// ask runs a query that gives one text.
func ask(t *testing.T, url, query string) (string, error) {
	t.Helper()
	db, err := sql.Open("postgres", url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var text string
	err = db.QueryRowContext(ctx, query).Scan(&text)
	return text, err
}

func want(t *testing.T, url, query, text string) {
	t.Helper()
	if got, err := ask(t, url, query); err != nil || got != text {
		t.Errorf("%s: got %q, %v, want %q", query, got, err, text)
	}
}

// postmaster is the pid in the data's pid file; 0 when there is none.
func postmaster(t *testing.T, dir string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "postgres", "postmaster.pid"))
	if errors.Is(err, os.ErrNotExist) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.SplitN(string(text), "\n", 2)[0])
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func gone(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// within waits for a state that is not announced.
func within(t *testing.T, limit time.Duration, what string, done func() bool) {
	t.Helper()
	deadline, tick := time.NewTimer(limit), time.NewTicker(10*time.Millisecond)
	defer deadline.Stop()
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("%s: not within %s", what, limit)
		}
	}
}

func TestClusterKeepsItsDataOverARestart(t *testing.T) {
	defer goleak.VerifyNone(t)
	dir := storetest.DataDir(t)
	c := start(t, dir)
	want(t, c.URL(), "create table kept as select 1 as x; select 'made'", "made")
	want(t, c.URL(), "select current_setting('listen_addresses') || current_database() || current_user", "berthberth")
	pid := postmaster(t, dir)
	stop(t, c)
	stop(t, c)
	if !gone(pid) || postmaster(t, dir) != 0 {
		t.Errorf("postmaster %d after Stop: still there", pid)
	}
	again := start(t, dir)
	if again.URL() != c.URL() {
		t.Error("the address changed over a restart")
	}
	want(t, again.URL(), "select count(*)::text from kept", "1")
	stop(t, again)
}

func TestClusterIsForItsUserOnly(t *testing.T) {
	dir := storetest.DataDir(t)
	c := start(t, dir)
	for path, mode := range map[string]os.FileMode{"postgres": 0o700, "socket": 0o700, "postgres.password": 0o600, "postgres.log": 0o600} {
		info, err := os.Stat(filepath.Join(dir, path))
		if err != nil || info.Mode().Perm() != mode {
			t.Errorf("mode of %s: got %v, %v, want %04o", path, info.Mode(), err, mode)
		}
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm()&0o066 != 0 {
		t.Errorf("mode of the data folder: got %v, %v, want one into which nobody looks", info.Mode(), err)
	}
	without := strings.Replace(c.URL(), ":", ":x", 2)
	if _, err := ask(t, without, "select 'in'"); err == nil {
		t.Error("the cluster let a wrong password in")
	}
	var st syscall.Stat_t
	if err := syscall.Stat("/proc/"+strconv.Itoa(postmaster(t, dir)), &st); err != nil {
		t.Fatal(err)
	}
	if st.Uid == 0 {
		t.Error("the postmaster runs as root")
	}
}

func TestClusterInALongFolder(t *testing.T) {
	dir := filepath.Join(storetest.DataDir(t), strings.Repeat("long", 20), strings.Repeat("path", 20))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(filepath.Dir(dir)), 0o755); err != nil {
		t.Fatal(err)
	}
	c := start(t, dir)
	want(t, c.URL(), "select 'in'", "in")
	socket := mustSetting(t, c.URL(), "unix_socket_directories")
	if len(socket) > 90 {
		t.Errorf("folder of the socket: got %q, want a short one", socket)
	}
	info, err := os.Stat(socket)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode of %s: got %v, %v, want 0700", socket, info.Mode(), err)
	}
	stop(t, c)
	if _, err := os.Stat(socket); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("folder of the socket after Stop: got %v, want it gone", err)
	}
}

func mustSetting(t *testing.T, url, name string) string {
	t.Helper()
	value, err := ask(t, url, "select current_setting('"+name+"')")
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func TestPostmasterThatDiesIsStartedAgain(t *testing.T) {
	dir := storetest.DataDir(t)
	c := start(t, dir)
	want(t, c.URL(), "create table kept as select 1 as x; select 'made'", "made")
	pid := postmaster(t, dir)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	within(t, 30*time.Second, "the cluster answers again", func() bool {
		_, err := ask(t, c.URL(), "select 'in'")
		return err == nil && postmaster(t, dir) != pid
	})
	want(t, c.URL(), "select count(*)::text from kept", "1")
}

func TestDataFolderOutOfReachIsNamed(t *testing.T) {
	if os.Geteuid() != 0 {
		return // only another user can be kept out
	}
	closed := filepath.Join(storetest.DataDir(t), "closed")
	if err := os.MkdirAll(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := cluster.Start(t.Context(), filepath.Join(closed, "data"), slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), closed) && !strings.Contains(err.Error(), filepath.Dir(closed)) {
		t.Errorf("start in a folder that its user cannot reach: got %v, want an error that names the folder", err)
	}
}

func TestForeignDataIsLeftAlone(t *testing.T) {
	dir := storetest.DataDir(t)
	if err := os.MkdirAll(filepath.Join(dir, "postgres", "precious"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := cluster.Start(t.Context(), dir, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("a cluster was made over somebody's files")
	}
	if _, err := os.Stat(filepath.Join(dir, "postgres", "precious")); err != nil {
		t.Errorf("somebody's files: %v", err)
	}
}

func TestOtherVersionOfTheData(t *testing.T) {
	dir := storetest.DataDir(t)
	if err := os.MkdirAll(filepath.Join(dir, "postgres"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "postgres", "PG_VERSION"), []byte("9\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := cluster.Start(t.Context(), dir, slog.New(slog.DiscardHandler))
	if environment.CodeOf(err) != "postgres_version" || !strings.Contains(environment.AsError(err).Remediation, "postgresql-9") {
		t.Errorf("start on data of PostgreSQL 9: got %v, want postgres_version with what to install", err)
	}
}
