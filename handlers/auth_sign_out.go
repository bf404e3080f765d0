package handlers

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// authSignOut answers POST /api/auth/sign-out: it ends the session, or the
// personal token, that the request came with.
func (s *server) authSignOut(c echo.Context) error {
	var body struct{}
	if err := decodeOptionalBody(c, &body); err != nil {
		return err
	}
	if err := s.Identity.SignOut(c.Request().Context(), s.actor(c)); err != nil {
		return err
	}
	if err := s.signedOut(c); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
