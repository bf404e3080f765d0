package handlers

import (
	"net/http"

	"berth/handlers/api"

	"github.com/labstack/echo/v4"
)

// accountGet answers GET /api/account: the person who asks, with sessions and
// tokens.
func (s *server) accountGet(c echo.Context) error {
	actor := s.actor(c)
	account, err := s.Identity.Account(c.Request().Context(), actor)
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, api.Account{
		Person: personShape(account.Person), Sessions: each(account.Sessions, sessionShape(actor.Credential)), Tokens: each(account.Tokens, keyShape),
	})
}
