package drivertest

import (
	"strings"
	"testing"
	"time"

	"berth/environment"
)

// screen is a terminal and what it has shown.
type screen struct {
	environment.Terminal
	shown chan string // closed at the end
	all   string
}

func (x *sandboxes) open(t *testing.T, ref environment.Ref, cols, rows int) *screen {
	t.Helper()
	terminal, err := x.driver.(environment.Sheller).Shell(t.Context(), ref, cols, rows)
	if err != nil {
		t.Fatalf("open a shell: %v", err)
	}
	s := &screen{Terminal: terminal, shown: make(chan string, 1024)}
	go func() { // ends with the terminal
		defer close(s.shown)
		buffer := make([]byte, 4096)
		for {
			n, err := terminal.Read(buffer)
			if n > 0 {
				s.shown <- string(buffer[:n])
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = terminal.Close() // it may be closed
		for range s.shown {
		}
	})
	return s
}

// sends types a line and waits until the screen shows a text.
func (s *screen) sends(t *testing.T, line, want string) {
	t.Helper()
	if _, err := s.Write([]byte(line + "\n")); err != nil {
		t.Fatalf("type %q: %v", line, err)
	}
	timeout := time.After(20 * time.Second)
	for !strings.Contains(s.all, want) {
		select {
		case more, open := <-s.shown:
			if !open {
				t.Fatalf("after %q the terminal ended with %q, want %q", line, s.all, want)
			}
			s.all += more
		case <-timeout:
			t.Fatalf("after %q the terminal shows %q, want %q", line, s.all, want)
		}
	}
}

func (x *sandboxes) shell(t *testing.T) {
	ref := x.acquire(t)
	s := x.open(t, ref, 80, 24)
	s.sends(t, "echo sum-$((40+2))", "sum-42")
	s.sends(t, "stty size", "24 80")
	if err := s.Resize(133, 41); err != nil {
		t.Errorf("resize: %v", err)
	}
	s.sends(t, "stty size", "41 133")
	s.sends(t, "echo at-$(pwd)", "at-"+ref.Dir)
	s.sends(t, `echo env-"${BERTH_DRIVERTEST_CANARY:-clean}"`, "env-clean")
	for _, size := range [][2]int{{0, 24}, {80, 0}, {501, 24}, {80, 501}} {
		if err := s.Resize(size[0], size[1]); environment.KindOf(err) != environment.KindInvalid {
			t.Errorf("resize to %v: got %v, want a refusal", size, err)
		}
	}
	if _, err := s.Write([]byte("exit 7\n")); err != nil {
		t.Fatal(err)
	}
	if code, err := s.Wait(); err != nil || code != 7 {
		t.Errorf("got exit %d, %v, want 7", code, err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("close what has ended: %v", err)
	}
}

func (x *sandboxes) shellCloses(t *testing.T) {
	ref := x.acquire(t)
	s := x.open(t, ref, 80, 24)
	s.sends(t, "sleep 432801 & sh -c 'sleep 432802' & echo be''gan", "began")
	if err := s.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if !x.can.Exec {
		return
	}
	if left := x.target(ref).commandsWith(t, "43280"); left != "" {
		t.Errorf("still running: %s", left)
	}
}
