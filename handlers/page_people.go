package handlers

import (
	"net/http"
	"net/url"

	"berth/environment"
	"berth/environment/identity"
	"berth/views"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
)

// peoplePage lists the people and the open invitations.
func (s *server) peoplePage(c echo.Context) error {
	page, err := s.people(c, views.InvitationValues{}, nil)
	if err != nil {
		return err
	}
	return s.showPeople(c, http.StatusOK, page)
}

// peopleInvite invites somebody and shows the link, this once.
func (s *server) peopleInvite(c echo.Context) error {
	f, err := form(c)
	if err != nil {
		return err
	}
	ctx, actor := c.Request().Context(), s.actor(c)
	if err := mayManagePeople(actor); err != nil {
		return err
	}
	companies, err := s.companiesOf(c)
	if err != nil {
		return err
	}
	v := views.InvitationValues{Email: f.Get("email"), InstanceAdmin: f.Has("instanceAdmin"), Roles: formRoles(f, companies)}
	link, token, err := s.Identity.Invite(ctx, actor, identity.Invitation{Email: v.Email, InstanceAdmin: v.InstanceAdmin, Roles: v.Roles})
	if err != nil {
		if !isRefusedForm(err) {
			return err
		}
		page, shown := s.people(c, v, environment.AsError(err))
		if shown != nil {
			return shown
		}
		return s.showPeople(c, http.StatusUnprocessableEntity, page)
	}
	page, err := s.people(c, views.InvitationValues{}, nil)
	if err != nil {
		return err
	}
	return s.showPeople(c, http.StatusCreated, page.WithLink(link.Email, s.linkAddress(c, token)))
}

// formRoles reads the role in each company that a form chose one for.
func formRoles(f url.Values, companies []environment.Company) map[uuid.UUID]environment.Role {
	roles := map[uuid.UUID]environment.Role{}
	for _, company := range companies {
		if role := f.Get(views.RoleField(company.ID)); role != "" {
			roles[company.ID] = environment.Role(role)
		}
	}
	return roles
}

// peopleUninvite takes an invitation back.
func (s *server) peopleUninvite(c echo.Context) error {
	id, err := pathID(c, "id", "link")
	if err != nil {
		return err
	}
	if err := s.Identity.RevokeLink(c.Request().Context(), s.actor(c), id); err != nil {
		return err
	}
	return redirect(c, done(views.PeoplePath, views.NoticeRevoked))
}

// people reads the page.
func (s *server) people(c echo.Context, v views.InvitationValues, failed *environment.Error) (views.PeoplePageProps, error) {
	ctx, actor := c.Request().Context(), s.actor(c)
	w, err := windowOf(c)
	if err != nil {
		return views.PeoplePageProps{}, err
	}
	all, err := s.Identity.People(ctx, actor, "", w.Limit, w.Cursor)
	if err != nil {
		return views.PeoplePageProps{}, err
	}
	links, err := s.Identity.Links(ctx, actor)
	if err != nil {
		return views.PeoplePageProps{}, err
	}
	companies, err := s.companiesOf(c)
	if err != nil {
		return views.PeoplePageProps{}, err
	}
	view := views.PeopleView{People: all.Items, Links: links, Companies: companies, LocalTrusted: s.Mode == modeLocalTrusted}
	if all.Next != "" {
		view.More = views.PeoplePath + "?cursor=" + url.QueryEscape(all.Next)
	}
	return views.NewPeoplePage(view, v, failed, s.Now()), nil
}

func (s *server) showPeople(c echo.Context, status int, p views.PeoplePageProps) error {
	return s.show(c, status, "People", views.SectionPeople, views.PeoplePage(p))
}
