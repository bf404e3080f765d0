package handlers

import (
	"net/http"

	"berth/handlers/api"

	"github.com/labstack/echo/v4"
)

// environmentUsage answers GET /api/environments/:id/usage: what of its budget is
// used, whether or not it has one.
func (s *server) environmentUsage(c echo.Context) error {
	id, err := pathID(c, "id", "environment")
	if err != nil {
		return err
	}
	ctx, actor := c.Request().Context(), s.actor(c)
	view, err := s.Catalogue.Get(ctx, actor, id)
	if err != nil {
		return err
	}
	used, err := s.Leasing.Usage(ctx, actor, view.ID)
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, api.Usage{ActiveLeases: used.ActiveLeases, LeaseMinutesToday: used.MinutesToday})
}
