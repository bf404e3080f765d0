package handlers

import (
	"context"
	"net/http"
	"time"

	"berth/environment"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
)

// leaseRelease answers POST /api/environment-leases/:id/release.
func (s *server) leaseRelease(c echo.Context) error { return s.actOnLease(c, s.Leasing.Release) }

// leaseDestroy answers POST /api/environment-leases/:id/destroy.
func (s *server) leaseDestroy(c echo.Context) error { return s.actOnLease(c, s.Leasing.Destroy) }

// leaseRetryCleanup answers POST /api/environment-leases/:id/retry-cleanup.
func (s *server) leaseRetryCleanup(c echo.Context) error {
	return s.actOnLease(c, s.Leasing.RetryCleanup)
}

// leaseAct is something that an operator does with a lease.
type leaseAct func(context.Context, environment.Actor, uuid.UUID) (environment.Lease, error)

// actOnLease answers with the lease as it is after an act.
func (s *server) actOnLease(c echo.Context, act leaseAct) error {
	id, err := pathID(c, "id", "lease")
	if err != nil {
		return err
	}
	var none struct{}
	if err := decodeOptionalBody(c, &none); err != nil {
		return err
	}
	lease, err := s.afterAct(c, id, act, nil)
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, leaseShape(lease))
}

// afterAct does the act and waits for its end, which may take as long as the
// provider takes: it goes on when the caller hangs up or loses the right to be
// told, and when the server stops, where the next one takes it up. When enough comes
// first, which is nil for who waits to the end, the lease is as it is by then.
func (s *server) afterAct(c echo.Context, id uuid.UUID, act leaseAct, enough <-chan time.Time) (environment.Lease, error) {
	actor := s.actor(c)
	waiting, stop := s.whileAllowed(c.Request().Context(), actor, func(ctx context.Context, actor environment.Actor) error {
		_, err := s.Leasing.Get(ctx, actor, id)
		return err
	})
	defer stop()
	type outcome struct {
		lease environment.Lease
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		lease, err := act(context.WithoutCancel(waiting), actor, id)
		done <- outcome{lease, err}
	}()
	select {
	case o := <-done:
		if refused := refusedMeanwhile(waiting); refused != nil {
			return environment.Lease{}, refused
		}
		return o.lease, o.err
	case <-enough:
		return s.Leasing.Get(waiting, actor, id)
	case <-s.Stopping: // nil, and never ready, where nothing stops the server
		return environment.Lease{}, environment.Unavailable("server_stopping", "The server stops; read the lease when it is back.").
			With("leaseId", id)
	}
}
