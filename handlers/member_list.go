package handlers

import (
	"net/http"

	"berth/environment"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
)

// memberList answers GET /api/companies/:c/members.
func (s *server) memberList(c echo.Context) error {
	company, err := pathID(c, "c", "company")
	if err != nil {
		return err
	}
	w, err := windowOf(c)
	if err != nil {
		return err
	}
	all, err := s.Identity.Members(c.Request().Context(), s.actor(c), company)
	if err != nil {
		return err
	}
	page, err := pageOf(all, w, func(p environment.Person) uuid.UUID { return p.ID }, func(p environment.Person) string { return p.Name })
	if err != nil {
		return err
	}
	linkNext(c, page.Next)
	return writeJSON(c, http.StatusOK, each(page.Items, personShape))
}
