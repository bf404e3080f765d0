package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Signals by which a postmaster stops.
const (
	fastShutdown      = syscall.SIGINT
	immediateShutdown = syscall.SIGQUIT
)

// poll is the time between two looks at what cannot be waited for.
const poll = 10 * time.Millisecond

// postmaster is a PostgreSQL server process that this process started.
type postmaster struct {
	cmd    *exec.Cmd
	exited chan struct{} // closed when it has ended; err is set before
	err    error
}

func (pm *postmaster) signal(s syscall.Signal) {
	// It can only fail because the process has ended, which exited tells.
	_ = pm.cmd.Process.Signal(s)
}

// launch starts the postmaster and returns when it takes connections.
func (c *Cluster) launch(ctx context.Context) (*postmaster, error) {
	logFile, err := c.openLog()
	if err != nil {
		return nil, err
	}
	defer func() { _ = logFile.Close() }()
	cmd := c.command()
	cmd.Stdout, cmd.Stderr = logFile, logFile
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("run %s: %w", cmd.Path, err)
	}
	pm := &postmaster{cmd: cmd, exited: make(chan struct{})}
	go func() {
		pm.err = cmd.Wait()
		close(pm.exited)
	}()
	if err := c.ready(ctx, pm); err != nil {
		pm.signal(immediateShutdown)
		<-pm.exited
		return nil, fmt.Errorf("%w: %s", err, c.lastLog())
	}
	return pm, nil
}

func (c *Cluster) command() *exec.Cmd {
	cmd := exec.Command(filepath.Join(c.place.bin, "postgres"), c.arguments()...)
	cmd.Dir, cmd.Env = "/", programEnv()
	cmd.SysProcAttr = c.place.account.attributes()
	return cmd
}

// arguments suit a small instance of one server: little memory, no replication,
// no plans that cost more to make than to run.
func (c *Cluster) arguments() []string {
	args := []string{"-D", c.place.data}
	for _, setting := range append([]string{
		"listen_addresses=", "unix_socket_directories=" + c.place.socket, "unix_socket_permissions=0700", "port=5432",
		"max_connections=64", "shared_buffers=32MB", "huge_pages=off", "work_mem=4MB", "maintenance_work_mem=32MB",
		"wal_level=minimal", "max_wal_senders=0", "max_wal_size=256MB", "checkpoint_timeout=15min",
		"max_parallel_workers_per_gather=0", "jit=off", "timezone=UTC", "log_timezone=UTC", "logging_collector=off",
		"log_min_messages=warning", "log_line_prefix=%m ",
	}, c.settings...) {
		args = append(args, "-c", setting)
	}
	return args
}

// ready waits until the postmaster says so in its pid file.
func (c *Cluster) ready(ctx context.Context, pm *postmaster) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		select {
		case <-pm.exited:
			return errors.Join(errors.New("it ended while it started"), pm.err)
		case <-ctx.Done():
			return fmt.Errorf("it did not start in time: %w", ctx.Err())
		case <-tick.C:
			if f := readPidFile(c.place.data); f.pid == pm.cmd.Process.Pid && f.status == "ready" {
				return nil
			}
		}
	}
}

// pidFile is what Berth needs of a postmaster.pid.
type pidFile struct {
	pid    int // 0: there is none
	socket string
	status string
}

func readPidFile(data string) pidFile {
	text, err := os.ReadFile(filepath.Join(data, "postmaster.pid"))
	if err != nil {
		return pidFile{}
	}
	lines := strings.Split(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(lines[0]))
	if err != nil || pid <= 0 {
		return pidFile{}
	}
	f := pidFile{pid: pid}
	if len(lines) > 4 {
		f.socket = strings.TrimSpace(lines[4])
	}
	if len(lines) > 7 {
		f.status = strings.TrimSpace(lines[7])
	}
	return f
}

// maxLog is the size at which the log of PostgreSQL begins anew.
const maxLog = 4 << 20

func (c *Cluster) logPath() string { return filepath.Join(c.place.root, "postgres.log") }

func (c *Cluster) openLog() (*os.File, error) {
	if info, err := os.Stat(c.logPath()); err == nil && info.Size() > maxLog {
		if err := os.Rename(c.logPath(), c.logPath()+".old"); err != nil {
			return nil, fmt.Errorf("begin a new log of the private PostgreSQL: %w", err)
		}
	}
	f, err := os.OpenFile(c.logPath(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log of the private PostgreSQL: %w", err)
	}
	return f, nil
}

// lastLog is the end of the log, for errors.
func (c *Cluster) lastLog() string {
	text, err := os.ReadFile(c.logPath())
	if err != nil {
		return "its log cannot be read"
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-5):], "; ")
}
