package sshtarget

import (
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"syscall"

	"github.com/gliderlabs/ssh"
	gossh "golang.org/x/crypto/ssh"
)

// run serves one session: its command under /bin/sh in a session of its own.
// As with OpenSSH the command outlives a connection that breaks, and the
// channel stays open while anything holds its output.
func (t *Target) run(session ssh.Session) {
	command := session.RawCommand()
	if command == "" {
		command = "exec /bin/sh"
	}
	cmd := exec.Command("/bin/sh", "-c", command)
	cmd.Dir, cmd.Env = t.Home, t.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	p, err := openPipes()
	if err != nil {
		_ = session.Exit(255)
		return
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.childIn, p.childOut, p.childErr
	ended, err := t.start(cmd)
	p.closeChild()
	if err != nil {
		p.closeOurs()
		_ = session.Exit(127)
		return
	}
	copied := p.copy(session)
	select {
	case err = <-ended:
		tellExit(session, err)
		select {
		case <-copied:
		case <-session.Context().Done():
		}
	case <-session.Context().Done(): // the connection broke; the command goes on
	}
	p.closeOurs()
	<-copied
	_ = session.Close()
}

// start starts a command and waits for it, whatever becomes of its session.
func (t *Target) start(cmd *exec.Cmd) (<-chan error, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, net.ErrClosed // Close looks for processes only once
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	t.leaders[cmd.Process.Pid] = struct{}{}
	ended := make(chan error, 1)
	t.served.Go(func() {
		err := cmd.Wait()
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.leaders, cmd.Process.Pid)
		ended <- err
	})
	return ended, nil
}

// tellExit sends how the command ended: an exit code, or the signal's name.
func tellExit(session ssh.Session, err error) {
	exit, failed := errors.AsType[*exec.ExitError](err)
	if !failed {
		code := 0
		if err != nil {
			code = 255
		}
		tellCode(session, code)
		return
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		_, _ = session.SendRequest("exit-signal", false, gossh.Marshal(&struct {
			Signal  string
			Core    bool
			Message string
			Lang    string
		}{signalName(status.Signal()), status.CoreDump(), "", ""}))
		return
	}
	tellCode(session, exit.ExitCode())
}

func tellCode(session ssh.Session, code int) {
	_, _ = session.SendRequest("exit-status", false, gossh.Marshal(&struct{ Status uint32 }{uint32(code)}))
}

// signalName is a signal's name in the protocol.
func signalName(signal syscall.Signal) string {
	names := map[syscall.Signal]string{
		syscall.SIGABRT: "ABRT", syscall.SIGALRM: "ALRM", syscall.SIGFPE: "FPE", syscall.SIGHUP: "HUP",
		syscall.SIGILL: "ILL", syscall.SIGINT: "INT", syscall.SIGKILL: "KILL", syscall.SIGPIPE: "PIPE",
		syscall.SIGQUIT: "QUIT", syscall.SIGSEGV: "SEGV", syscall.SIGTERM: "TERM", syscall.SIGUSR1: "USR1", syscall.SIGUSR2: "USR2",
	}
	return names[signal]
}

// pipes are a command's three streams, of the system and not of the process, so
// that the command does not depend on who reads them.
type pipes struct {
	childIn, childOut, childErr *os.File
	ourIn, ourOut, ourErr       *os.File
}

func openPipes() (*pipes, error) {
	p := &pipes{}
	var errIn, errOut, errErr error
	p.childIn, p.ourIn, errIn = os.Pipe()
	p.ourOut, p.childOut, errOut = os.Pipe()
	p.ourErr, p.childErr, errErr = os.Pipe()
	if err := errors.Join(errIn, errOut, errErr); err != nil {
		p.closeChild()
		p.closeOurs()
		return nil, err
	}
	return p, nil
}

// copy moves data both ways. The channel it returns is closed when both outputs
// have ended.
func (p *pipes) copy(session ssh.Session) <-chan struct{} {
	go func() { // ends with the session's input, or when ours is closed
		_, _ = io.Copy(p.ourIn, session)
		_ = p.ourIn.Close()
	}()
	stderr := make(chan struct{})
	go func() {
		defer close(stderr)
		_, _ = io.Copy(session.Stderr(), p.ourErr)
		_ = p.ourErr.Close() // nobody reads any more
	}()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(session, p.ourOut)
		_ = p.ourOut.Close()
		<-stderr
		_ = session.CloseWrite()
	}()
	return done
}

func (p *pipes) closeChild() {
	for _, f := range []*os.File{p.childIn, p.childOut, p.childErr} {
		if f != nil {
			_ = f.Close()
		}
	}
}

func (p *pipes) closeOurs() {
	for _, f := range []*os.File{p.ourIn, p.ourOut, p.ourErr} {
		if f != nil {
			_ = f.Close()
		}
	}
}
