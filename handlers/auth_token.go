package handlers

import (
	"net/http"

	"berth/environment"
	"berth/handlers/api"

	"github.com/labstack/echo/v4"
)

// authToken answers POST /api/auth/token: a personal token for a password.
func (s *server) authToken(c echo.Context) error {
	var body api.SignInForToken
	if err := decodeBody(c, &body); err != nil {
		return err
	}
	key, text, err := s.Identity.SignInForToken(c.Request().Context(), body.Email, environment.NewSecret(body.Password), body.Name, s.client(c))
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusCreated, api.MadeKey{Key: keyShape(key), Token: text.Reveal()})
}
