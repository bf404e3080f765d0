package enginetest

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// Proxy stands in front of an engine and makes trouble on the way.
type Proxy struct {
	Host   string // "unix:///..."
	Socket string

	engine string
	stop   chan struct{}
	loops  sync.WaitGroup

	mu       sync.Mutex
	conns    map[net.Conn]bool
	delay    time.Duration
	hang     chan struct{} // closed when the hang is over; nil: none
	troubles []*trouble
	seen     []string
}

// trouble is what becomes of requests.
type trouble struct {
	match string
	times int
	lose  bool // the engine does it, and its answer is lost; else it never hears of it
}

// NewProxy listens on a socket of its own until the end of the test, and hands
// everything on to the engine until it is told otherwise.
func NewProxy(t testing.TB, e *Engine) *Proxy {
	t.Helper()
	dir, err := os.MkdirTemp("", "berth-proxy-")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{Socket: filepath.Join(dir, "sock"), engine: e.Socket, stop: make(chan struct{}), conns: map[net.Conn]bool{}}
	p.Host = "unix://" + p.Socket
	listener, err := net.Listen("unix", p.Socket)
	if err != nil {
		t.Fatal(err)
	}
	p.loops.Go(func() { p.accept(listener) })
	t.Cleanup(func() {
		close(p.stop)
		if err := listener.Close(); err != nil {
			t.Errorf("end the proxy: %v", err)
		}
		p.Cut()
		p.loops.Wait()
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("remove the proxy's socket: %v", err)
		}
	})
	return p
}

// Client is an HTTP client that asks the engine through the proxy.
func (p *Proxy) Client() *http.Client { return unixClient(p.Socket) }

// Delay holds every piece back for so long, in both directions.
func (p *Proxy) Delay(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = d
}

// Hang lets nothing through until Go.
func (p *Proxy) Hang() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hang == nil {
		p.hang = make(chan struct{})
	}
}

// Go ends Hang.
func (p *Proxy) Go() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hang != nil {
		close(p.hang)
		p.hang = nil
	}
}

// Cut breaks every connection that is there. New ones are let through.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.Close() // it is closed twice
	}
}

// Refuse breaks the connection of the next so many requests whose line has the
// text ("POST /v1.41/containers/create", "/start"), before the engine hears of them.
func (p *Proxy) Refuse(match string, times int) { p.trouble(match, times, false) }

// LoseAnswer lets the engine do what the next so many such requests want, and
// breaks the connection in place of the answer.
func (p *Proxy) LoseAnswer(match string, times int) { p.trouble(match, times, true) }

func (p *Proxy) trouble(match string, times int, lose bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.troubles = append(p.troubles, &trouble{match: match, times: times, lose: lose})
}

// Relent forgets what is left of Refuse and LoseAnswer.
func (p *Proxy) Relent() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.troubles = nil
}

// Requests are the lines of all requests so far: "POST /v1.41/containers/x/start".
func (p *Proxy) Requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.seen...)
}

func (p *Proxy) accept(listener net.Listener) {
	for {
		client, err := listener.Accept()
		if err != nil {
			return // closed
		}
		engine, err := net.Dial("unix", p.engine)
		if err != nil {
			_ = client.Close() // as an engine that is not there
			continue
		}
		p.mu.Lock()
		p.conns[client], p.conns[engine] = true, true
		p.mu.Unlock()
		lost := make(chan struct{}) // closed when the answer is not to arrive
		var directions sync.WaitGroup
		directions.Go(func() { p.forward(engine, client, lost, true) })
		directions.Go(func() { p.forward(client, engine, lost, false) })
		p.loops.Go(func() {
			directions.Wait()
			_ = client.Close() // it may be closed
			_ = engine.Close()
			p.mu.Lock()
			defer p.mu.Unlock()
			delete(p.conns, client)
			delete(p.conns, engine)
		})
	}
}

// forward hands on what comes from one side until it ends.
func (p *Proxy) forward(to, from net.Conn, lost chan struct{}, requests bool) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 && !p.pass(to, buffer[:n], lost, requests) {
			_ = to.Close() // both directions end
			_ = from.Close()
			return
		}
		if err != nil {
			if half, ok := to.(interface{ CloseWrite() error }); ok && err == io.EOF {
				_ = half.CloseWrite() // the other direction may go on
				return
			}
			_ = to.Close()
			return
		}
	}
}

// pass hands one piece on; false when the connection shall break.
func (p *Proxy) pass(to net.Conn, piece []byte, lost chan struct{}, request bool) bool {
	if request {
		switch t := p.troubled(piece); {
		case t != nil && t.lose:
			close(lost)
		case t != nil:
			return false
		}
	} else if isClosed(lost) {
		return false
	}
	p.mu.Lock()
	delay, hang := p.delay, p.hang
	p.mu.Unlock()
	if hang != nil && !p.wait(hang) {
		return false
	}
	if delay > 0 {
		timer := time.NewTimer(delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-p.stop:
			return false
		}
	}
	_, err := to.Write(piece)
	return err == nil
}

func (p *Proxy) wait(hang chan struct{}) bool {
	select {
	case <-hang:
		return true
	case <-p.stop:
		return false
	}
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// troubled notes a piece that begins a request, and returns the trouble it gets
// into.
func (p *Proxy) troubled(piece []byte) *trouble {
	line, _, _ := bytes.Cut(piece, []byte("\r\n"))
	line, isRequest := bytes.CutSuffix(line, []byte(" HTTP/1.1"))
	if !isRequest {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = append(p.seen, string(line))
	for _, t := range p.troubles {
		if t.times > 0 && bytes.Contains(line, []byte(t.match)) {
			t.times--
			return t
		}
	}
	return nil
}
