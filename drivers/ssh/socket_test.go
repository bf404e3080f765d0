package ssh_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"berth/drivers/ssh/sshdtest"
	"berth/environment"
)

// echo answers on a socket with what it is sent, until the end of the test.
func echo(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sshd-echo-") // short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	var served sync.WaitGroup
	served.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // closed
			}
			served.Go(func() {
				_, _ = io.Copy(conn, conn)
				_ = conn.Close()
			})
		}
	})
	t.Cleanup(func() {
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
		served.Wait()
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return socket
}

// speak sends a text, ends its side, and returns all that comes back.
func speak(t *testing.T, conn net.Conn, text string) string {
	t.Helper()
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	if err := conn.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
	return string(got)
}

func TestDialSocket(t *testing.T) {
	socket := echo(t)
	t.Run("forwarded", func(t *testing.T) {
		s := sshdtest.Start(t, sshdtest.Config{KeyTypes: []string{"ed25519"}})
		d := newDriver(t)
		spec := specOf(t, d, settings(s, nil))
		for i := range 20 { // more than sshd would give sessions, had they not been given back
			conn, err := d.DialSocket(t.Context(), spec, socket)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := speak(t, conn, fmt.Sprint("hello ", i)), fmt.Sprint("hello ", i); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		}
		if n := s.Connections(); n > 2 {
			t.Errorf("%d processes of sshd serve one pooled connection", n)
		}
		if _, err := d.DialSocket(t.Context(), spec, "/nowhere/sock"); environment.CodeOf(err) != environment.CodeEngineUnreachable {
			t.Errorf("no socket there: got %v", err)
		}
		s.DropConnections()
		conn, err := d.DialSocket(t.Context(), spec, socket)
		if err != nil {
			t.Fatalf("after the connection was lost: %v", err)
		}
		if got := speak(t, conn, "again"); got != "again" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("by the host's own client", func(t *testing.T) {
		s := sshdtest.Start(t, sshdtest.Config{KeyTypes: []string{"ed25519"},
			Lines: []string{"AllowStreamLocalForwarding no", `ForceCommand case $SSH_ORIGINAL_COMMAND in test*) eval "$SSH_ORIGINAL_COMMAND" ;; *) echo "$SSH_ORIGINAL_COMMAND"; cat ;; esac`}})
		d := newDriver(t)
		conn, err := d.DialSocket(t.Context(), specOf(t, d, settings(s, nil)), socket)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.DialSocket(t.Context(), specOf(t, d, settings(s, nil)), "/nowhere/sock"); environment.CodeOf(err) != environment.CodeEngineUnreachable {
			t.Errorf("no socket there: got %v", err)
		}
		if got, want := speak(t, conn, "hello"), fmt.Sprintf("docker -H 'unix://%s' system dial-stdio\nhello", socket); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	t.Run("a host that is not trusted", func(t *testing.T) {
		s := sshdtest.Start(t, sshdtest.Config{KeyTypes: []string{"ed25519"}})
		d := newDriver(t)
		_, err := d.DialSocket(t.Context(), specOf(t, d, settings(s, map[string]any{"knownHosts": ""})), socket)
		if environment.CodeOf(err) != environment.CodeHostKeyUnknown || strings.Contains(s.Log(), "Accepted") {
			t.Errorf("got %v", err)
		}
	})
}
