package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"berth/environment"
	"berth/handlers/api"

	"github.com/google/uuid"
)

// patience is how long a server that went away is waited for: a restarted one
// takes the run up within the run's grace.
const patience = 2 * environment.RunGrace

// runFollower shows a run until it ends, across lost connections and restarts of
// the server.
type runFollower struct {
	a     *app
	c     *client
	id    uuid.UUID
	quiet bool

	out, err       io.Writer
	stdout, stderr strings.Builder // with --json

	lastID      string // of the stream
	next        int64  // offset of the next byte of output that was not shown
	placed      bool   // it was said on which host it runs
	interrupted bool
}

// capture keeps the output instead of showing it.
func (f *runFollower) capture() { f.out, f.err = &f.stdout, &f.stderr }

func (f *runFollower) note(format string, args ...any) {
	if !f.quiet {
		f.a.say(format, args...)
	}
}

// cancelPatience is how long a server that does not answer is asked to cancel a
// run: a restart passes, and whoever sent the signal is not kept waiting.
const cancelPatience = 8 * time.Second

// follow returns the run when it has ended. The first SIGINT or SIGTERM cancels
// the run, the second gives up waiting for it, as does a server that does not
// answer when it is asked to cancel.
func (f *runFollower) follow(ctx context.Context) (api.Run, error) {
	ctx, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	defer signal.Stop(signals)

	type end struct {
		run api.Run
		err error
	}
	ended := make(chan end, 1)
	go func() {
		run, err := f.watch(ctx)
		ended <- end{run, err}
	}()
	asked := false
	answered := make(chan error, 1)
	for {
		select {
		case e := <-ended:
			f.interrupted = asked && e.run.Status == string(environment.RunCancelled)
			if cause := context.Cause(ctx); asked && (errors.Is(cause, errLeft) || errors.Is(cause, errUnheard)) {
				return e.run, &exitError{code: exitInterrupted, cause: cause}
			}
			return e.run, e.err
		case err := <-answered:
			if err != nil {
				f.a.say("berth: cancel: %v", err)
			}
			if err != nil && worthWaiting(err) {
				leave(errUnheard)
			}
		case <-signals:
			if asked {
				leave(errLeft)
				continue
			}
			asked = true
			f.note("Cancelling the run; Ctrl-C again leaves it.")
			go func() { answered <- f.cancel(ctx) }()
		}
	}
}

var (
	errLeft    = errors.New("left; the run goes on to its end")
	errUnheard = errors.New("left; nobody heard that the run is to be cancelled, and it may go on")
)

// cancel asks for the run's end until the server has answered or cancelPatience is
// over.
func (f *runFollower) cancel(ctx context.Context) error {
	ctx, done := context.WithTimeout(ctx, cancelPatience)
	defer done()
	for {
		err := f.c.cancelRun(ctx, f.id, nil)
		if err == nil || !worthWaiting(err) || pause(ctx, 300*time.Millisecond) != nil {
			return err
		}
	}
}

func (c *client) cancelRun(ctx context.Context, id uuid.UUID, into *api.Run) error {
	r := request{method: http.MethodPost, path: "/runs/" + id.String() + "/cancel"}
	if into != nil {
		r.into = into
	}
	return c.call(ctx, r)
}

// watch reads the stream, and the log where the stream fails, until the run has
// ended and all its output was shown.
func (f *runFollower) watch(ctx context.Context) (api.Run, error) {
	var run api.Run
	silentSince := time.Time{}
	for {
		err := f.c.stream(ctx, "/runs/"+f.id.String()+"/events?raw=1", f.lastID, f.message)
		if err == nil || ctx.Err() == nil {
			run, err = f.catchUp(ctx)
		}
		switch {
		case ctx.Err() != nil:
			return run, context.Cause(ctx)
		case err == nil && environment.RunStatus(run.Status).Ended():
			return run, nil
		case err == nil:
			silentSince = time.Time{}
		case !worthWaiting(err):
			return run, err
		case silentSince.IsZero():
			silentSince = time.Now()
			f.note("The server does not answer; waiting for it.")
		case time.Since(silentSince) > patience:
			return run, fmt.Errorf("run %s was left: %w", f.id, err)
		}
		if err := pause(ctx, 300*time.Millisecond); err != nil {
			return run, context.Cause(ctx)
		}
	}
}

