package ssh

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"berth/environment"
)

// maxPreface is how much may come before the line "SSH-...". Servers may send
// other lines first, but who sends more than this is no SSH server.
const maxPreface = 8 << 10

// greeter is a connection whose first line is watched: a listener that says
// nothing, or something else, must not be taken for an SSH server at fault.
type greeter struct {
	net.Conn
	limit   time.Duration
	timer   *time.Timer
	late    atomic.Bool
	seen    []byte
	version string // the line "SSH-...", "" until it came
	onReady func(version string)
}

// errNotSSH ends a read once it is clear that no SSH server talks.
var errNotSSH = errors.New("not an SSH server")

// newGreeter watches conn. onReady is called when the greeting came, by the
// goroutine that reads. Close must be called if the greeting never comes.
func newGreeter(conn net.Conn, limit time.Duration, onReady func(version string)) *greeter {
	g := &greeter{Conn: conn, limit: limit, onReady: onReady}
	g.timer = time.AfterFunc(limit, func() {
		g.late.Store(true)
		_ = conn.Close() // the reader learns of it by its error
	})
	return g
}

func (g *greeter) Read(p []byte) (int, error) {
	n, err := g.Conn.Read(p)
	if g.version != "" || n == 0 {
		return n, err
	}
	g.seen = append(g.seen, p[:n]...)
	if g.look() {
		return n, err
	}
	if len(g.seen) > maxPreface {
		return n, errNotSSH
	}
	return n, err
}

// look searches what came for the greeting's line.
func (g *greeter) look() bool {
	start := 0
	for {
		end := bytes.IndexByte(g.seen[start:], '\n')
		if end < 0 {
			return false
		}
		if line := g.seen[start : start+end]; bytes.HasPrefix(line, []byte("SSH-")) {
			g.timer.Stop()
			g.version = strings.TrimRight(string(line), "\r")
			g.onReady(g.version)
			return true
		}
		start += end + 1
	}
}

// stop ends the watch.
func (g *greeter) stop() { g.timer.Stop() }

// failure explains why no greeting came; nil when it did.
func (g *greeter) failure(ctx context.Context, ep endpoint, cause error) *failure {
	said := excerpt(string(g.seen))
	switch {
	case g.version != "":
		return nil
	case len(g.seen) == 0 && (g.late.Load() || ctx.Err() != nil || isTimeout(cause)):
		return fail("greeting", environment.CodeGreetingTimeout,
			fmt.Sprintf("Timed out waiting for the SSH greeting of %s: the port accepts connections but says nothing.", ep), cause).
			measure("bytes", 0).within("seconds", g.limit.Seconds())
	case len(g.seen) == 0 && (errors.Is(cause, io.EOF) || isReset(cause)):
		return fail("greeting", environment.CodeNotSSH,
			fmt.Sprintf("%s closed the connection without an SSH greeting.", ep.capital()), cause).measure("bytes", 0)
	case len(g.seen) == 0:
		return fail("greeting", environment.CodeNotSSH,
			fmt.Sprintf("%s sent no SSH greeting.", ep.capital()), cause).measure("bytes", 0)
	}
	return fail("greeting", environment.CodeNotSSH,
		fmt.Sprintf("%s is not an SSH server: it says %q.", ep.capital(), said), cause).
		measure("said", said).measure("bytes", len(g.seen))
}

// excerpt is the begin of what a host said, fit to be shown: one line, no
// control characters.
func excerpt(text string) string {
	const most = 120
	text = strings.ToValidUTF8(text, "�")
	text = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\r' || r == '\t' {
			return ' '
		}
		if !unicode.IsPrint(r) {
			return '�'
		}
		return r
	}, text)
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}
