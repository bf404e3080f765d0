package ssh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"berth/drivers/shell"
	"berth/environment"

	gossh "golang.org/x/crypto/ssh"
)

// DialSocket opens a connection to a unix socket on the host of a spec, over a
// pooled connection by the driver's own rules. Where the server forwards no
// sockets, the program docker on the host connects instead (docker system
// dial-stdio). KindUnavailable engine_unreachable when there is no way to the
// socket; else the codes of Acquire. The caller closes the connection.
func (d *Driver) DialSocket(ctx context.Context, spec environment.Spec, socket string) (net.Conn, error) {
	p, err := newPlan(spec.Config, spec)
	if err != nil {
		return nil, err
	}
	key, err := p.key()
	if err != nil {
		return nil, err
	}
	tried := map[*connection]bool{}
	conn, fresh, err := d.connection(ctx, p, key, tried)
	if err != nil {
		return nil, err
	}
	forwarded, err := conn.link.client().DialContext(ctx, "unix", socket)
	if err == nil {
		return &socketConn{Conn: forwarded, release: func() { d.pool.release(conn) }}, nil
	}
	d.pool.release(conn)
	_, refused := errors.AsType[*gossh.OpenChannelError](err)
	switch {
	case ctx.Err() != nil:
		return nil, timedOut("connect", p.target(), 0, err)
	case refused && d.usable(ctx, p, socket):
		return d.dialStdio(ctx, p, socket)
	case refused:
		return nil, noSocket(p, socket, err)
	}
	d.pool.drop(key, conn) // it is of no more use
	conn.link.close()
	if fresh {
		return nil, fail("connect", environment.CodeConnectionLost, fmt.Sprintf("The connection to %s broke.", p.target()), err)
	}
	return d.DialSocket(ctx, spec, socket)
}

func noSocket(p *plan, socket string, cause error) error {
	return environment.Unavailable(environment.CodeEngineUnreachable,
		fmt.Sprintf("%s does not let %q connect to %s.", p.target().capital(), p.config.Username, socket)).
		Remedy("Look whether the engine runs there, and whether the user may use its socket.").Because(cause)
}

// usable asks the host whether there is a socket that the user may use: a server
// refuses to forward to none in the same words as to any.
func (d *Driver) usable(ctx context.Context, p *plan, socket string) bool {
	channel, _, release, err := d.channel(ctx, p)
	if err != nil {
		return false
	}
	defer release()
	defer func() { _ = channel.Close() }() // it may be gone already
	defer context.AfterFunc(ctx, func() { _ = channel.Close() })()
	word := shell.Quote(socket)
	return channel.Run("test -S "+word+" && test -w "+word) == nil
}

// dialStdio has the host's own client connect.
func (d *Driver) dialStdio(ctx context.Context, p *plan, socket string) (net.Conn, error) {
	channel, _, release, err := d.channel(ctx, p)
	if err != nil {
		return nil, err
	}
	give := func() {
		_ = channel.Close() // it may be gone already
		release()
	}
	stdin, errIn := channel.StdinPipe()
	stdout, errOut := channel.StdoutPipe()
	if err = errors.Join(errIn, errOut); err == nil {
		err = channel.Start("docker -H " + shell.Quote("unix://"+socket) + " system dial-stdio")
	}
	if err != nil {
		give()
		return nil, noSocket(p, socket, err)
	}
	return &stdioConn{Reader: stdout, stdin: stdin, release: sync.OnceFunc(give), at: p.target().String() + strings.TrimSpace(socket)}, nil
}

// socketConn is a forwarded socket.
type socketConn struct {
	net.Conn
	release func()
	once    sync.Once
}

// CloseWrite ends what is sent.
func (c *socketConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

func (c *socketConn) Close() error {
	err := c.Conn.Close()
	c.once.Do(c.release)
	if errors.Is(err, io.EOF) {
		return nil // the other side has closed it
	}
	return err
}

// stdioConn is a program's input and output as a connection. It has no deadlines.
type stdioConn struct {
	io.Reader
	stdin   io.WriteCloser
	release func()
	at      string
}

func (c *stdioConn) Write(p []byte) (int, error) { return c.stdin.Write(p) }

// CloseWrite ends what is sent.
func (c *stdioConn) CloseWrite() error { return c.stdin.Close() }

func (c *stdioConn) Close() error {
	c.release()
	return nil
}

func (c *stdioConn) LocalAddr() net.Addr              { return stdioAddr(c.at) }
func (c *stdioConn) RemoteAddr() net.Addr             { return stdioAddr(c.at) }
func (c *stdioConn) SetDeadline(time.Time) error      { return errNoDeadline }
func (c *stdioConn) SetReadDeadline(time.Time) error  { return errNoDeadline }
func (c *stdioConn) SetWriteDeadline(time.Time) error { return errNoDeadline }

var errNoDeadline = errors.New("a program's output has no deadline")

type stdioAddr string

func (a stdioAddr) Network() string { return "ssh" }
func (a stdioAddr) String() string  { return string(a) }
