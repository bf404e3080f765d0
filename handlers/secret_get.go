package handlers

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// secretGet answers GET /api/secrets/:id with its versions and what refers to it.
func (s *server) secretGet(c echo.Context) error {
	id, err := pathID(c, "id", "secret")
	if err != nil {
		return err
	}
	secret, uses, err := s.Secrets.Get(c.Request().Context(), s.actor(c), id)
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, wholeSecretShape(secret, uses))
}
