package handlers

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"berth/environment"
	"berth/handlers/api"

	"github.com/labstack/echo/v4"
)

// companyList answers GET /api/companies.
func (s *server) companyList(c echo.Context) error {
	w, err := windowOf(c)
	if err != nil {
		return err
	}
	all, err := s.Catalogue.Companies(c.Request().Context(), s.actor(c))
	if err != nil {
		return err
	}
	page, err := companyPage(all, w)
	if err != nil {
		return err
	}
	linkNext(c, page.Next)
	return writeJSON(c, http.StatusOK, each(page.Items, companyShape))
}

// companyPage cuts a window out of all companies. They are few, and ordered by
// id, so that a new one comes last.
func companyPage(all []environment.Company, w window) (environment.Page[environment.Company], error) {
	page := environment.Page[environment.Company]{}
	if w.Cursor != "" {
		if _, err := environment.ParseID("company", w.Cursor); err != nil {
			return page, unreadableField("invalid_cursor", "cursor", "The cursor is not one that Berth gave out.")
		}
	}
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b environment.Company) int { return cmp.Compare(a.ID.String(), b.ID.String()) })
	for _, company := range all {
		if company.ID.String() <= w.Cursor || !strings.Contains(strings.ToLower(company.Name), strings.ToLower(w.Query)) {
			continue
		}
		if len(page.Items) == w.Limit {
			page.Next = page.Items[w.Limit-1].ID.String()
			break
		}
		page.Items = append(page.Items, company)
	}
	return page, nil
}

func companyShape(company environment.Company) api.Company {
	return api.Company{ID: company.ID, Name: company.Name, CreatedAt: api.Time(company.CreatedAt), UpdatedAt: api.Time(company.UpdatedAt)}
}

// each turns a list of domain values into a list that is [] and never null.
func each[D, A any](items []D, shape func(D) A) []A {
	out := make([]A, len(items))
	for i, item := range items {
		out[i] = shape(item)
	}
	return out
}
