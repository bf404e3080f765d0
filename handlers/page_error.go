package handlers

import (
	"net/http"

	"berth/environment"
	"berth/environment/access"
	"berth/views"

	"github.com/labstack/echo/v4"
)

// errorPage shows a refusal as a whole page. The navigation does without the
// companies when the database is away, and nobody who has not signed in gets one.
func (s *server) errorPage(c echo.Context, r refusal) error {
	actor := s.actor(c)
	if r.err.Kind == environment.KindLimited && c.Path() == views.SignInPath {
		return s.signInLimited(c, r)
	}
	shown := *r.err
	if r.status == http.StatusNotFound {
		shown.Kind = environment.KindNotFound // no route is as good as no such thing
	}
	account := ""
	if actor.Kind == environment.ActorPerson {
		account = actor.Name
	}
	page := views.NewErrorPage(&shown, requestID(c)).For(account, access.May(actor, access.ReadEnvironments, access.Somewhere) == nil)
	if actor.Kind == environment.ActorNone {
		return s.showOutside(c, r.status, page.Title(), views.ErrorPage(page))
	}
	var companies []environment.Company
	if r.err.Kind != environment.KindUnavailable {
		if known, err := s.companiesOf(c); err == nil {
			companies = known
		}
	}
	return render(c, r.status, views.Layout(s.frame(c, page.Title(), views.SectionNone, companies), views.ErrorPage(page)))
}

// errorFragment shows a refusal in the corner of the page that htmx is on,
// whatever was to be replaced.
func (s *server) errorFragment(c echo.Context, r refusal) error {
	h := c.Response().Header()
	h.Set("HX-Retarget", "#toasts")
	h.Set("HX-Reswap", "beforeend")
	return render(c, r.status, views.ErrorFragment(views.NewErrorPage(r.err, requestID(c))))
}
