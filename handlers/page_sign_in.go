package handlers

import (
	"net/http"

	"berth/environment"
	"berth/environment/access"
	"berth/views"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"
)

// signInPage asks who somebody is. Whoever is signed in already goes on.
func (s *server) signInPage(c echo.Context) error {
	next := localPath(c.QueryParam("next"))
	switch {
	case s.Mode == modeLocalTrusted:
		return s.showSignIn(c, http.StatusOK, views.NewSignInNotNeeded(next))
	case s.actor(c).Kind == environment.ActorPerson:
		return c.Redirect(http.StatusSeeOther, next)
	}
	ended := sessionToken(c) != "" // a cookie that names no session any more
	return s.showSignIn(c, http.StatusOK, views.NewSignIn("", next, ended, nil))
}

// signIn checks a password and opens a session. What was wrong is not told
// apart, and of what was typed only the address is kept.
func (s *server) signIn(c echo.Context) error {
	f, err := form(c)
	if err != nil {
		return err
	}
	email, next := f.Get("email"), localPath(f.Get("next"))
	if s.Mode == modeLocalTrusted {
		return s.showSignIn(c, http.StatusOK, views.NewSignInNotNeeded(next))
	}
	session, actor, err := s.Identity.SignIn(c.Request().Context(), email, environment.NewSecret(f.Get("password")), s.client(c))
	if err == nil {
		err = s.signedIn(c, session)
	}
	if err == nil {
		return redirect(c, startOf(actor, next))
	}
	switch r := refusalOf(err); r.err.Kind {
	case environment.KindUnauthenticated:
		return s.showSignIn(c, http.StatusUnprocessableEntity, views.NewSignIn(email, next, false, r.err))
	case environment.KindLimited, environment.KindUnavailable, environment.KindTimeout:
		s.logRefusal(c, r)
		setRetryAfter(c, r)
		return s.showSignIn(c, r.status, views.NewSignIn(email, next, false, r.err))
	}
	return err
}

// startOf is where somebody who signed in goes: on to next, but not to the list of
// environments where they may not read it.
func startOf(actor environment.Actor, next string) string {
	if next == views.Environments && access.May(actor, access.ReadEnvironments, access.Somewhere) != nil {
		return views.AccountPath
	}
	return next
}

// signInLimited shows the form to an address that asked for it too often.
func (s *server) signInLimited(c echo.Context, r refusal) error {
	f, err := form(c)
	if err != nil {
		f = nil // it is refused anyhow
	}
	return s.showSignIn(c, r.status, views.NewSignInLimited(f.Get("email"), localPath(f.Get("next")), r.err))
}

func (s *server) showSignIn(c echo.Context, status int, p views.SignInProps) error {
	return s.showOutside(c, status, "Sign in", views.SignIn(p))
}

// showOutside is show for those who are not signed in: no navigation around it.
func (s *server) showOutside(c echo.Context, status int, title string, body templ.Component) error {
	layout := views.NewLayout(title, views.SectionNone, nil, nil, "", pageAssets()).WithNotice(views.Notice(c.QueryParam("done")))
	return render(c, status, views.Outside(layout, body))
}

// signOut ends the session of this browser.
func (s *server) signOut(c echo.Context) error {
	if err := s.Identity.SignOut(c.Request().Context(), s.actor(c)); err != nil {
		return err
	}
	return s.leave(c)
}

// leave takes the cookie away and goes where one signs in.
func (s *server) leave(c echo.Context) error {
	if err := s.signedOut(c); err != nil {
		return err
	}
	return redirect(c, done(views.SignInPath, views.NoticeSignedOut))
}
