package handlers

import (
	"net/http"

	"berth/environment"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
)

// invitationList answers GET /api/invitations: the links that can still be used.
func (s *server) invitationList(c echo.Context) error {
	w, err := windowOf(c)
	if err != nil {
		return err
	}
	all, err := s.Identity.Links(c.Request().Context(), s.actor(c))
	if err != nil {
		return err
	}
	page, err := pageOf(all, w, func(l environment.Link) uuid.UUID { return l.ID }, func(l environment.Link) string { return l.Email })
	if err != nil {
		return err
	}
	linkNext(c, page.Next)
	return writeJSON(c, http.StatusOK, each(page.Items, invitationShape))
}
