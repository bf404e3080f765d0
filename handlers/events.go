package handlers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"berth/environment"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
)

// writeWithin is how long one event may take to go out: a reader that stands
// still for longer is let go and comes back with Last-Event-ID.
const writeWithin = 30 * time.Second

// message is one server-sent event. Data may have several lines.
type message struct {
	Event string
	Data  []byte
}

// eventStream is what a subject's stream is made of.
type eventStream struct {
	subject uuid.UUID
	// events returns what happened after a sequence number, in order.
	events func(ctx context.Context, actor environment.Actor, after int64) ([]environment.Event, error)
	// ended tells whether nothing will happen any more.
	ended func(context.Context, environment.Actor) (bool, error)
	// render makes the messages of an event; none skips it. An error ends the
	// stream.
	render renderEvent
}

// renderEvent makes the messages of an event, as an actor may see it.
type renderEvent func(context.Context, environment.Actor, environment.Event) ([]message, error)

// serveEvents sends a subject's events until its end event, the caller's
// leaving, or the server's stop. It goes on after the event named by
// Last-Event-ID or ?after=. Errors before the first event are ordinary answers;
// while the database is away later on, the stream waits and reads again. A
// caller who has seen the end already gets 204, at which a browser stops asking.
// One who may no longer is told so, in an end event with a reason.
func (s *server) serveEvents(c echo.Context, stream eventStream) error {
	after, err := eventsAfter(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	wake, unsubscribe := s.Feed.Subscribe(stream.subject)
	defer unsubscribe()
	who, unwatch := s.standingOf(s.actor(c))
	defer unwatch()
	if _, err := stream.ended(ctx, who.actor); err != nil {
		return err // there is no such subject
	}
	f := &follower{server: s, stream: stream, who: who, wake: wake, after: after}
	events, finished, err := f.read(ctx)
	if err != nil {
		return err
	}
	if finished {
		return c.NoContent(http.StatusNoContent)
	}
	f.out = &sseWriter{w: c.Response(), control: http.NewResponseController(c.Response())}
	if err := f.out.open(c.Response()); err != nil || c.Request().Header.Get(headMark) != "" {
		return err
	}
	err = f.follow(ctx, events)
	if why := whyNoMore(err); why != "" {
		return f.out.dismiss(why)
	}
	if err != nil && ctx.Err() == nil && !errors.Is(err, errStopping) {
		return fmt.Errorf("stream of %s: %w", stream.subject, err)
	}
	return nil
}

// errStopping ends streams when the server stops.
var errStopping = errors.New("the server stops")

// follower is a stream under way.
type follower struct {
	server *server
	stream eventStream
	who    *standing
	out    *sseWriter
	wake   <-chan struct{}
	after  int64
}

// follow sends events and what comes after them, until the end.
func (f *follower) follow(ctx context.Context, events []environment.Event) error {
	beat := time.NewTicker(f.server.heartbeat)
	defer beat.Stop()
	for {
		done, err := f.send(ctx, events)
		if err != nil || done {
			return err
		}
		if len(events) == 0 {
			if err := f.wait(ctx, beat.C, nil); err != nil {
				return err
			}
		}
		var finished bool
		for events, finished, err = f.read(ctx); err != nil; events, finished, err = f.read(ctx) {
			if environment.KindOf(err) != environment.KindUnavailable || ctx.Err() != nil {
				return err
			}
			if err := f.wait(ctx, beat.C, time.After(f.server.retry)); err != nil {
				return err
			}
		}
		if finished {
			return nil
		}
	}
}

// wait returns when there may be something to read; meanwhile it keeps the
// connection warm.
func (f *follower) wait(ctx context.Context, beat, again <-chan time.Time) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-f.server.Stopping:
			return errStopping
		case <-f.wake:
			return nil
		case <-f.who.woken:
			f.who.pending = true
			return nil
		case <-f.who.due:
			f.who.pending = true
			return nil
		case <-again:
			return nil
		case <-beat:
			if err := f.out.comment(); err != nil {
				return err
			}
		}
	}
}

