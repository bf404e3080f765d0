package supervisor

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/drivers/shell"
	"berth/environment"
)

// cutting opens sessions that break after a number of bytes, both ways together,
// and now and then before any.
type cutting struct {
	open shell.Opener
	next func() int // bytes until the next cut; -1: none any more

	mu   sync.Mutex
	cuts int
	busy int // sessions that are open
	most int
}

func (c *cutting) opener(ctx context.Context) (shell.Session, error) {
	s, err := c.open(ctx)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy++
	c.most = max(c.most, c.busy)
	cut := &cutSession{Session: s, left: c.next(), owner: c}
	cut.shut = sync.OnceValue(func() error {
		c.mu.Lock()
		c.busy--
		c.mu.Unlock()
		return s.Close()
	})
	return cut, nil
}

type cutSession struct {
	shell.Session
	owner *cutting
	mu    sync.Mutex
	left  int
	shut  func() error
}

// spend counts bytes, and breaks the session when they are used up.
func (s *cutSession) spend(n int) (allowed int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left < 0 {
		return n, nil
	}
	if n < s.left {
		s.left -= n
		return n, nil
	}
	allowed, s.left = s.left, 0
	s.owner.mu.Lock()
	s.owner.cuts++
	s.owner.mu.Unlock()
	go func() { _ = s.shut() }() // Exec waits for it with its own Close
	return allowed, io.ErrUnexpectedEOF
}

func (s *cutSession) Write(b []byte) (int, error) {
	n, cut := s.spend(len(b))
	n, err := s.Session.Write(b[:n])
	if cut != nil {
		err = cut
	}
	return n, err
}

func (s *cutSession) Wait() error {
	err := s.Session.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left == 0 {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (s *cutSession) Close() error      { return s.shut() }
func (s *cutSession) Stdout() io.Reader { return cutReader{s, s.Session.Stdout()} }
func (s *cutSession) Stderr() io.Reader { return cutReader{s, s.Session.Stderr()} }

type cutReader struct {
	s *cutSession
	r io.Reader
}

func (c cutReader) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	allowed, cut := c.s.spend(n)
	if cut != nil {
		return allowed, cut
	}
	return n, err
}

// TestConnectionIsCutAtRandomMoments runs one command over sessions that break
// in the script, in the answer, in the output, at the end and in the collection,
// and wants every byte once.
func TestConnectionIsCutAtRandomMoments(t *testing.T) {
	t.Parallel()
	for round := range 4 {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			t.Parallel()
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			random := rand.New(rand.NewPCG(seed, 1))
			x, l := systemTarget(t), newLog()
			drill, left := &cutting{open: x.open}, 25
			drill.next = func() int {
				if left--; left < 0 {
					return -1
				}
				return random.IntN(20_000)
			}
			x.open = drill.opener
			got, err := x.run(t.Context(), environment.Exec{Argv: []string{"sh", "-c",
				"i=0; while [ $i -lt 40 ]; do i=$((i+1)); seq $((i*100)) $((i*100+99)); seq $((i*100)) $((i*100+49)) >&2; sleep 0.05; done; exit 9"}}, l)
			if err != nil || got.ExitCode != 9 || got.Ended != "exit" || !got.Proven {
				t.Errorf("got %+v, %v", got, err)
			}
			var out, errOut strings.Builder
			for i := 100; i < 4100; i++ {
				fmt.Fprintln(&out, i)
				if i%100 < 50 {
					fmt.Fprintln(&errOut, i)
				}
			}
			if l.text(environment.Stdout) != out.String() || l.text(environment.Stderr) != errOut.String() || l.doubled != "" {
				t.Errorf("output has a gap or a double: %d of %d and %d of %d bytes, %s", len(l.text(environment.Stdout)), out.Len(),
					len(l.text(environment.Stderr)), errOut.Len(), l.doubled)
			}
			if drill.cuts < 3 || drill.most != 1 {
				t.Errorf("%d cuts, %d sessions at a time; want some, and one", drill.cuts, drill.most)
			}
			x.clean(t, x.home)
		})
	}
}

// TestStopGoesThroughTheNextSession stops work whose session has just broken.
func TestStopGoesThroughTheNextSession(t *testing.T) {
	t.Parallel()
	x, l, mark := systemTarget(t), newLog(), number()
	var stop chan struct{}
	l.seen, stop = once("ready")
	drill := &cutting{open: x.open, next: func() int { return -1 }}
	x.open = func(ctx context.Context) (shell.Session, error) {
		s, err := drill.opener(ctx)
		if err == nil && drill.cuts == 0 {
			drill.cuts++
			go func() {
				<-stop
				_ = s.Close()
			}()
		}
		return s, err
	}
	began := time.Now()
	got, err := x.run(t.Context(), environment.Exec{Stop: stop, Argv: []string{"sh", "-c", "echo ready; sleep " + mark}}, l)
	if err != nil || got.Ended != "stopped" || !got.Proven || time.Since(began) > 6*time.Second {
		t.Errorf("got %+v, %v after %s", got, err, time.Since(began))
	}
	x.clean(t, mark)
}
