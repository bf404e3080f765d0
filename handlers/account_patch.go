package handlers

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// accountPatch answers PATCH /api/account with the person.
func (s *server) accountPatch(c echo.Context) error {
	var body struct {
		Name optional[string] `json:"name"`
	}
	if err := decodeBody(c, &body); err != nil {
		return err
	}
	ctx, actor := c.Request().Context(), s.actor(c)
	if !body.Name.Set {
		account, err := s.Identity.Account(ctx, actor)
		if err != nil {
			return err
		}
		return writeJSON(c, http.StatusOK, personShape(account.Person))
	}
	person, err := s.Identity.Rename(ctx, actor, body.Name.Value)
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, personShape(person))
}