// worthWaiting reports whether an error may pass by itself.
func worthWaiting(err error) bool {
	if e, ok := errors.AsType[*apiError](err); ok {
		return e.Status >= http.StatusInternalServerError
	}
	kind := environment.KindOf(err)
	return kind == environment.KindUnavailable || kind == environment.KindTimeout
}

func (f *runFollower) message(m message) (done bool, err error) {
	switch environment.EventKind(m.event) {
	case environment.EventOutput:
		var chunk api.LogChunk
		if err := json.Unmarshal([]byte(m.data), &chunk); err != nil {
			return false, f.c.notBerth(err)
		}
		if err := f.show(chunk); err != nil {
			return false, err
		}
	case environment.EventState:
		var run api.Run
		if err := json.Unmarshal([]byte(m.data), &run); err == nil {
			f.place(run)
		}
	case environment.EventEnd:
		done = true
	}
	if m.id != "" {
		f.lastID = m.id
	}
	return done, nil
}

// catchUp shows the output that the stream did not bring and reads the run.
func (f *runFollower) catchUp(ctx context.Context) (api.Run, error) {
	var run api.Run
	if err := f.c.call(ctx, request{method: http.MethodGet, path: "/runs/" + f.id.String(), into: &run}); err != nil {
		return run, err
	}
	f.place(run)
	for {
		var log api.Log
		path := "/runs/" + f.id.String() + "/log?data=1&offset=" + strconv.FormatInt(f.next, 10)
		if err := f.c.call(ctx, request{method: http.MethodGet, path: path, into: &log}); err != nil {
			return run, err
		}
		for _, chunk := range log.Chunks {
			if err := f.show(chunk); err != nil {
				return run, err
			}
		}
		if log.Done || len(log.Chunks) == 0 || log.NextOffset <= f.next {
			f.next = max(f.next, log.NextOffset)
			return run, nil
		}
		f.next = log.NextOffset
	}
}

// show writes a chunk, or what of it was not shown yet, to its stream.
func (f *runFollower) show(chunk api.LogChunk) error {
	data := chunk.Data
	if len(data) == 0 {
		return nil // a stand-in for a character that never ended
	}
	switch skip := f.next - chunk.Offset; {
	case skip >= int64(len(data)):
		return nil
	case skip > 0:
		data = data[skip:]
	case skip < 0:
		f.note("[%d bytes of output were not kept]", -skip)
	}
	f.next = chunk.Offset + int64(len(chunk.Data))
	w := f.out
	if chunk.Stream == string(environment.Stderr) {
		w = f.err
	}
	if _, err := w.Write(data); err != nil {
		return &exitError{code: exitFailed, cause: fmt.Errorf("write the output of run %s: %w", f.id, err)}
	}
	return nil
}

// place says once on which host the run is.
func (f *runFollower) place(r api.Run) {
	if f.placed || r.Host == nil {
		return
	}
	f.placed = true
	f.note("Running on %s (%s %s)", printable(r.Host.Name), proofOf(r.Environment.Driver), printable(r.Host.BootID))
}

// proofOf is what tells a driver's targets apart: a container has its host's boot id.
func proofOf(driver string) string {
	if driver == environment.DriverSandbox {
		return "sandbox"
	}
	return "boot id"
}

// sayHow tells how a run ended, unless it simply succeeded.
func (f *runFollower) sayHow(r api.Run) {
	switch {
	case f.quiet:
		return
	case r.Failure != nil:
		f.a.say("Run %s %s: %s (%s)", r.ID, r.Status, printable(r.Failure.Message), r.Failure.Code)
		if r.Failure.Remediation != "" {
			f.a.say("  %s", printable(r.Failure.Remediation))
		}
	default:
		exit := ""
		if r.ExitCode != nil {
			exit = ", exit code " + strconv.Itoa(*r.ExitCode)
		}
		if r.Signal != nil {
			exit += ", signal " + *r.Signal
		}
		f.a.say("Run %s %s%s", r.ID, r.Status, exit)
	}
	if r.LogCut > 0 {
		f.a.say("  %d bytes in the middle of the output were not kept", r.LogCut)
	}
	if r.Termination == "unproven" {
		f.a.say("  Berth could not see that nothing of it is left on the target (%s).", environment.CodeTerminationUnproven)
	}
}
