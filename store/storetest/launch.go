package storetest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"syscall"
	"time"

	"berth/store/cluster"

	"github.com/jmoiron/sqlx"
	_ "github.com/lib/pq" // the driver of sqlx.Open
)

// keeper runs PostgreSQL until its own input ends, which is when the test binary
// ends, however it does; then it removes the folder. $1 is that folder, the rest
// the command.
const keeper = `dir=$1; shift; "$@" & pid=$!; cat >/dev/null; kill -QUIT $pid; wait $pid; rm -rf "$dir"`

// launch starts a cluster and returns its URL when it takes connections, with
// the file that keeps it running. It leaves no goroutine behind.
func launch(ctx context.Context) (string, *os.File, error) {
	dir, err := os.MkdirTemp(inMemory(), "berth-pg-")
	if err != nil {
		return "", nil, fmt.Errorf("make a folder for the cluster: %w", err)
	}
	// A crash may lose everything: it is a test's.
	cmd, url, err := cluster.Command(ctx, dir, slog.New(slog.DiscardHandler), "fsync=off", "full_page_writes=off",
		"synchronous_commit=off", "max_connections=200", "autovacuum=off")
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	if who := cmd.SysProcAttr.Credential; who != nil {
		if err := os.Chown(dir, int(who.Uid), int(who.Gid)); err != nil {
			return "", nil, errors.Join(err, os.RemoveAll(dir))
		}
	}
	hold, err := keep(dir, cmd)
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	return url, hold, wait(ctx, url)
}

// inMemory is where folders are kept in memory, if there is plenty: a test copies a
// whole database, which takes half as long again on a disk. "" is the usual place.
func inMemory() string {
	const place, plenty = "/dev/shm", 4 << 30
	var s syscall.Statfs_t
	if err := syscall.Statfs(place, &s); err != nil || uint64(s.Bavail)*uint64(s.Bsize) < plenty {
		return ""
	}
	return place
}

// keep starts the keeper with the command and returns the writing end of its
// input, which is open in this process and in no other.
func keep(dir string, cmd *exec.Cmd) (hold *os.File, err error) {
	input, hold, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make the keeper's input: %w", err)
	}
	kept := exec.Command("/bin/sh", append([]string{"-c", keeper, "keeper", dir}, cmd.Args...)...)
	kept.Dir, kept.Env, kept.SysProcAttr, kept.Stdin = cmd.Dir, cmd.Env, cmd.SysProcAttr, input
	if err := kept.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start the keeper: %w", err), input.Close(), hold.Close())
	}
	return hold, input.Close()
}

// wait returns when the cluster takes connections.
func wait(ctx context.Context, url string) error {
	db, err := sqlx.Open("postgres", url)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		err := db.PingContext(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("the cluster does not answer: %w", err)
		}
	}
}
