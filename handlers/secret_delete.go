package handlers

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// secretDelete answers DELETE /api/secrets/:id; 409 with details.uses while an
// environment refers to it.
func (s *server) secretDelete(c echo.Context) error {
	id, err := pathID(c, "id", "secret")
	if err != nil {
		return err
	}
	if err := s.Secrets.Delete(c.Request().Context(), s.actor(c), id); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
