package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"berth/environment"
)

var _ Session = (*process)(nil)

// closeWait is how long a closed process may take to notice that nobody listens.
const closeWait = 2 * time.Second

// Process returns an Opener whose sessions are processes of this machine that
// run Command under the login shell at path, with env and nothing else as their
// environment. An Error of code shell_unusable comes back when one cannot be
// started.
func Process(path string, env []string) Opener {
	return func(ctx context.Context) (Session, error) {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("start %s: %w", path, context.Cause(ctx))
		}
		p, err := start(path, env)
		if err != nil {
			return nil, environment.Unavailable(environment.CodeShellUnusable, "This machine's shell cannot be started.").
				Remedy(environment.Remedy(environment.CodeShellUnusable)).Because(err)
		}
		return p, nil
	}
}

type process struct {
	cmd      *exec.Cmd
	in       *os.File
	out, err *os.File
	ended    chan struct{} // closed when the process was reaped
	result   error         // before ended
	closeIn  func() error
	closeAll func() error
}

func start(path string, env []string) (*process, error) {
	var ours, theirs []*os.File
	closeFiles := func(files []*os.File) {
		for _, f := range files {
			_ = f.Close() // nothing was written
		}
	}
	pipe := func(reading bool) error {
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		if reading {
			r, w = w, r
		}
		ours, theirs = append(ours, w), append(theirs, r)
		return nil
	}
	for _, reading := range []bool{false, true, true} {
		if err := pipe(reading); err != nil {
			closeFiles(ours)
			closeFiles(theirs)
			return nil, fmt.Errorf("open a pipe: %w", err)
		}
	}
	cmd := exec.Command(path, "-c", Command)
	cmd.Env = append([]string{}, env...) // never nil: that would be the server's own
	cmd.Dir = "/"
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs[0], theirs[1], theirs[2]
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no signal of our terminal reaches it
	err := cmd.Start()
	closeFiles(theirs)
	if err != nil {
		closeFiles(ours)
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	p := &process{cmd: cmd, in: ours[0], out: ours[1], err: ours[2], ended: make(chan struct{})}
	p.closeIn = sync.OnceValue(p.in.Close)
	p.closeAll = sync.OnceValue(p.close)
	go func() { // ends with the process, which close sees to
		defer close(p.ended)
		p.result = cmd.Wait()
	}()
	return p, nil
}

func (p *process) Write(b []byte) (int, error) { return p.in.Write(b) }
func (p *process) CloseWrite() error           { return p.closeIn() }
func (p *process) Stdout() io.Reader           { return p.out }
func (p *process) Stderr() io.Reader           { return p.err }

func (p *process) Wait() error {
	<-p.ended
	if exit, ok := errors.AsType[*exec.ExitError](p.result); ok {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			return &ExitError{Code: 128 + int(status.Signal())}
		}
		return &ExitError{Code: exit.ExitCode()}
	}
	return p.result
}

func (p *process) Close() error { return p.closeAll() }

// close lets go of the process, which notices by its closed pipes. One that does
// not is killed; what it left running is not.
func (p *process) close() error {
	err := errors.Join(p.closeIn(), p.out.Close(), p.err.Close())
	kill := time.AfterFunc(closeWait, func() { _ = p.cmd.Process.Kill() }) // it may just have ended
	defer kill.Stop()
	<-p.ended
	return err
}
