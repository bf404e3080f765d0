package handlers

import (
	"net/http"
	"strings"
	"time"

	"berth/environment"
	"berth/views"

	"github.com/labstack/echo/v4"
)

// recordLimit is how many entries a page of the log shows.
const recordLimit = 100

// instanceActivityPage shows who did what in the whole instance.
func (s *server) instanceActivityPage(c echo.Context) error {
	return s.showRecord(c, views.Record{}, views.SectionInstanceActivity)
}

// companyActivityPage shows who did what in a company.
func (s *server) companyActivityPage(c echo.Context) error {
	id, err := pathID(c, "c", "company")
	if err != nil {
		return err
	}
	company, err := s.Catalogue.Company(c.Request().Context(), s.actor(c), id)
	if err != nil {
		return err
	}
	return s.showRecord(c, views.Record{Company: &company, Filter: environment.ActivityFilter{CompanyID: &company.ID}}, views.SectionCompanyActivity)
}

func (s *server) showRecord(c echo.Context, r views.Record, section views.Section) error {
	r.Query = views.ActivityQuery{Action: strings.TrimSpace(c.QueryParam("action")), Actor: strings.TrimSpace(c.QueryParam("actor")),
		Since: c.QueryParam("since"), Until: c.QueryParam("until")}
	status := http.StatusOK
	err := readRecord(c, &r)
	if err == nil {
		r.Page, err = s.Catalogue.Activity(c.Request().Context(), s.actor(c), r.Filter)
	}
	if err != nil {
		if environment.KindOf(err) != environment.KindUnreadable {
			return err
		}
		r.Failed, status = environment.AsError(err), http.StatusBadRequest
		s.logRefusal(c, refusalOf(err))
	}
	return s.show(c, status, "Activity", section, views.ActivityPage(views.NewActivityPage(r, s.Now())))
}

// readRecord makes a filter of what was typed. A day counts whole, in UTC.
func readRecord(c echo.Context, r *views.Record) error {
	f := &r.Filter
	f.Action, f.Actor, f.Limit, f.Cursor = r.Query.Action, r.Query.Actor, recordLimit, c.QueryParam("cursor")
	for field, text := range map[string]string{"action": f.Action, "actor": f.Actor} {
		if len(text) > 200 || strings.ContainsRune(text, 0) {
			return unreadableField("invalid_query", field, "The filter cannot be read.")
		}
	}
	var err error
	if f.Since, err = day("since", r.Query.Since, 0); err != nil {
		return err
	}
	f.Until, err = day("until", r.Query.Until, 24*time.Hour)
	return err
}

// day is the beginning of a day, and a while after; nil for none.
func day(field, text string, after time.Duration) (*time.Time, error) {
	if text == "" {
		return nil, nil
	}
	at, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return nil, unreadableField("invalid_query", field, "A day is written as 2026-09-14.")
	}
	at = at.Add(after)
	return &at, nil
}
