package handlers

import (
	"net/http"

	"berth/environment"
	"berth/handlers/api"

	"github.com/labstack/echo/v4"
)

// activityList answers GET /api/activity: who did what, newest first.
func (s *server) activityList(c echo.Context) error {
	w, err := windowOf(c)
	if err != nil {
		return err
	}
	filter := environment.ActivityFilter{
		EntityType: c.QueryParam("entityType"), EntityID: c.QueryParam("entityId"), Limit: w.Limit, Cursor: w.Cursor,
	}
	if !isText(filter.EntityType, maxQuery) || !isText(filter.EntityID, maxQuery) {
		return unreadable("invalid_query", "entityType and entityId are words of at most %d characters.", maxQuery)
	}
	if filter.CompanyID, err = queryID(c, "companyId", "company"); err != nil {
		return err
	}
	page, err := s.Catalogue.Activity(c.Request().Context(), s.actor(c), filter)
	if err != nil {
		return err
	}
	linkNext(c, page.Next)
	return writeJSON(c, http.StatusOK, each(page.Items, activityShape))
}

func activityShape(a environment.Activity) api.Activity {
	details := a.Details
	if details == nil {
		details = map[string]any{}
	}
	return api.Activity{
		ID: a.ID, CompanyID: a.CompanyID, ActorType: string(a.ActorKind), ActorName: a.ActorName, Action: a.Action,
		EntityType: a.EntityType, EntityID: a.EntityID, Details: details, RequestID: a.RequestID, CreatedAt: api.Time(a.CreatedAt),
	}
}
