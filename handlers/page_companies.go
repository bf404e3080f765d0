package handlers

import (
	"net/http"
	"strings"

	"berth/environment"
	"berth/environment/access"
	"berth/views"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
)

// companiesPage lists the companies.
func (s *server) companiesPage(c echo.Context) error {
	return s.showCompanies(c, http.StatusOK, "", nil)
}

// companiesPost makes a company, or picks the one to work in.
func (s *server) companiesPost(c echo.Context) error {
	f, err := form(c)
	if err != nil {
		return err
	}
	if f.Has("current") {
		return s.pickCompany(c, f.Get("current"), f.Get("back"))
	}
	company, err := s.Catalogue.CreateCompany(c.Request().Context(), s.actor(c), f.Get("name"))
	if err != nil {
		if !isRefusedForm(err) {
			return err
		}
		return s.showCompanies(c, http.StatusUnprocessableEntity, f.Get("name"), environment.AsError(err))
	}
	rememberCompany(c, company.ID)
	return redirect(c, done(views.RunsPath(company.ID), views.NoticeCompany))
}

// pickCompany remembers a company and goes back; from the page of another
// company to its runs.
func (s *server) pickCompany(c echo.Context, text, back string) error {
	id, err := idOf("company", text)
	if err != nil {
		return err
	}
	if _, err := s.Catalogue.Company(c.Request().Context(), s.actor(c), id); err != nil {
		return err
	}
	rememberCompany(c, id)
	if strings.HasPrefix(back, views.CompaniesPath+"/") {
		return redirect(c, views.RunsPath(id))
	}
	return redirect(c, localPath(back))
}

func rememberCompany(c echo.Context, id uuid.UUID) {
	c.SetCookie(&http.Cookie{Name: companyCookie, Value: id.String(), Path: "/", MaxAge: 365 * 86400,
		Secure: isSecure(c), HttpOnly: true, SameSite: http.SameSiteLaxMode})
}

func (s *server) showCompanies(c echo.Context, status int, name string, failed *environment.Error) error {
	companies, err := s.Catalogue.Companies(c.Request().Context(), s.actor(c))
	if err != nil {
		return err
	}
	mayMake := access.May(s.actor(c), access.ManageCompanies, access.Instance) == nil
	return s.show(c, status, "Companies", views.SectionCompanies, views.CompaniesPage(views.NewCompaniesPage(companies, mayMake, name, failed)))
}
