package handlers

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// personGet answers GET /api/people/:id.
func (s *server) personGet(c echo.Context) error {
	id, err := pathID(c, "id", "person")
	if err != nil {
		return err
	}
	person, err := s.Identity.Person(c.Request().Context(), s.actor(c), id)
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, personShape(person))
}
