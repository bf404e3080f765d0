package handlers

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"berth/environment"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
)

// probeGet answers GET /api/probes/:id.
func (s *server) probeGet(c echo.Context) error {
	id, err := pathID(c, "id", "probe")
	if err != nil {
		return err
	}
	probe, err := s.Probing.Get(c.Request().Context(), s.actor(c), id)
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, probeShape(probe))
}

// probeCancel answers POST /api/probes/:id/cancel: 202 with the probe as it is.
func (s *server) probeCancel(c echo.Context) error {
	id, err := pathID(c, "id", "probe")
	if err != nil {
		return err
	}
	probe, err := s.Probing.Cancel(c.Request().Context(), s.actor(c), id)
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusAccepted, probeShape(probe))
}

// probeEvents answers GET /api/probes/:id/events, a stream: stage, state, end.
func (s *server) probeEvents(c echo.Context) error {
	id, err := pathID(c, "id", "probe")
	if err != nil {
		return err
	}
	return s.serveEvents(c, s.probeStream(id, renderEventJSON))
}

// probeStream is the stream of a probe, each event rendered by render.
func (s *server) probeStream(id uuid.UUID, render renderEvent) eventStream {
	return eventStream{
		subject: id,
		events: func(ctx context.Context, actor environment.Actor, after int64) ([]environment.Event, error) {
			return s.Probing.Events(ctx, actor, id, after)
		},
		ended: func(ctx context.Context, actor environment.Actor) (bool, error) {
			probe, err := s.Probing.Get(ctx, actor, id)
			return probe.State.Ended(), err
		},
		render: render,
	}
}

// renderEventJSON is an event as the API's streams send it.
func renderEventJSON(_ context.Context, _ environment.Actor, e environment.Event) ([]message, error) {
	data := []byte(e.Payload)
	if e.Kind == environment.EventStage {
		var stage environment.Stage
		if err := json.Unmarshal(e.Payload, &stage); err != nil {
			return nil, fmt.Errorf("read the stage of event %d: %w", e.Seq, err)
		}
		var err error
		if data, err = marshal(stageShape(stage)); err != nil {
			return nil, err
		}
	}
	if len(data) == 0 {
		data = []byte("{}")
	}
	return []message{{Event: string(e.Kind), Data: data}}, nil
}
