package handlers

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// invitationDelete answers DELETE /api/invitations/:id: the link counts no more.
func (s *server) invitationDelete(c echo.Context) error {
	id, err := pathID(c, "id", "invitation")
	if err != nil {
		return err
	}
	if err := s.Identity.RevokeLink(c.Request().Context(), s.actor(c), id); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
