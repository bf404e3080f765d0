package docker

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"berth/environment"

	"github.com/moby/moby/client"
)

var _ environment.Terminal = (*terminal)(nil)

// Bounds of a terminal.
const maxCells = 500

// login starts the better of the shells that there are.
const login = `if command -v bash >/dev/null 2>&1; then exec bash -l; fi; exec /bin/sh -l`

// hangUp ends the processes that carry a terminal's mark, and those of their
// sessions: HUP first, KILL for what is there a second later. $1 is the mark.
const hangUp = `hunt() {
	found=
	for f in $(grep -lE "BERTH_TERMINAL=$1" /proc/[0-9]*/environ 2>/dev/null); do
		f=${f#/proc/}
		found="$found ${f%%/*}"
	done
}
hunt "$1"
kill -HUP $found 2>/dev/null
n=0
while [ -n "$found" ] && [ $n -lt 30 ]; do
	sleep 0.1 || sleep 1
	n=$((n + 1))
	hunt "$1"
	[ $n -lt 10 ] || kill -KILL $found 2>/dev/null
done
[ -z "$found" ]`

// terminal is a shell with a pty in a sandbox.
type terminal struct {
	sandbox *sandbox
	id      string // of the engine's exec
	mark    string
	conn    client.HijackedResponse
	drained chan struct{} // closed when the shell has said all
	said    sync.Once
	life    context.Context
	closing func() error
}

// Shell opens a login shell in the sandbox. The caller closes it: a shell that
// nobody closes lives as long as its sandbox.
func (d *Driver) Shell(ctx context.Context, ref environment.Ref, cols, rows int) (environment.Terminal, error) {
	if err := cells(cols, rows); err != nil {
		return nil, err
	}
	s, err := d.sandboxOf(ctx, ref)
	if err != nil {
		return nil, err
	}
	t := &terminal{sandbox: s, mark: newMark(), drained: make(chan struct{})}
	t.id, err = s.prepare(ctx, client.ExecCreateOptions{
		Cmd: []string{"/bin/sh", "-c", login}, TTY: true, AttachStdin: true, AttachStdout: true, AttachStderr: true,
		WorkingDir: ref.Dir, Env: []string{"TERM=xterm-256color", "BERTH_TERMINAL=" + t.mark},
	})
	if err != nil {
		return nil, err
	}
	limited, cancel := s.call(ctx)
	defer cancel()
	attached, err := s.ExecAttach(limited, t.id, client.ExecAttachOptions{TTY: true})
	if err != nil {
		return nil, s.explain(ctx, err, environment.CodeShellUnusable, "open a terminal in the sandbox")
	}
	t.conn = attached.HijackedResponse
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	t.life = life
	t.closing = sync.OnceValue(func() error {
		end()
		t.conn.Close()
		return t.hangUp()
	})
	if err := t.Resize(cols, rows); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

func cells(cols, rows int) error {
	if cols < 1 || cols > maxCells || rows < 1 || rows > maxCells {
		return environment.Invalid("validation_failed", "A terminal has 1 to 500 columns and rows.")
	}
	return nil
}

// Read returns what the shell prints, and io.EOF when it has ended.
func (t *terminal) Read(p []byte) (int, error) {
	n, err := t.conn.Reader.Read(p)
	if err != nil {
		t.said.Do(func() { close(t.drained) })
		if t.life.Err() != nil {
			err = io.EOF
		}
	}
	return n, err
}

func (t *terminal) Write(p []byte) (int, error) { return t.conn.Conn.Write(p) }

// Resize sets columns and rows, 1 to 500 each.
func (t *terminal) Resize(cols, rows int) error {
	if err := cells(cols, rows); err != nil {
		return err
	}
	ctx, cancel := t.sandbox.call(t.life)
	defer cancel()
	if _, err := t.sandbox.ExecResize(ctx, t.id, client.ExecResizeOptions{Width: uint(cols), Height: uint(rows)}); err != nil {
		return t.sandbox.explain(ctx, err, environment.CodeShellUnusable, "resize a terminal")
	}
	return nil
}

// Wait returns the shell's exit code when it has ended. It needs somebody who
// reads what the shell prints.
func (t *terminal) Wait() (int, error) {
	code, err := t.sandbox.exitCode(t.life, t.id, t.drained)
	if t.life.Err() != nil {
		return 0, errGivenUp
	}
	return code, err
}

// Close ends the shell and what it started.
func (t *terminal) Close() error { return t.closing() }

// hangUp ends what carries the mark. A sandbox that is gone has nothing left.
func (t *terminal) hangUp() error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.life), t.sandbox.limits.Dial+5*time.Second)
	defer cancel()
	_, code, err := t.sandbox.output(ctx, []string{"/bin/sh", "-c", hangUp, "sh", t.mark}, 1)
	switch {
	case environment.CodeOf(err) == environment.CodeSandboxGone || environment.CodeOf(err) == codeSandboxStopped:
		return nil
	case err == nil && code != 0:
		return environment.Unavailable(environment.CodeTerminationUnproven, "Something that the terminal started is still in the sandbox.")
	}
	return err
}
