package handlers

import (
	"net/http"

	"berth/environment"

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
	lease, err := s.leaseOf(c, run)
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, runShape(run, lease))
}

// leaseOf is the lease that a run has or had; nil when it never had one.
func (s *server) leaseOf(c echo.Context, run environment.Run) (*environment.Lease, error) {
	if run.LeaseID == nil {
		return nil, nil
	}
	lease, err := s.Leasing.Get(c.Request().Context(), s.actor(c), *run.LeaseID)
	if err != nil && environment.KindOf(err) == environment.KindNotFound {
		return nil, nil
	}
	return &lease, err
}
