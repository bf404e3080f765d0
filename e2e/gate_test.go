package e2e

import (
	"errors"
	"io"
	"net"
	"sync"
	"testing"
)

// gate stands before a host: while it is shut, connections are taken and
// nothing passes, so that whoever dials stays in the phase in which it is.
type gate struct {
	host string
	port int

	mu   sync.Mutex
	open chan struct{} // closed while the gate is open
}

// newGate makes an open gate before a host.
func newGate(t *testing.T, target string) *gate {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		t.Fatalf("listening at %v", l.Addr())
	}
	g := &gate{host: "127.0.0.1", port: address.Port, open: make(chan struct{})}
	close(g.open)
	var connections sync.WaitGroup
	done := make(chan struct{})
	connections.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			connections.Go(func() { g.pass(c, target, done) })
		}
	})
	t.Cleanup(func() {
		close(done)
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		connections.Wait()
	})
	return g
}

func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open = make(chan struct{})
}

func (g *gate) reopen() {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.open)
}

func (g *gate) whenOpen() chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.open
}

// pass carries a connection once the gate is open, until either side ends it.
func (g *gate) pass(from net.Conn, target string, done chan struct{}) {
	defer func() { _ = from.Close() }()
	select {
	case <-g.whenOpen():
	case <-done:
		return
	}
	to, err := net.Dial("tcp", target)
	if err != nil {
		return
	}
	defer func() { _ = to.Close() }()
	var halves sync.WaitGroup
	copyHalf := func(w, r net.Conn) {
		_, err := io.Copy(w, r)
		if err != nil && !errors.Is(err, net.ErrClosed) {
			_ = w.Close() // the other half ends too
			return
		}
		if tcp, ok := w.(*net.TCPConn); ok {
			_ = tcp.CloseWrite()
		}
	}
	ended := make(chan struct{})
	halves.Go(func() { copyHalf(to, from) })
	halves.Go(func() { copyHalf(from, to) })
	go func() { halves.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-done:
		_, _ = from.Close(), to.Close()
		<-ended
	}
}
