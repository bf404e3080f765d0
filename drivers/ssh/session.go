package ssh

import (
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

// session is shell.Command running on the target. It streams: nothing is read
// ahead of who reads it, beyond the channel's window.
type session struct {
	ssh     *gossh.Session
	stdin   io.WriteCloser
	stdout  io.Reader
	stderr  io.Reader
	ep      endpoint
	release func()
	once    sync.Once
}

// opener opens sessions of a plan on pooled connections.
func (d *Driver) opener(p *plan) shell.Opener {
	return func(ctx context.Context) (shell.Session, error) {
		channel, _, release, err := d.channel(ctx, p)
		if err != nil {
			return nil, err
		}
		s, err := startShell(ctx, channel, p.target(), release)
		if err != nil {
			return nil, err
		}
		return s, nil
	}
}

// startShell runs shell.Command on a channel. It calls release when the session
// is closed, also on an error.
func startShell(ctx context.Context, channel *gossh.Session, ep endpoint, release func()) (*session, error) {
	s := &session{ssh: channel, ep: ep, release: release}
	stop := context.AfterFunc(ctx, func() { _ = channel.Close() })
	defer stop()
	var errIn, errOut, errErr error
	s.stdin, errIn = channel.StdinPipe()
	s.stdout, errOut = channel.StdoutPipe()
	s.stderr, errErr = channel.StderrPipe()
	err := errors.Join(errIn, errOut, errErr)
	if err == nil {
		err = channel.Start(shell.Command)
	}
	if err == nil {
		return s, nil
	}
	_ = s.Close()
	if ctx.Err() != nil {
		return nil, timedOut("shell", ep, 0, err)
	}
	return nil, fail("shell", environment.CodeShellUnusable, fmt.Sprintf("%s refuses to run a command (SSH session).", ep.capital()), err)
}

func (s *session) Write(p []byte) (int, error) { return s.stdin.Write(p) }

func (s *session) CloseWrite() error {
	if err := s.stdin.Close(); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("end the input of a session on %s: %w", s.ep, err)
	}
	return nil
}

func (s *session) Stdout() io.Reader { return s.stdout }
func (s *session) Stderr() io.Reader { return s.stderr }

// Wait returns when the command ended. A signal's number is added to 128, as a
// shell would.
func (s *session) Wait() error {
	err := s.ssh.Wait()
	if err == nil {
		return nil
	}
	if exit, ok := errors.AsType[*gossh.ExitError](err); ok {
		return &shell.ExitError{Code: exit.ExitStatus()}
	}
	return fail("shell", environment.CodeConnectionLost, fmt.Sprintf("The connection to %s broke.", s.ep), err)
}

// Close gives the session up. The command lives on if it can.
func (s *session) Close() error {
	s.once.Do(func() {
		_ = s.ssh.Close() // the channel may be gone already
		s.release()
	})
	return nil
}
