package handlers

import (
	"net/http"

	"berth/environment"
	"berth/views"

	"github.com/labstack/echo/v4"
)

// maxOffered is how many people a form offers to choose from.
const maxOffered = 1000

// accessPage shows the people of a company and what they are there.
func (s *server) accessPage(c echo.Context) error { return s.showAccess(c, http.StatusOK, nil) }

// accessSave gives somebody a role in the company, or takes it away.
func (s *server) accessSave(c echo.Context) error {
	company, err := pathID(c, "c", "company")
	if err != nil {
		return err
	}
	f, err := form(c)
	if err != nil {
		return err
	}
	person, err := idOf("person", f.Get("person"))
	if err != nil {
		return err
	}
	if err := s.Identity.SetRole(c.Request().Context(), s.actor(c), person, company, environment.Role(f.Get("role"))); err != nil {
		if !isRefusedForm(err) {
			return err
		}
		return s.showAccess(c, http.StatusUnprocessableEntity, environment.AsError(err))
	}
	return redirect(c, done(views.AccessPath(company), views.NoticeRole))
}

func (s *server) showAccess(c echo.Context, status int, failed *environment.Error) error {
	ctx, actor := c.Request().Context(), s.actor(c)
	if err := mayManagePeople(actor); err != nil {
		return err
	}
	company, err := s.company(c)
	if err != nil {
		return err
	}
	members, err := s.Identity.Members(ctx, actor, company.ID)
	if err != nil {
		return err
	}
	everybody, err := s.Identity.People(ctx, actor, "", maxOffered, "")
	if err != nil {
		return err
	}
	page := views.NewAccessPage(company, members, everybody.Items, failed)
	return s.show(c, status, "Access", views.SectionAccess, views.AccessPage(page))
}
