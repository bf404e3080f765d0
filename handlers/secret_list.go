package handlers

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// secretList answers GET /api/companies/:c/secrets.
func (s *server) secretList(c echo.Context) error {
	company, err := s.company(c)
	if err != nil {
		return err
	}
	w, err := windowOf(c)
	if err != nil {
		return err
	}
	page, err := s.Secrets.List(c.Request().Context(), s.actor(c), company.ID, w.Query, w.Limit, w.Cursor)
	if err != nil {
		return err
	}
	linkNext(c, page.Next)
	return writeJSON(c, http.StatusOK, each(page.Items, secretShape))
}
