package handlers

import (
	"net/http"

	"berth/environment"
	"berth/handlers/api"

	"github.com/labstack/echo/v4"
)

// secretRotate answers POST /api/secrets/:id/rotate: a new value, as a new version.
func (s *server) secretRotate(c echo.Context) error {
	id, err := pathID(c, "id", "secret")
	if err != nil {
		return err
	}
	var body api.RotateSecret
	if err := decodeBody(c, &body); err != nil {
		return err
	}
	next, err := s.Secrets.Rotate(c.Request().Context(), s.actor(c), id, environment.NewSecret(body.Value))
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, secretShape(next))
}
