package supervisor

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"berth/drivers/shell"
	"berth/environment"
)

// session is one connection to a run: from the script that starts it or takes it
// up until the run has ended or the connection broke.
type session struct {
	work  *work
	nonce string // marks the session's own words among everything else
	start bool   // it may start the run
	ahead bool   // its shell was prepared

	sent  bool // the target may have begun, by this session or an earlier one
	spoke bool // the target answered
	final bool // another session would bring the same error

	shell    shell.Session
	lines    chan string
	out, err *bufio.Reader
	heard    chan struct{} // closed when the shell takes the script
	ready    chan struct{} // closed when the target has said who the run is
	accepted bool          // before ready: output may be delivered
}

func (w *work) newSession(start, sent bool) *session {
	return &session{work: w, nonce: newNonce(), start: start, sent: sent,
		lines: make(chan string, 8), heard: make(chan struct{}), ready: make(chan struct{})}
}

// beat is a word that no earlier renewal was; always of the same length.
func beat() string { return strconv.FormatInt(time.Now().UnixNano(), 10) }

// attend opens the session and stays until the run's record and all its output
// have arrived and the target has removed them. It returns nil then, and an
// error that says what broke otherwise.
func (s *session) attend(life context.Context) error {
	ctx, cancel := context.WithCancel(life)
	defer cancel()
	if err := s.dial(ctx, cancel); err != nil {
		return err
	}
	var owned sync.WaitGroup
	defer owned.Wait()
	closing := sync.OnceFunc(func() { _ = s.shell.Close() }) // its error says no more than that the session ended
	defer closing()
	defer context.AfterFunc(ctx, closing)()
	defer close(s.lines)
	owned.Go(s.write)

	prelude := time.AfterFunc(preludeTimeout, closing)
	defer prelude.Stop()
	arrived := make(chan error, 2)
	owned.Go(func() { arrived <- s.readOut(prelude) })
	owned.Go(func() { arrived <- s.readErr() })
	if err := s.wait(arrived, closing); err != nil {
		return s.explain(ctx, prelude, err)
	}
	last := time.AfterFunc(lastWords+s.work.exec.Grace, closing)
	defer last.Stop()
	if err := s.fetch(); err != nil {
		return err
	}
	if err := s.work.settle(); err != nil {
		s.final = true
		return err // the folder stays
	}
	s.work.complete = true
	s.work.renew(time.Now()) // storing may have taken all of the grace: one more for the folder to go
	s.lines <- "d\n"
	if err := s.shell.Wait(); err != nil {
		return fmt.Errorf("remove the run folder: %w", err)
	}
	return nil
}

// dial opens the shell. A target that was reached before is given no more time
// than the grace leaves, and one on which nothing can have begun is given up on
// a stop.
func (s *session) dial(ctx context.Context, cancel context.CancelFunc) error {
	var giveUp sync.WaitGroup
	dialled := make(chan struct{})
	giveUp.Go(func() {
		var stop <-chan struct{}
		var late <-chan time.Time
		if s.sent {
			late = time.After(max(time.Until(s.work.deadline()), time.Second))
		} else {
			stop = s.work.stopped
		}
		select {
		case <-stop:
			cancel()
		case <-late:
			cancel()
		case <-dialled:
		}
	})
	opened, err := s.open(ctx)
	close(dialled)
	giveUp.Wait()
	if err != nil {
		return err
	}
	if ctx.Err() != nil || !s.sent && s.work.stopping() {
		_ = opened.Close() // nothing was sent
		return errStopped
	}
	s.shell, s.sent = opened, true
	s.out = bufio.NewReaderSize(opened.Stdout(), 64<<10)
	s.err = bufio.NewReaderSize(opened.Stderr(), 64<<10)
	return nil
}

// open opens a shell; it may be one that was prepared for work.
func (s *session) open(ctx context.Context) (shell.Session, error) {
	opened, err := s.work.open(ctx)
	a, ok := opened.(*Ahead)
	if err != nil || !ok {
		return opened, err
	}
	s.ahead, s.nonce = true, a.nonce
	return a, nil
}

// errStopped is a session that was given up before it began.
var errStopped = errors.New("stopped before the start")

// write sends the script and then the lines, until lines is closed. What cannot
// be sent is dropped: the readers notice a broken session.
func (s *session) write() {
	<-s.heard
	_, err := io.WriteString(s.shell, s.framed())
	for line := range s.lines {
		at := time.Now()
		if err != nil {
			continue
		}
		if _, err = io.WriteString(s.shell, line); err == nil {
			s.work.renew(at)
		}
	}
}

// wait renews and stops the work until both streams have reached their end mark.
func (s *session) wait(arrived <-chan error, closing func()) error {
	renewal := time.NewTicker(max(min(s.work.exec.Grace/4, maxRenewal), 10*time.Millisecond))
	defer renewal.Stop()
	var broken error
	var stop <-chan struct{}
	ready := s.ready
	for pending := 2; pending > 0; {
		select {
		case err := <-arrived:
			pending--
			if err != nil && broken == nil {
				defer time.AfterFunc(time.Second, closing).Stop() // if the other reader does not end by itself
			}
			if broken == nil || errors.Is(broken, errBroken) && err != nil && !errors.Is(err, errBroken) {
				broken = err // what the target said counts more than that it then went
			}
		case <-ready: // lines before the target spoke could be lost
			ready, stop = nil, s.work.stopped
		case <-renewal.C:
			if ready == nil && len(s.lines) < cap(s.lines)/2 {
				s.lines <- "r " + beat() + "\n"
			}
		case <-stop:
			stop = nil
			s.lines <- "s\n"
		}
	}
	return broken
}

// explain makes an error for people of a session that broke.
func (s *session) explain(ctx context.Context, prelude *time.Timer, err error) error {
	if s.spoke || s.ahead || ctx.Err() != nil || s.work.known || s.work.exec.Resume {
		return err
	}
	if silent := !prelude.Stop(); !silent && !errors.Is(err, errNoise) {
		ended := s.shell.Wait()
		if _, exited := errors.AsType[*shell.ExitError](ended); ended != nil && !exited {
			return fmt.Errorf("%w: %w", err, ended) // the connection broke, not the shell
		}
	}
	s.final = true
	return environment.Unavailable(environment.CodeShellUnusable,
		"The account's shell ended, or said nothing usable, before the command could be started.").
		Remedy(environment.Remedy(environment.CodeShellUnusable)).Because(err)
}

// fetch asks for what the streams still lacked when the run ended.
func (s *session) fetch() error {
	have := s.work.offsets()
	lacking := map[environment.Stream]int64{}
	for stream, size := range s.work.final.sizes {
		lacking[stream] = max(0, size-have[stream])
	}
	if lacking[environment.Stdout]+lacking[environment.Stderr] == 0 {
		return nil
	}
	s.lines <- fmt.Sprintf("f %d %d\n", have[environment.Stdout], have[environment.Stderr])
	other := make(chan error, 1)
	go func() { // both at once: where they share a connection, one waits for the other
		other <- s.take(s.err, environment.Stderr, lacking[environment.Stderr])
	}()
	err := s.take(s.out, environment.Stdout, lacking[environment.Stdout])
	return errors.Join(err, <-other)
}
