package handlers

import (
	"net/http"

	"berth/handlers/api"

	"github.com/labstack/echo/v4"
)

// personSignOut answers POST /api/people/:id/sign-out: it ends every session of
// a person, and with tokens revokes every token too.
func (s *server) personSignOut(c echo.Context) error {
	id, err := pathID(c, "id", "person")
	if err != nil {
		return err
	}
	var body struct {
		Tokens optional[bool] `json:"tokens"`
	}
	if err := decodeOptionalBody(c, &body); err != nil {
		return err
	}
	n, err := s.Identity.SignOutPerson(c.Request().Context(), s.actor(c), id, body.Tokens.Value)
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, api.Ended{Ended: n})
}
