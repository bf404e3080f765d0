package handlers

import (
	"berth/environment"
	"berth/environment/access"
	"berth/views"

	"github.com/labstack/echo/v4"
)

// shelf are the companies' secrets that a form may offer to whoever asks.
func (s *server) shelf(c echo.Context) (views.Shelf, error) {
	ctx, actor := c.Request().Context(), s.actor(c)
	companies, err := s.Catalogue.Companies(ctx, actor)
	if err != nil {
		return views.Shelf{}, err
	}
	var shelf views.Shelf
	if picked := pickedCompany(c, companies); picked != nil {
		shelf.Working = &picked.ID
	}
	for _, company := range companies {
		if access.May(actor, access.ManageSecrets, access.Company(company.ID)) != nil {
			continue
		}
		page, err := s.Secrets.List(ctx, actor, company.ID, "", environment.MaxCompanySecrets, "")
		if err != nil && environment.KindOf(err) != environment.KindNotFound {
			return views.Shelf{}, err
		}
		shelf.Companies = append(shelf.Companies, views.CompanySecrets{Company: company, Secrets: page.Items})
	}
	return shelf, nil
}
