package handlers

import (
	"net/http"

	"berth/environment"
	"berth/environment/identity"
	"berth/views"

	"github.com/labstack/echo/v4"
)

// linkPage shows what a one-time link is for. To look does not use it.
func (s *server) linkPage(c echo.Context) error {
	if s.Mode == modeLocalTrusted {
		return s.showSignIn(c, http.StatusOK, views.NewSignInNotNeeded(views.Environments))
	}
	link, err := s.Identity.OpenLink(c.Request().Context(), c.Param("token"))
	if err != nil {
		return s.showDeadLink(c, err)
	}
	return s.showLink(c, http.StatusOK, link, views.LinkValues{}, nil)
}

// linkUse uses it: whoever does is signed in.
func (s *server) linkUse(c echo.Context) error {
	f, err := form(c)
	if err != nil {
		return err
	}
	if s.Mode == modeLocalTrusted {
		return s.showSignIn(c, http.StatusOK, views.NewSignInNotNeeded(views.Environments))
	}
	ctx, token := c.Request().Context(), c.Param("token")
	link, err := s.Identity.OpenLink(ctx, token)
	if err != nil {
		return s.showDeadLink(c, err)
	}
	values := views.LinkValues{Email: f.Get("email"), Name: f.Get("name")}
	in := identity.Redemption{Email: values.Email, Name: values.Name, Password: environment.NewSecret(f.Get("password"))}
	session, actor, err := s.Identity.Redeem(ctx, token, in, s.client(c))
	if err == nil {
		err = s.signedIn(c, session)
	}
	if err == nil {
		return redirect(c, done(startOf(actor, views.Environments), views.NoticeWelcome))
	}
	switch r := refusalOf(err); {
	case isDeadLink(r.err):
		return s.showDeadLink(c, err)
	case isRefusedForm(err):
		return s.showLink(c, http.StatusUnprocessableEntity, link, values, r.err)
	case r.err.Kind == environment.KindUnavailable:
		s.logRefusal(c, r)
		setRetryAfter(c, r)
		return s.showLink(c, r.status, link, values, r.err)
	}
	return err
}

// isDeadLink reports whether an error is about the link itself.
func isDeadLink(e *environment.Error) bool {
	switch e.Code {
	case "link_used", "link_not_found", "admin_exists":
		return true
	}
	return false
}

// showDeadLink says why a link opens nothing; any other error is returned.
func (s *server) showDeadLink(c echo.Context, err error) error {
	r := refusalOf(err)
	if !isDeadLink(r.err) {
		return err
	}
	page := views.NewDeadLink(r.err)
	return s.showOutside(c, r.status, page.Title(), views.LinkPage(page))
}

func (s *server) showLink(c echo.Context, status int, link environment.Link, v views.LinkValues, failed *environment.Error) error {
	companies, err := s.Identity.LinkCompanies(c.Request().Context(), link)
	if err != nil {
		return err
	}
	page := views.NewLinkPage(c.Param("token"), link, companies, v, failed, s.Now())
	return s.showOutside(c, status, page.Title(), views.LinkPage(page))
}

// linkAddress is a link's whole address, as it is passed on.
func (s *server) linkAddress(c echo.Context, token environment.Secret) string {
	return s.outerAddress(c) + views.LinkPath(token.Reveal())
}

// outerAddress is the origin under which others reach this server.
func (s *server) outerAddress(c echo.Context) string {
	if public := publicOrigin(s.PublicURL); public != "" {
		return public
	}
	scheme := "http://"
	if isSecure(c) {
		scheme = "https://"
	}
	return scheme + c.Request().Host
}
