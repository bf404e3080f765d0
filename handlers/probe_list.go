package handlers

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// probeList answers GET /api/environments/:id/probes: stored results, newest
// first.
func (s *server) probeList(c echo.Context) error {
	id, err := pathID(c, "id", "environment")
	if err != nil {
		return err
	}
	w, err := windowOf(c)
	if err != nil {
		return err
	}
	ctx, actor := c.Request().Context(), s.actor(c)
	if _, err := s.Catalogue.Get(ctx, actor, id); err != nil {
		return err
	}
	page, err := s.Probing.History(ctx, actor, id, w.Limit, w.Cursor)
	if err != nil {
		return err
	}
	linkNext(c, page.Next)
	return writeJSON(c, http.StatusOK, each(page.Items, probeShape))
}
