package handlers

import (
	"net/http"

	"berth/environment"
	"berth/handlers/api"

	"github.com/labstack/echo/v4"
)

// accountPassword answers POST /api/account/password. The other sessions end.
func (s *server) accountPassword(c echo.Context) error {
	var body api.ChangePassword
	if err := decodeBody(c, &body); err != nil {
		return err
	}
	err := s.Identity.ChangePassword(c.Request().Context(), s.actor(c),
		environment.NewSecret(body.CurrentPassword), environment.NewSecret(body.NewPassword))
	if err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
