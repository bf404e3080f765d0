package handlers

import (
	"net/http"
	"time"

	"berth/environment"
	"berth/handlers/api"

	"github.com/labstack/echo/v4"
)

// activityList answers GET /api/activity: who did what in the instance, newest
// first. With ?format= it is an export.
func (s *server) activityList(c echo.Context) error {
	filter, err := activityFilter(c)
	if err != nil {
		return err
	}
	if filter.CompanyID, err = queryID(c, "companyId", "company"); err != nil {
		return err
	}
	return s.answerActivity(c, filter)
}

// companyActivityList answers GET /api/companies/:c/activity: the same, of what
// belongs to the company.
func (s *server) companyActivityList(c echo.Context) error {
	company, err := s.company(c)
	if err != nil {
		return err
	}
	filter, err := activityFilter(c)
	if err != nil {
		return err
	}
	filter.CompanyID = &company.ID
	return s.answerActivity(c, filter)
}

func (s *server) answerActivity(c echo.Context, filter environment.ActivityFilter) error {
	format, err := choice(c, "format", "csv", "json")
	if err != nil {
		return err
	}
	if format != "" {
		return s.exportActivity(c, filter, format)
	}
	page, err := s.Catalogue.Activity(c.Request().Context(), s.actor(c), filter)
	if err != nil {
		return err
	}
	linkNext(c, page.Next)
	return writeJSON(c, http.StatusOK, each(page.Items, activityShape))
}

// activityFilter reads the filter of the log.
func activityFilter(c echo.Context) (environment.ActivityFilter, error) {
	w, err := windowOf(c)
	if err != nil {
		return environment.ActivityFilter{}, err
	}
	f := environment.ActivityFilter{Limit: w.Limit, Cursor: w.Cursor}
	for name, into := range map[string]*string{"entityType": &f.EntityType, "entityId": &f.EntityID, "action": &f.Action, "actor": &f.Actor} {
		*into = c.QueryParam(name)
		if !isText(*into, maxQuery) {
			return f, unreadableField("invalid_query", name, "%s is text of at most %d characters.", name, maxQuery)
		}
	}
	if f.Since, err = instantOf(c, "since", 0); err != nil {
		return f, err
	}
	f.Until, err = instantOf(c, "until", 24*time.Hour)
	return f, err
}

// instantOf reads an optional time of the query: RFC 3339, or a day in UTC, which
// is its beginning and a while after.
func instantOf(c echo.Context, name string, after time.Duration) (*time.Time, error) {
	text := c.QueryParam(name)
	if text == "" {
		return nil, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		var day time.Time
		if day, err = time.Parse(time.DateOnly, text); err == nil {
			at = day.Add(after)
		}
	}
	if err != nil || at.Year() < 1 || at.Year() > 9999 {
		return nil, unreadableField("invalid_query", name, "%s is a time such as 2026-09-14T08:00:00Z, or a day such as 2026-09-14.", name)
	}
	return &at, nil
}

func activityShape(a environment.Activity) api.Activity {
	return api.Activity{
		ID: a.ID, CompanyID: a.CompanyID, ActorType: string(a.ActorKind), ActorID: a.ActorID, ActorName: a.ActorName, Action: a.Action,
		EntityType: a.EntityType, EntityID: a.EntityID, Details: mapOrEmpty(a.Details), RequestID: a.RequestID, CreatedAt: api.Time(a.CreatedAt),
	}
}
