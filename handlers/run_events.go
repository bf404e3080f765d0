package handlers

import (
	"context"
	"unicode/utf8"

	"berth/environment"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
)

// runEvents answers GET /api/runs/:id/events, a stream: output, state, end.
// With ?raw=1 output carries its bytes beside its text.
func (s *server) runEvents(c echo.Context) error {
	id, err := pathID(c, "id", "run")
	if err != nil {
		return err
	}
	withBytes, err := flag(c, "raw", false)
	if err != nil {
		return err
	}
	return s.serveEvents(c, s.runStream(id, func(ctx context.Context, actor environment.Actor, e environment.Event, output string) ([]message, error) {
		if e.Chunk == nil {
			return renderEventJSON(ctx, actor, e)
		}
		data, err := marshal(outputShape(*e.Chunk, output, withBytes))
		return []message{{Event: string(environment.EventOutput), Data: data}}, err
	}))
}

// renderRun makes the messages of an event of a run. Of an output event, output
// is its text. At the end event, what no later output completed comes first, as
// an output event of its own.
type renderRun func(ctx context.Context, actor environment.Actor, e environment.Event, output string) ([]message, error)

// runStream is the stream of a run, each event rendered by render.
func (s *server) runStream(id uuid.UUID, render renderRun) eventStream {
	text, begunStreams := newLogText(), map[environment.Stream]bool{}
	return eventStream{
		subject: id,
		events: func(ctx context.Context, actor environment.Actor, after int64) ([]environment.Event, error) {
			return s.Running.Events(ctx, actor, id, after)
		},
		ended: func(ctx context.Context, actor environment.Actor) (bool, error) {
			run, err := s.Running.Get(ctx, actor, id)
			return run.Status.Ended(), err
		},
		render: func(ctx context.Context, actor environment.Actor, e environment.Event) ([]message, error) {
			if e.Kind == environment.EventEnd {
				return renderEnd(ctx, actor, e, text.rest(), render)
			}
			if e.Chunk == nil {
				return render(ctx, actor, e, "")
			}
			chunk := e.Chunk
			if !begunStreams[chunk.Stream] {
				begunStreams[chunk.Stream] = true
				s.primeText(ctx, actor, id, *chunk, text)
			}
			return render(ctx, actor, e, text.decode(chunk.Stream, chunk.Data))
		},
	}
}

func renderEnd(ctx context.Context, actor environment.Actor, e environment.Event, rest []streamText, render renderRun) ([]message, error) {
	var messages []message
	for _, tail := range rest {
		chunk := environment.Event{Kind: environment.EventOutput, Subject: e.Subject, Seq: e.Seq, Chunk: &environment.LogChunk{Stream: tail.stream}}
		more, err := render(ctx, actor, chunk, tail.text)
		if err != nil {
			return nil, err
		}
		messages = append(messages, more...)
	}
	end, err := render(ctx, actor, e, "")
	return append(messages, end...), err
}

// primeText gives text the bytes before the first chunk of a stream that goes
// on within a character: the connection before this one held them back.
func (s *server) primeText(ctx context.Context, actor environment.Actor, id uuid.UUID, chunk environment.LogChunk, text *logText) {
	if len(chunk.Data) == 0 || utf8.RuneStart(chunk.Data[0]) || chunk.Offset == 0 {
		return
	}
	const back = 256
	from := max(0, chunk.Offset-back)
	page, err := s.Running.Log(ctx, actor, id, from, int(chunk.Offset-from))
	if err != nil {
		return // a stand-in shows where the bytes are missing
	}
	for _, before := range page.Chunks {
		if before.Stream == chunk.Stream && before.Offset < chunk.Offset {
			text.decode(before.Stream, before.Data)
		}
	}
}
