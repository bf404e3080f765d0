package handlers

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// secretAccesses answers GET /api/secrets/:id/accesses: who opened it, newest first.
func (s *server) secretAccesses(c echo.Context) error {
	id, err := pathID(c, "id", "secret")
	if err != nil {
		return err
	}
	w, err := windowOf(c)
	if err != nil {
		return err
	}
	page, err := s.Secrets.Accesses(c.Request().Context(), s.actor(c), id, w.Limit, w.Cursor)
	if err != nil {
		return err
	}
	linkNext(c, page.Next)
	return writeJSON(c, http.StatusOK, each(page.Items, secretAccessShape))
}
