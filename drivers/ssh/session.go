package ssh

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"berth/drivers/shell"
	"berth/environment"

	gossh "golang.org/x/crypto/ssh"
)

var _ shell.Session = (*session)(nil)

// session is shell.Command running on the target. Its outputs stream: no more is
// taken from the channel than is read.
//
// A server closes a channel only when the command has ended, also when it was
// asked to before. So a session that is given up must not wait for the server:
// Close ends reads and Wait at once, and what is left ends with the command or
// with the connection.
type session struct {
	ssh     *gossh.Session
	stdin   io.WriteCloser
	stdout  *io.PipeReader
	stderr  *io.PipeReader
	ended   chan struct{} // closed when waited is set
	waited  error
	closed  chan struct{}
	ep      endpoint
	release func()
	once    sync.Once
}

// errGivenUp is what a session's reader gets after Close.
var errGivenUp = errors.New("the session was given up")

// opener opens sessions of a plan on pooled connections.
func (d *Driver) opener(p *plan) shell.Opener {
	return func(ctx context.Context) (shell.Session, error) {
		s, _, err := d.open(ctx, p)
		if err != nil {
			return nil, err
		}
		return s, nil
	}
}

// open opens one session, and names its connection.
func (d *Driver) open(ctx context.Context, p *plan) (*session, *connection, error) {
	channel, conn, release, err := d.channel(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	s, err := startShell(ctx, channel, p.target(), release)
	return s, conn, err
}

// startShell runs shell.Command on a channel. It calls release when the session
// is closed, also on an error.
func startShell(ctx context.Context, channel *gossh.Session, ep endpoint, release func()) (*session, error) {
	s := &session{ssh: channel, ep: ep, release: release, ended: make(chan struct{}), closed: make(chan struct{})}
	err := s.connect()
	if err == nil {
		started := make(chan error, 1)
		go func() { started <- channel.Start(shell.Command) }() // ends with the server's answer or with the connection
		select {
		case err = <-started:
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	if err != nil {
		_ = s.Close()
		if ctx.Err() != nil {
			return nil, timedOut("shell", ep, 0, err)
		}
		return nil, fail("shell", environment.CodeShellUnusable, fmt.Sprintf("%s refuses to run a command (SSH session).", ep.capital()), err)
	}
	go func() {
		defer close(s.ended)
		s.waited = channel.Wait()
	}()
	return s, nil
}

// connect joins the session to the channel's streams.
func (s *session) connect() error {
	stdin, errIn := s.ssh.StdinPipe()
	stdout, errOut := s.ssh.StdoutPipe()
	stderr, errErr := s.ssh.StderrPipe()
	if err := errors.Join(errIn, errOut, errErr); err != nil {
		return err
	}
	s.stdin, s.stdout, s.stderr = stdin, pump(stdout), pump(stderr)
	return nil
}

// pump hands a channel's output to a reader that can be closed. After that it
// throws away what still comes.
func pump(from io.Reader) *io.PipeReader {
	reader, writer := io.Pipe()
	go func() {
		_, err := io.Copy(writer, from)
		_ = writer.CloseWithError(err) // nil is the end of the output
		_, _ = io.Copy(io.Discard, from)
	}()
	return reader
}

// Write returns early, with an error, when the session is given up while the
// target takes nothing.
func (s *session) Write(p []byte) (int, error) {
	type written struct {
		n   int
		err error
	}
	done := make(chan written, 1)
	data := bytes.Clone(p) // it may be written after Write returned
	go func() {
		n, err := s.stdin.Write(data)
		done <- written{n, err}
	}()
	select {
	case w := <-done:
		return w.n, w.err
	case <-s.closed:
		return 0, errGivenUp
	}
}

func (s *session) CloseWrite() error {
	if err := s.stdin.Close(); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("end the input of a session on %s: %w", s.ep, err)
	}
	return nil
}

func (s *session) Stdout() io.Reader { return s.stdout }
func (s *session) Stderr() io.Reader { return s.stderr }

// Wait returns when the command ended, or when the session was given up. A
// signal's number is added to 128, as a shell would.
func (s *session) Wait() error {
	select {
	case <-s.ended:
	case <-s.closed:
		return errGivenUp
	}
	if s.waited == nil {
		return nil
	}
	if exit, ok := errors.AsType[*gossh.ExitError](s.waited); ok {
		return &shell.ExitError{Code: exit.ExitStatus()}
	}
	return fail("shell", environment.CodeConnectionLost, fmt.Sprintf("The connection to %s broke.", s.ep), s.waited)
}

// over reports whether the command has ended or the connection broke.
func (s *session) over() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

// Close gives the session up. The command lives on if it can.
func (s *session) Close() error {
	s.once.Do(func() {
		close(s.closed)
		_ = s.ssh.Close() // the channel may be gone already
		for _, reader := range []*io.PipeReader{s.stdout, s.stderr} {
			if reader != nil {
				_ = reader.CloseWithError(errGivenUp)
			}
		}
		s.release()
	})
	return nil
}
