package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// recover stops the postmaster that a killed server left on these data. A pid
// file whose process is another by now is removed: PostgreSQL itself would take
// that process for a postmaster and refuse to start. One whose process is gone
// is left to PostgreSQL, which also looks for remains in shared memory.
func (p place) recover(ctx context.Context, log *slog.Logger) error {
	f := readPidFile(p.data)
	if f.pid == 0 || !runs(f.pid) {
		return nil
	}
	if !isPostmaster(ctx, f.pid, p.data) {
		log.Warn("removing a stale pid file of the private PostgreSQL", "pid", f.pid)
		err := os.Remove(filepath.Join(p.data, "postmaster.pid"))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	log.Info("stopping the PostgreSQL that an earlier server left", "pid", f.pid)
	for _, s := range []syscall.Signal{fastShutdown, immediateShutdown} {
		if err := syscall.Kill(f.pid, s); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("stop the PostgreSQL with pid %d: %w", f.pid, err)
		}
		gone, err := p.waitGone(ctx, f.pid, 10*time.Second)
		if gone || err != nil {
			return err
		}
	}
	return fmt.Errorf("the PostgreSQL with pid %d on %s does not stop", f.pid, p.data)
}

// waitGone waits until the process is no postmaster of these data any more.
func (p place) waitGone(ctx context.Context, pid int, limit time.Duration) (bool, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errLimit)
	defer cancel()
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		if !runs(pid) || !isPostmaster(ctx, pid, p.data) {
			return true, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), errLimit) {
				return false, nil
			}
			return false, ctx.Err()
		}
	}
}

var errLimit = errors.New("the wait is over")

// runs reports whether a process of that id runs; a zombie does not.
func runs(pid int) bool {
	if err := syscall.Kill(pid, 0); err != nil && !errors.Is(err, syscall.EPERM) {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return true // no /proc here
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(after, "Z")
}

// isPostmaster reports whether the process is a postgres that works in these
// data. A pid alone proves nothing: after a reboot it is anybody's.
func isPostmaster(ctx context.Context, pid int, data string) bool {
	proc := "/proc/" + strconv.Itoa(pid)
	if cwd, err := os.Readlink(proc + "/cwd"); err == nil {
		name, err := os.ReadFile(proc + "/comm")
		same, serr := sameFile(cwd, data)
		return err == nil && serr == nil && same && strings.HasPrefix(string(name), "postgres")
	}
	out, err := exec.CommandContext(ctx, "ps", "-ww", "-o", "args=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && strings.Contains(string(out), "postgres") && strings.Contains(string(out), "-D "+data)
}

func sameFile(a, b string) (bool, error) {
	one, err := os.Stat(a)
	if err != nil {
		return false, err
	}
	other, err := os.Stat(b)
	if err != nil {
		return false, err
	}
	return os.SameFile(one, other), nil
}