// read returns the next events; finished when there is none and none will come.
// Whoever may read no more gets nothing of them.
func (f *follower) read(ctx context.Context) (events []environment.Event, finished bool, err error) {
	if err := f.who.confirm(ctx); err != nil {
		return nil, false, err
	}
	actor := f.who.actor
	events, err = f.stream.events(ctx, actor, f.after)
	if err != nil || len(events) > 0 {
		return events, false, err
	}
	ended, err := f.stream.ended(ctx, actor)
	if err != nil || !ended {
		return nil, false, err
	}
	events, err = f.stream.events(ctx, actor, f.after) // the end may have come in between
	return events, err == nil && len(events) == 0, err
}

// send writes events and reports whether the end was among them.
func (f *follower) send(ctx context.Context, events []environment.Event) (done bool, err error) {
	for _, e := range events {
		messages, err := f.stream.render(ctx, f.who.actor, e)
		if err != nil {
			return false, err
		}
		for i, m := range messages {
			id := int64(0)
			if i == len(messages)-1 {
				id = e.Seq
			}
			if err := f.out.send(id, m); err != nil {
				return false, err
			}
		}
		f.after = e.Seq
		if e.Kind == environment.EventEnd {
			return true, f.out.flush()
		}
	}
	if len(events) == 0 {
		return false, nil
	}
	return false, f.out.flush()
}

// eventsAfter is where a stream goes on: Last-Event-ID of a browser that lost
// it, or ?after=.
func eventsAfter(c echo.Context) (int64, error) {
	if text := c.Request().Header.Get("Last-Event-ID"); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 {
			return 0, unreadable("invalid_event_id", "Last-Event-ID is not one that Berth gave out.")
		}
		return n, nil
	}
	return number(c, "after", 0, 0, 1<<62)
}

// sseWriter writes the text/event-stream format.
type sseWriter struct {
	w       io.Writer
	control *http.ResponseController
	buf     bytes.Buffer
}

// open sends the headers, so that the caller knows at once that it is heard.
func (o *sseWriter) open(r *echo.Response) error {
	h := r.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	r.WriteHeader(http.StatusOK)
	o.buf.WriteString("retry: 1000\n\n")
	return o.flush()
}

// send adds a message; id 0 sends none. Browsers end a line at CR too, so data
// is split there as well.
func (o *sseWriter) send(id int64, m message) error {
	if id > 0 {
		fmt.Fprintf(&o.buf, "id: %d\n", id)
	}
	fmt.Fprintf(&o.buf, "event: %s\n", m.Event)
	data := bytes.ReplaceAll(bytes.ReplaceAll(m.Data, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
	for line := range bytes.SplitSeq(bytes.TrimSuffix(data, []byte("\n")), []byte("\n")) {
		o.buf.WriteString("data: ")
		o.buf.Write(line)
		o.buf.WriteByte('\n')
	}
	o.buf.WriteByte('\n')
	if o.buf.Len() > 64<<10 {
		return o.flush()
	}
	return nil
}

// dismiss ends a stream whose reader may read no more.
func (o *sseWriter) dismiss(why string) error {
	o.buf.Reset() // what was not sent yet is not for this reader any more
	if err := o.send(0, message{Event: string(environment.EventEnd), Data: []byte(`{"reason":"` + why + `"}`)}); err != nil {
		return err
	}
	return o.flush()
}

func (o *sseWriter) comment() error {
	o.buf.WriteString(": still here\n\n")
	return o.flush()
}

func (o *sseWriter) flush() error {
	if err := o.control.SetWriteDeadline(time.Now().Add(writeWithin)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return fmt.Errorf("set the write deadline: %w", err)
	}
	if _, err := o.w.Write(o.buf.Bytes()); err != nil {
		return err
	}
	o.buf.Reset()
	return o.control.Flush()
}
