package handlers

import (
	"net/http"

	"berth/environment"
	"berth/views"

	"github.com/labstack/echo/v4"
)

// refuseDeleted shows the form of an environment that somebody deleted meanwhile,
// with what was typed, to be saved as a new one. What the log knows nothing of
// was never there: that is the ordinary refusal.
func (s *server) refuseDeleted(c echo.Context, values views.FormValues, err error) error {
	page, logErr := s.Catalogue.Activity(c.Request().Context(), s.actor(c),
		environment.ActivityFilter{EntityType: "environment", EntityID: values.ID.String(), Action: "environment.deleted", Limit: 1})
	if logErr != nil || len(page.Items) == 0 {
		return err
	}
	r := refusalOf(err)
	r.status = http.StatusUnprocessableEntity
	s.logRefusal(c, r)
	f := views.Form{Deleted: &views.Deletion{Entry: page.Items[0]}}
	f.Values, f.Deleted.Lost = values.AsNew()
	return s.showForm(c, r.status, f)
}
