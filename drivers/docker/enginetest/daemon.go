package enginetest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// daemon is a process that ends with this one, whatever becomes of it.
type daemon struct {
	process *os.Process
	ended   chan struct{} // closed when it was waited for
}

// startDaemon runs a command whose output goes to log.
func startDaemon(args, env []string, log *os.File) (*daemon, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append([]string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root"}, env...)
	cmd.Dir = "/"
	cmd.Stdout, cmd.Stderr = log, log
	// A test that is killed takes it along: SIGTERM, so that it ends its own.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGTERM}
	d := &daemon{ended: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The signal comes at the end of the thread, not of the process.
		runtime.LockOSThread()
		err := cmd.Start()
		d.process = cmd.Process
		started <- err
		if err == nil {
			_ = cmd.Wait() // how it ended is in its log
		}
		close(d.ended)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", args[0], err)
	}
	return d, nil
}

func (d *daemon) hasEnded() bool {
	select {
	case <-d.ended:
		return true
	default:
		return false
	}
}

// stop ends the daemon and waits for it; one that does not obey is killed, which
// is an error.
func (d *daemon) stop() error {
	d.signal(syscall.SIGCONT) // a paused one hears nothing
	d.signal(syscall.SIGTERM)
	select {
	case <-d.ended:
		return nil
	case <-time.After(bootTime):
	}
	d.kill()
	return errors.New("it did not end when it was told to")
}

// kill ends the daemon at once, as a crash does.
func (d *daemon) kill() {
	d.signal(syscall.SIGKILL)
	<-d.ended
}

func (d *daemon) signal(s syscall.Signal) {
	if !d.hasEnded() {
		_ = d.process.Signal(s) // it may just have ended
	}
}

// until polls until done says so, or fails.
func until(what string, limit time.Duration, done func() (bool, error)) error {
	deadline := time.Now().Add(limit)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		ok, err := done()
		if err != nil {
			return fmt.Errorf("wait until %s: %w", what, err)
		}
		if ok {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("waited %s until %s", limit, what)
		}
		<-tick.C
	}
}
