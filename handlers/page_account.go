package handlers

import (
	"net/http"
	"net/url"
	"strconv"

	"berth/environment"
	"berth/environment/access"
	"berth/views"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
)

// accountPage shows one's own account.
func (s *server) accountPage(c echo.Context) error {
	return s.showAccount(c, http.StatusOK, nil, views.NewKeyValues(), nil, environment.Secret{})
}

// accountSave changes one's own name.
func (s *server) accountSave(c echo.Context) error {
	f, err := form(c)
	if err != nil {
		return err
	}
	name := f.Get("name")
	if _, err := s.Identity.Rename(c.Request().Context(), s.actor(c), name); err != nil {
		return s.accountRefused(c, err, &name, views.NewKeyValues())
	}
	return redirect(c, done(views.AccountPath, views.NoticeName))
}

// accountPasswordSave changes one's own password.
func (s *server) accountPasswordSave(c echo.Context) error {
	f, err := form(c)
	if err != nil {
		return err
	}
	old, next := environment.NewSecret(f.Get("currentPassword")), environment.NewSecret(f.Get("newPassword"))
	if err := s.Identity.ChangePassword(c.Request().Context(), s.actor(c), old, next); err != nil {
		return s.accountRefused(c, err, nil, views.NewKeyValues())
	}
	return redirect(c, done(views.AccountPath, views.NoticePassword))
}

// accountEndSessions ends the sessions that the form names; with none, all: one
// is signed out everywhere.
func (s *server) accountEndSessions(c echo.Context) error {
	f, err := form(c)
	if err != nil {
		return err
	}
	var ids []uuid.UUID
	actor, here := s.actor(c), len(f["id"]) == 0
	for _, text := range f["id"] {
		id, err := idOf("session", text)
		if err != nil {
			return err
		}
		ids = append(ids, id)
		here = here || id == actor.Credential.ID
	}
	if _, err := s.Identity.EndSessions(c.Request().Context(), actor, ids...); err != nil {
		return err
	}
	if here {
		return s.leave(c)
	}
	return redirect(c, done(views.AccountPath, views.NoticeEnded))
}

// accountToken makes an API token and shows it, this once.
func (s *server) accountToken(c echo.Context) error {
	f, err := form(c)
	if err != nil {
		return err
	}
	v := views.KeyValues{Name: f.Get("keyName"), LifeDays: f.Get("lifeDays")}
	account, err := s.Identity.Account(c.Request().Context(), s.actor(c))
	if err != nil {
		return err
	}
	days, err := lifeDays(v.LifeDays)
	if err == nil {
		err = sentBefore(f, "token", account.Tokens)
	}
	if err != nil {
		return s.accountRefused(c, err, nil, v)
	}
	_, text, err := s.Identity.CreateToken(c.Request().Context(), s.actor(c), v.Name, days)
	if err != nil {
		return s.accountRefused(c, err, nil, v)
	}
	return s.showAccount(c, http.StatusCreated, nil, views.NewKeyValues(), nil, text)
}

// accountRevoke revokes an API token.
func (s *server) accountRevoke(c echo.Context) error {
	id, err := pathID(c, "id", "token")
	if err != nil {
		return err
	}
	if err := s.Identity.RevokeToken(c.Request().Context(), s.actor(c), id); err != nil {
		return err
	}
	return redirect(c, done(views.AccountPath, views.NoticeRevoked))
}

// accountRefused shows the account with what was refused. name is what was typed
// for it; nil where it was not asked for.
func (s *server) accountRefused(c echo.Context, err error, name *string, v views.KeyValues) error {
	switch failed := environment.AsError(err); {
	case isRefusedForm(err):
		if name == nil {
			failed = atKey(failed)
		}
		return s.showAccount(c, http.StatusUnprocessableEntity, name, v, failed, environment.Secret{})
	case failed.Kind == environment.KindLimited:
		setRetryAfter(c, refusalOf(err))
		return s.showAccount(c, http.StatusTooManyRequests, name, v, failed, environment.Secret{})
	}
	return err
}

func (s *server) showAccount(c echo.Context, status int, name *string, v views.KeyValues, failed *environment.Error, token environment.Secret) error {
	actor := s.actor(c)
	account, err := s.Identity.Account(c.Request().Context(), actor)
	if err != nil {
		return err
	}
	companies, err := s.companiesOf(c)
	if err != nil {
		return err
	}
	if name == nil {
		name = &account.Person.Name
	}
	view := views.AccountView{Person: account.Person, Companies: companies, Sessions: account.Sessions, Tokens: account.Tokens, Current: actor.Credential.ID}
	page := views.NewAccountPage(view, *name, v, failed, s.Now())
	if !token.Empty() {
		page = page.WithToken(token.Reveal())
	}
	return s.show(c, status, "Account", views.SectionAccount, views.AccountPage(page))
}

// lifeDays reads how long a key is to count.
func lifeDays(text string) (int, error) {
	days, err := strconv.Atoi(text)
	if err != nil {
		return 0, environment.InvalidFields([]environment.FieldError{{Field: "lifeDays", Message: "Choose how long it counts."}})
	}
	return days, nil
}

// sentBefore refuses the form of a new key when one was made since the form was
// shown: it was sent twice, or its answer was loaded again.
func sentBefore(f url.Values, word string, keys []environment.Key) error {
	if !f.Has("newest") || f.Get("newest") == views.NewestKey(keys) {
		return nil
	}
	return environment.Conflict("key_made_since", "A "+word+" was made since this form was shown: the first of the list.").
		Remedy("If its text was not copied, revoke it. To make another, send the form again.")
}

// atKey is a refusal of a key, at the fields of its form: a page that has one may
// have another field that is called name.
func atKey(e *environment.Error) *environment.Error {
	moved := *e
	moved.Fields = make([]environment.FieldError, 0, len(e.Fields))
	for _, f := range e.Fields {
		if f.Field == "name" {
			f.Field = "keyName"
		}
		moved.Fields = append(moved.Fields, f)
	}
	return &moved
}

// mayManagePeople tells whether somebody may change who may do what.
func mayManagePeople(actor environment.Actor) error {
	return access.May(actor, access.ManagePeople, access.Instance)
}
