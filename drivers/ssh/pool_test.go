package ssh_test

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"berth/drivers/ssh"
	"berth/drivers/ssh/sshdtest"
	"berth/environment"
)

func TestPool_RunsShareAConnection(t *testing.T) {
	t.Parallel()
	s := sshdtest.Start(t, sshdtest.Config{KeyTypes: []string{"ed25519"}})
	d := newDriver(t)
	spec := specOf(t, d, settings(s, nil))
	ref := acquire(t, d, s, nil)
	ref.Spec = spec
	ref.Spec.EnvironmentID = environment.NewID()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := d.Read(t.Context(), ref, ""); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	// Each connection is two processes of sshd: one that is privileged.
	if n := s.Connections(); n < 2 || n > 4 {
		t.Errorf("%d sshd processes serve 2 environments", n)
	}
	changed := ref
	changed.Spec.Secrets = map[string]environment.Secret{"privateKey": environment.NewSecret("another")}
	if _, err := d.Read(t.Context(), changed, ""); environment.CodeOf(err) != environment.CodeKeyUnreadable {
		t.Errorf("other secrets got the old connection: %v", err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	sshdtest.Wait(t, "Close ends every connection", func() bool { return s.Connections() == 0 })
	if _, err := d.Read(t.Context(), ref, ""); err == nil {
		t.Error("a closed driver reads")
	}
}

func TestPool_IdleConnectionsAreClosed(t *testing.T) {
	t.Parallel()
	s := sshdtest.Start(t, sshdtest.Config{KeyTypes: []string{"ed25519"}})
	d := newDriver(t, func(o *ssh.Options) { o.Limits.Idle = 200 * time.Millisecond })
	ref := acquire(t, d, s, nil)
	sshdtest.Wait(t, "the idle connection is closed", func() bool { return s.Connections() == 0 })
	if _, err := d.Read(t.Context(), ref, ""); err != nil {
		t.Errorf("read after the connection was closed: %v", err)
	}
}

func TestPool_BrokenConnectionIsReplaced(t *testing.T) {
	t.Parallel()
	s := sshdtest.Start(t, sshdtest.Config{KeyTypes: []string{"ed25519"}})
	d := newDriver(t)
	ref := acquire(t, d, s, nil)
	for range 3 {
		s.DropConnections()
		if _, err := d.Read(t.Context(), ref, ""); err != nil {
			t.Errorf("read after a break: %v", err)
		}
	}
}

// TestPool_KeepAliveEndsADeadConnection: the way to the target goes dead without
// a word, as when a cable is pulled.
func TestPool_KeepAliveEndsADeadConnection(t *testing.T) {
	t.Parallel()
	s := sshdtest.Start(t, sshdtest.Config{KeyTypes: []string{"ed25519"}})
	w := newWire(t, s.Addr())
	d := newDriver(t)
	known := sshdtest.KnownHostsName("127.0.0.1", w.port) + " " + s.HostKey("ed25519")
	spec := specOf(t, d, settings(s, map[string]any{"port": w.port, "knownHosts": known, "keepAliveSec": 1}))
	ref := environment.Ref{Config: spec.Config, Spec: spec, Dir: s.Home}
	if _, err := d.Read(t.Context(), ref, ""); err != nil {
		t.Fatal(err)
	}
	w.cut()
	started := time.Now()
	select {
	case <-w.closed: // by our side: the other cannot be heard
	case <-time.After(20 * time.Second):
		t.Fatal("the dead connection is still open")
	}
	if took := time.Since(started); took < 2*time.Second {
		t.Errorf("given up after %s", took)
	}
	w.mend()
	if _, err := d.Read(t.Context(), ref, ""); err != nil {
		t.Errorf("read after the way came back: %v", err)
	}
}

// wire is a way to a server that can go dead.
type wire struct {
	port   int
	closed chan struct{} // when the client closed its first connection
	mu     sync.Mutex
	dead   bool
}

func newWire(t *testing.T, to string) *wire {
	t.Helper()
	w := &wire{closed: make(chan struct{})}
	var once sync.Once
	_, w.port = listen(t, func(client net.Conn) {
		server, err := new(net.Dialer).DialContext(context.Background(), "tcp", to)
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = server.Close() }()
		back := make(chan struct{})
		go func() {
			defer close(back)
			w.carry(client, server)
			_ = client.Close()
		}()
		w.carry(server, client)
		once.Do(func() { close(w.closed) })
		_ = server.Close()
		w.mend()
		<-back
	})
	return w
}

// carry moves data while the wire is alive, and swallows it while it is dead.
func (w *wire) carry(to io.Writer, from io.Reader) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		w.mu.Lock()
		dead := w.dead
		w.mu.Unlock()
		if !dead && n > 0 {
			if _, errTo := to.Write(buffer[:n]); errTo != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (w *wire) cut()  { w.set(true) }
func (w *wire) mend() { w.set(false) }

func (w *wire) set(dead bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dead = dead
}
