package handlers

import (
	"net/http"

	"berth/environment"
	"berth/views"

	"github.com/labstack/echo/v4"
)

// trustDialog offers the keys that the host presented at the last test. It asks
// nobody: that is what a test is for.
func (s *server) trustDialog(c echo.Context) error {
	return s.showTrust(c, http.StatusOK, c.QueryParam("fingerprint"), nil)
}

// trustKey trusts one of them, if the host still presents it.
func (s *server) trustKey(c echo.Context) error {
	id, err := pathID(c, "id", "environment")
	if err != nil {
		return err
	}
	f, err := form(c)
	if err != nil {
		return err
	}
	_, err = s.Catalogue.TrustHostKey(c.Request().Context(), s.actor(c), id, f.Get("fingerprint"), f.Has("replace"))
	if err != nil {
		if kind := environment.KindOf(err); kind == environment.KindForbidden || kind == environment.KindNotFound || kind == environment.KindInternal || isOff(err) {
			return err
		}
		return s.showTrust(c, http.StatusUnprocessableEntity, f.Get("fingerprint"), environment.AsError(err))
	}
	return redirect(c, done(views.EnvironmentPath(id), views.NoticeTrusted))
}

func (s *server) showTrust(c echo.Context, status int, picked string, failed *environment.Error) error {
	id, err := pathID(c, "id", "environment")
	if err != nil {
		return err
	}
	v, err := s.Catalogue.Get(c.Request().Context(), s.actor(c), id)
	if err != nil {
		return err
	}
	var presented []environment.HostKey
	if v.Last != nil {
		presented = v.Last.Presented
	}
	return s.showPart(c, status, "Trust "+v.Name, views.SectionEnvironments, views.TrustDialog(views.NewTrustDialog(v.Environment, presented, picked, failed)))
}
