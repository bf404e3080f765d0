package handlers

import (
	"net/http"

	"berth/environment"
	"berth/environment/running"
	"berth/handlers/api"

	"github.com/labstack/echo/v4"
)

// runList answers GET /api/companies/:c/runs: newest first, without their leases.
func (s *server) runList(c echo.Context) error {
	company, err := s.company(c)
	if err != nil {
		return err
	}
	w, err := windowOf(c)
	if err != nil {
		return err
	}
	filter := running.Filter{CompanyID: &company.ID, Query: w.Query, Limit: w.Limit, Cursor: w.Cursor}
	if filter.Status, err = choice(c, "status", environment.RunStatuses()...); err != nil {
		return err
	}
	if filter.EnvironmentID, err = queryID(c, "environmentId", "environment"); err != nil {
		return err
	}
	page, err := s.Running.List(c.Request().Context(), s.actor(c), filter)
	if err != nil {
		return err
	}
	linkNext(c, page.Next)
	return writeJSON(c, http.StatusOK, each(page.Items, func(r environment.Run) api.Run { return runShape(r, nil) }))
}
