package cluster_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"berth/environment"
	"berth/store/cluster"
	"berth/store/storetest"
)

// helperDir is the variable that turns this test binary into a server.
const helperDir = "BERTH_TEST_SERVER_DIR"

// TestMain lets a test run this binary as a server on a data folder: it locks
// it, starts the cluster, says so and waits to be killed.
func TestMain(m *testing.M) {
	dir := os.Getenv(helperDir)
	if dir == "" {
		os.Exit(m.Run())
	}
	if err := serve(dir); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

func serve(dir string) error {
	lock, err := cluster.LockDataDir(dir)
	if err != nil {
		return err
	}
	c, err := cluster.Start(context.Background(), dir, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	fmt.Println("up", c.URL())
	_, err = io.Copy(io.Discard, os.Stdin)
	_ = c.Stop(context.Background())
	_ = lock.Close()
	return err
}

// server runs serve in a process of its own and returns what it said.
func server(t *testing.T, dir string) (*exec.Cmd, string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperDir+"="+dir)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the server said nothing: %v", err)
	}
	return cmd, strings.TrimSpace(line)
}

func TestKilledServersPostmasterIsRecovered(t *testing.T) {
	dir := storetest.DataDir(t)
	first, line := server(t, dir)
	url, ok := strings.CutPrefix(line, "up ")
	if !ok {
		t.Fatalf("first server: %s", line)
	}
	want(t, url, "create table kept as select 1 as x; select 'made'", "made")
	pid := postmaster(t, dir)
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait()
	if gone(pid) {
		t.Fatal("the postmaster went with its server: this test proves nothing")
	}
	lock, err := cluster.LockDataDir(dir)
	if err != nil {
		t.Fatalf("lock the folder of a killed server: %v", err)
	}
	defer func() { _ = lock.Close() }()
	c := start(t, dir)
	want(t, c.URL(), "select count(*)::text from kept", "1")
	within(t, 10*time.Second, "the old postmaster is gone", func() bool { return gone(pid) })
	if now := postmaster(t, dir); now == pid || now == 0 {
		t.Errorf("postmaster after the restart: got pid %d, before %d", now, pid)
	}
}

func TestStalePidFileOfAnotherProcess(t *testing.T) {
	dir := storetest.DataDir(t)
	c := start(t, dir)
	pid := postmaster(t, dir)
	text, err := os.ReadFile(filepath.Join(dir, "postgres", "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	stop(t, c)
	bystander := exec.Command("sleep", "600")
	if err := bystander.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = bystander.Wait()
		close(ended)
	}()
	defer func() {
		_ = bystander.Process.Kill()
		<-ended
	}()
	for name, other := range map[string]int{"a bystander": bystander.Process.Pid, "a process that is gone": pid} {
		stale := strings.Replace(string(text), strconv.Itoa(pid), strconv.Itoa(other), 1)
		path := filepath.Join(dir, "postgres", "postmaster.pid")
		if err := os.WriteFile(path, []byte(stale), 0o600); err != nil {
			t.Fatal(err)
		}
		var st syscall.Stat_t
		if err := syscall.Stat(filepath.Dir(path), &st); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(path, int(st.Uid), int(st.Gid)); err != nil {
			t.Fatal(err)
		}
		again := start(t, dir)
		want(t, again.URL(), "select 'in'", "in")
		stop(t, again)
		select {
		case <-ended:
			t.Fatalf("pid file with %s: the bystander was hurt", name)
		default:
		}
	}
}

func TestSecondServerOnOneFolderIsRefused(t *testing.T) {
	dir := storetest.DataDir(t)
	first, line := server(t, dir)
	if !strings.HasPrefix(line, "up ") {
		t.Fatalf("first server: %s", line)
	}
	_, line = server(t, dir)
	if !strings.Contains(line, "runs on the data folder "+dir) || !strings.Contains(line, strconv.Itoa(first.Process.Pid)) {
		t.Errorf("second server: got %q, want a refusal that names folder and pid", line)
	}
	_, err := cluster.LockDataDir(dir)
	if environment.CodeOf(err) != "data_dir_in_use" || environment.KindOf(err) != environment.KindConflict {
		t.Errorf("lock a folder in use: got %v, want data_dir_in_use", err)
	}
}

func TestCtrlCReachesTheServerFirst(t *testing.T) {
	dir := storetest.DataDir(t)
	c := start(t, dir)
	pid := postmaster(t, dir)
	group, err := syscall.Getpgid(pid)
	if err != nil {
		t.Fatal(err)
	}
	if own := syscall.Getpgrp(); group == own {
		t.Errorf("process group of the postmaster: got ours, %d", own)
	}
	want(t, c.URL(), "select 'in'", "in")
}

func TestNodeIDStays(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	first, err := cluster.NodeID(dir)
	if err != nil {
		t.Fatal(err)
	}
	again, err := cluster.NodeID(dir)
	if err != nil || again != first {
		t.Errorf("node id again: got %s, %v, want %s", again, err, first)
	}
	if elsewhere, err := cluster.NodeID(other); err != nil || elsewhere == first {
		t.Errorf("node id of another folder: got %s, %v", elsewhere, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "node-id"), []byte("broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := cluster.NodeID(dir); err == nil {
		t.Error("a broken node id was replaced: what the folder's servers owned would be lost")
	}
}
