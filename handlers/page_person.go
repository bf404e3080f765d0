package handlers

import (
	"net/http"
	"net/url"

	"berth/environment"
	"berth/environment/identity"
	"berth/views"

	"github.com/labstack/echo/v4"
)

// personPage shows one person to an instance admin.
func (s *server) personPage(c echo.Context) error {
	return s.showPerson(c, http.StatusOK, nil, nil, "")
}

// personSave changes what somebody may do, or whether they may sign in.
func (s *server) personSave(c echo.Context) error {
	id, err := pathID(c, "id", "person")
	if err != nil {
		return err
	}
	f, err := form(c)
	if err != nil {
		return err
	}
	ctx, actor := c.Request().Context(), s.actor(c)
	if f.Has("disabled") {
		disabled := f.Get("disabled") == "yes"
		_, err = s.Identity.UpdatePerson(ctx, actor, id, identity.PersonPatch{Disabled: &disabled})
	} else {
		err = s.saveRights(c, f)
	}
	if err != nil {
		if !isRefusedForm(err) {
			return err
		}
		return s.showPerson(c, http.StatusUnprocessableEntity, f, environment.AsError(err), "")
	}
	if again, err := s.Identity.Again(ctx, actor); err != nil || mayManagePeople(again) != nil {
		return redirect(c, views.AccountPath) // who took their own rights away
	}
	return redirect(c, done(views.PersonPath(id), views.NoticeRole))
}

// saveRights changes the roles that the form gives; the instance admin first,
// which may be refused.
func (s *server) saveRights(c echo.Context, f url.Values) error {
	id, err := pathID(c, "id", "person")
	if err != nil {
		return err
	}
	ctx, actor, admin := c.Request().Context(), s.actor(c), f.Has("instanceAdmin")
	companies, err := s.companiesOf(c)
	if err != nil {
		return err
	}
	if _, err := s.Identity.UpdatePerson(ctx, actor, id, identity.PersonPatch{InstanceAdmin: &admin}); err != nil {
		return err
	}
	again, err := s.Identity.Again(ctx, actor)
	if err != nil {
		return err
	}
	for _, company := range companies {
		if field := views.RoleField(company.ID); f.Has(field) && mayManagePeople(again) == nil {
			if err := s.Identity.SetRole(ctx, actor, id, company.ID, environment.Role(f.Get(field))); err != nil {
				return err
			}
		}
	}
	return nil
}

// personEnd ends somebody's sessions, and revokes their tokens if asked.
func (s *server) personEnd(c echo.Context) error {
	id, err := pathID(c, "id", "person")
	if err != nil {
		return err
	}
	f, err := form(c)
	if err != nil {
		return err
	}
	if _, err := s.Identity.SignOutPerson(c.Request().Context(), s.actor(c), id, f.Has("tokens")); err != nil {
		return err
	}
	return redirect(c, done(views.PersonPath(id), views.NoticeSessionsEnded))
}

// personLink makes a link for a new password and shows it, this once.
func (s *server) personLink(c echo.Context) error {
	id, err := pathID(c, "id", "person")
	if err != nil {
		return err
	}
	_, token, err := s.Identity.ResetLink(c.Request().Context(), s.actor(c), id)
	if err != nil {
		if !isRefusedForm(err) {
			return err
		}
		return s.showPerson(c, http.StatusUnprocessableEntity, nil, environment.AsError(err), "")
	}
	return s.showPerson(c, http.StatusCreated, nil, nil, s.linkAddress(c, token))
}

// showPerson shows the page. typed are the roles that were chosen for what
// failed; nil for those that count. link, unless "", is shown this once.
func (s *server) showPerson(c echo.Context, status int, typed url.Values, failed *environment.Error, link string) error {
	id, err := pathID(c, "id", "person")
	if err != nil {
		return err
	}
	actor := s.actor(c)
	person, err := s.Identity.Person(c.Request().Context(), actor, id)
	if err != nil {
		return err
	}
	companies, err := s.companiesOf(c)
	if err != nil {
		return err
	}
	if typed != nil && !typed.Has("disabled") {
		person.Roles = formRoles(typed, companies)
	}
	page := views.NewPersonPage(person, companies, person.ID == actor.ID, failed, s.Now())
	if link != "" {
		page = page.WithLink(link)
	}
	return s.show(c, status, person.Name, views.SectionPeople, views.PersonPage(page))
}
