package handlers

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// peopleList answers GET /api/people, by name.
func (s *server) peopleList(c echo.Context) error {
	w, err := windowOf(c)
	if err != nil {
		return err
	}
	page, err := s.Identity.People(c.Request().Context(), s.actor(c), w.Query, w.Limit, w.Cursor)
	if err != nil {
		return err
	}
	linkNext(c, page.Next)
	return writeJSON(c, http.StatusOK, each(page.Items, personShape))
}
