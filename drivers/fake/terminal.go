package fake

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"

	"berth/environment"

	"github.com/creack/pty"
)

// shellMark is the variable by which what a shell started is found.
const shellMark = "BERTH_FAKE_SHELL"

// Shell opens an interactive shell in a sandbox.
func (d *Driver) Shell(ctx context.Context, ref environment.Ref, cols, rows int) (environment.Terminal, error) {
	s, err := d.live(ref)
	if err != nil {
		return nil, err
	}
	if _, err := d.step(ctx, ref, "shell"); err != nil {
		return nil, err
	}
	if err := d.world.use(s.ID); err != nil {
		return nil, gone(s.ID)
	}
	size, err := winsize(cols, rows)
	if err != nil {
		return nil, err
	}
	t := &terminal{mark: shellMark + "=" + rand.Text(), ended: make(chan struct{})}
	t.cmd = exec.Command("/bin/sh", "-i")
	t.cmd.Dir = ref.Dir
	t.cmd.Env = append(d.env(s.ID), "TERM=xterm-256color", t.mark)
	if t.File, err = pty.StartWithSize(t.cmd, size); err != nil {
		return nil, environment.Unavailable(environment.CodeShellUnusable, "The fake sandbox's shell cannot be started.").
			Remedy(environment.Remedy(environment.CodeShellUnusable)).Because(err)
	}
	t.close = sync.OnceValue(t.end)
	go func() { // ends with the shell, which Close sees to
		defer close(t.ended)
		t.result = t.cmd.Wait()
	}()
	return t, nil
}

func winsize(cols, rows int) (*pty.Winsize, error) {
	if cols < 1 || cols > 500 || rows < 1 || rows > 500 {
		return nil, environment.Invalid("size_out_of_range", "A terminal has 1 to 500 columns and rows.")
	}
	return &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)}, nil
}

type terminal struct {
	*os.File // our side of the pty
	cmd      *exec.Cmd
	mark     string
	close    func() error
	ended    chan struct{} // closed when the shell was waited for
	result   error         // before ended
}

// Read returns io.EOF when nobody has the other side any more.
func (t *terminal) Read(b []byte) (int, error) {
	n, err := t.File.Read(b)
	if errors.Is(err, syscall.EIO) || errors.Is(err, os.ErrClosed) {
		err = io.EOF
	}
	return n, err
}

func (t *terminal) Resize(cols, rows int) error {
	size, err := winsize(cols, rows)
	if err != nil {
		return err
	}
	if err := pty.Setsize(t.File, size); err != nil {
		return fmt.Errorf("resize a terminal: %w", err)
	}
	return nil
}

func (t *terminal) Wait() (int, error) {
	<-t.ended
	exit, ok := errors.AsType[*exec.ExitError](t.result)
	if !ok {
		return 0, t.result
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal()), nil
	}
	return exit.ExitCode(), nil
}

func (t *terminal) Close() error { return t.close() }

// end kills the shell and all that it started, background jobs too.
func (t *terminal) end() error {
	_ = t.cmd.Process.Kill() // it may have ended
	err := errors.Join(kill(t.mark), t.File.Close())
	<-t.ended
	return err
}
