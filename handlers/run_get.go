package handlers

import (
	"context"
	"net/http"

	"berth/environment"
	"berth/environment/access"

	"github.com/labstack/echo/v4"
)

// runGet answers GET /api/runs/:id.
func (s *server) runGet(c echo.Context) error {
	id, err := pathID(c, "id", "run")
	if err != nil {
		return err
	}
	run, err := s.Running.Get(c.Request().Context(), s.actor(c), id)
	if err != nil {
		return err
	}
	lease, err := s.leaseOf(c.Request().Context(), s.actor(c), run)
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, runShape(run, lease))
}

// leaseOf is the lease that a run has or had; nil when it never had one, when its
// row is gone, or for an agent, which reads no leases.
func (s *server) leaseOf(ctx context.Context, actor environment.Actor, run environment.Run) (*environment.Lease, error) {
	if run.LeaseID == nil || access.May(actor, access.ReadLeases, access.Company(run.CompanyID)) != nil {
		return nil, nil
	}
	lease, err := s.Leasing.Get(ctx, actor, *run.LeaseID)
	if err != nil && environment.KindOf(err) == environment.KindNotFound {
		return nil, nil
	}
	return &lease, err
}
