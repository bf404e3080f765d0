package docker

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"berth/drivers/shell"
	"berth/environment"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"
)

var _ shell.Session = (*session)(nil)

// errGivenUp is what a session's reader gets after Close.
var errGivenUp = errors.New("the session was given up")

// session is a command in a sandbox with its streams. No more is taken from the
// engine than is read.
type session struct {
	sandbox *sandbox
	id      string // of the engine's exec
	conn    client.HijackedResponse
	stdout  *io.PipeReader
	stderr  *io.PipeReader
	drained chan struct{} // closed when the engine has said all
	life    context.Context
	giveUp  context.CancelFunc
	once    sync.Once
}

// run starts a command in the sandbox. The caller closes the session.
func (s *sandbox) run(ctx context.Context, o client.ExecCreateOptions) (*session, error) {
	o.AttachStdout, o.AttachStderr = true, true
	id, err := s.prepare(ctx, o)
	if err != nil {
		return nil, err
	}
	limited, cancel := s.call(ctx)
	defer cancel()
	attached, err := s.ExecAttach(limited, id, client.ExecAttachOptions{})
	if err != nil {
		return nil, s.explain(ctx, err, environment.CodeShellUnusable, "run a command in the sandbox")
	}
	x := &session{sandbox: s, id: id, conn: attached.HijackedResponse, drained: make(chan struct{})}
	x.life, x.giveUp = context.WithCancel(context.WithoutCancel(ctx))
	var out, err2 *io.PipeWriter
	x.stdout, out = io.Pipe()
	x.stderr, err2 = io.Pipe()
	go func() { // ends with the connection, which Close ends
		defer close(x.drained)
		err := demux(attached.Reader, out, err2)
		_ = out.CloseWithError(err) // nil is the end of the output
		_ = err2.CloseWithError(err)
	}()
	return x, nil
}

// prepare tells the engine of a command. KindNotFound sandbox_gone when there is
// no sandbox, KindConflict sandbox_stopped when it does not run.
func (s *sandbox) prepare(ctx context.Context, o client.ExecCreateOptions) (string, error) {
	limited, cancel := s.call(ctx)
	defer cancel()
	r, err := s.ExecCreate(limited, s.id, o)
	switch {
	case err == nil:
		return r.ID, nil
	case errdefs.IsNotFound(err):
		return "", s.gone()
	case errdefs.IsConflict(err) || stopped(err):
		return "", s.stopped(ctx)
	}
	return "", s.explain(ctx, err, environment.CodeShellUnusable, "run a command in the sandbox")
}

// demux sorts an engine's frames to the two streams. A frame is a stream's number,
// three bytes of nothing, its length, and so many bytes.
func demux(from io.Reader, out, err io.Writer) error {
	var head [8]byte
	for {
		if _, e := io.ReadFull(from, head[:]); e != nil {
			if errors.Is(e, io.EOF) {
				return nil
			}
			return e
		}
		to := out
		switch head[0] {
		case 0, 1:
		case 2:
			to = err
		default:
			return fmt.Errorf("the engine sent a frame of stream %d", head[0])
		}
		if _, e := io.CopyN(to, from, int64(binary.BigEndian.Uint32(head[4:]))); e != nil {
			return e
		}
	}
}

func (x *session) Write(p []byte) (int, error) { return x.conn.Conn.Write(p) }

func (x *session) CloseWrite() error {
	if err := x.conn.CloseWrite(); err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("end the input of a command: %w", err)
	}
	return nil
}

func (x *session) Stdout() io.Reader { return x.stdout }
func (x *session) Stderr() io.Reader { return x.stderr }

// Wait asks the engine for the exit code. The output's end comes just before it.
func (x *session) Wait() error {
	code, err := x.sandbox.exitCode(x.life, x.id, x.drained)
	switch {
	case x.life.Err() != nil:
		return errGivenUp
	case err != nil:
		return err
	case code != 0:
		return &shell.ExitError{Code: code}
	}
	return nil
}

// exitCode waits until a command has ended. drained hints at it.
func (s *sandbox) exitCode(ctx context.Context, id string, drained <-chan struct{}) (int, error) {
	for look := 2 * time.Millisecond; ; look = min(2*look, maxLook) {
		select {
		case <-drained:
			drained = nil
		case <-time.After(look):
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
		limited, cancel := s.call(ctx)
		r, err := s.ExecInspect(limited, id, client.ExecInspectOptions{})
		cancel()
		if err != nil {
			return 0, environment.Unavailable(environment.CodeConnectionLost, fmt.Sprintf("The connection to the engine at %s broke.", s.at.shown())).
				Because(said{words(err, s.spec.Secrets), err})
		}
		if !r.Running {
			return r.ExitCode, nil
		}
	}
}

// Close gives the session up. The command lives on if it can.
func (x *session) Close() error {
	x.once.Do(func() {
		x.giveUp()
		x.conn.Close()
		_ = x.stdout.CloseWithError(errGivenUp)
		_ = x.stderr.CloseWithError(errGivenUp)
		<-x.drained
	})
	return nil
}
