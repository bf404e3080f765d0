package handlers

import (
	"net/http"

	"berth/handlers/api"

	"github.com/labstack/echo/v4"
)

// newKeyBody asks for a token or a key.
type newKeyBody struct {
	Name     string        `json:"name"`
	LifeDays optional[int] `json:"lifeDays"`
}

// accountTokenCreate answers POST /api/account/tokens. The token's text is in
// this one answer.
func (s *server) accountTokenCreate(c echo.Context) error {
	var body newKeyBody
	if err := decodeBody(c, &body); err != nil {
		return err
	}
	key, text, err := s.Identity.CreateToken(c.Request().Context(), s.actor(c), body.Name, body.LifeDays.Value)
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusCreated, api.MadeKey{Key: keyShape(key), Token: text.Reveal()})
}

// accountTokenRevoke answers DELETE /api/account/tokens/:id.
func (s *server) accountTokenRevoke(c echo.Context) error {
	id, err := pathID(c, "id", "token")
	if err != nil {
		return err
	}
	if err := s.Identity.RevokeToken(c.Request().Context(), s.actor(c), id); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
