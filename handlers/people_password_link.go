package handlers

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// personPasswordLink answers POST /api/people/:id/password-link. The link's
// address is in this one answer.
func (s *server) personPasswordLink(c echo.Context) error {
	id, err := pathID(c, "id", "person")
	if err != nil {
		return err
	}
	var body struct{}
	if err := decodeOptionalBody(c, &body); err != nil {
		return err
	}
	link, token, err := s.Identity.ResetLink(c.Request().Context(), s.actor(c), id)
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusCreated, s.madeLink(c, link, token))
}
