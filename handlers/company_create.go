package handlers

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// companyBody is a new company.
type companyBody struct {
	Name string `json:"name"`
}

// companyCreate answers POST /api/companies.
func (s *server) companyCreate(c echo.Context) error {
	var body companyBody
	if err := decodeBody(c, &body); err != nil {
		return err
	}
	company, err := s.Catalogue.CreateCompany(c.Request().Context(), s.actor(c), body.Name)
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusCreated, companyShape(company))
}
