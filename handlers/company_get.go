package handlers

import (
	"net/http"

	"berth/environment"

	"github.com/labstack/echo/v4"
)

// companyGet answers GET /api/companies/:c.
func (s *server) companyGet(c echo.Context) error {
	company, err := s.company(c)
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, companyShape(company))
}

// company returns the company of the address; KindNotFound when there is none.
func (s *server) company(c echo.Context) (environment.Company, error) {
	id, err := pathID(c, "c", "company")
	if err != nil {
		return environment.Company{}, err
	}
	return s.Catalogue.Company(c.Request().Context(), s.actor(c), id)
}
