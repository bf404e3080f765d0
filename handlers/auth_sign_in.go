package handlers

import (
	"net/http"

	"berth/environment"
	"berth/handlers/api"

	"github.com/labstack/echo/v4"
)

// authSignIn answers POST /api/auth/sign-in with who is signed in now, and the
// session's cookie.
func (s *server) authSignIn(c echo.Context) error {
	var body api.SignIn
	if err := decodeBody(c, &body); err != nil {
		return err
	}
	if s.sessions == nil {
		return errNoSessions
	}
	session, actor, err := s.Identity.SignIn(c.Request().Context(), body.Email, environment.NewSecret(body.Password), s.client(c))
	if err != nil {
		return err
	}
	if err := s.signedIn(c, session); err != nil {
		return err
	}
	me, err := s.me(c.Request().Context(), actor)
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, me)
}
