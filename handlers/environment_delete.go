package handlers

import (
	"net/http"

	"berth/environment"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
)

// environmentDelete answers DELETE /api/environments/:id with the row that is
// gone. reassignTo, in the query or the body, takes over what pointed at it.
func (s *server) environmentDelete(c echo.Context) error {
	id, err := pathID(c, "id", "environment")
	if err != nil {
		return err
	}
	options, err := deleteOptions(c)
	if err != nil {
		return err
	}
	ctx, actor := c.Request().Context(), s.actor(c)
	view, err := s.Catalogue.Get(ctx, actor, id)
	if err != nil {
		return err
	}
	gone, err := s.Catalogue.Delete(ctx, actor, id, options)
	if err != nil {
		return err
	}
	view.Environment = gone
	return writeJSON(c, http.StatusOK, environmentShape(view))
}

func deleteOptions(c echo.Context) (environment.DeleteOptions, error) {
	var body struct {
		ReassignTo *uuid.UUID `json:"reassignTo"`
	}
	if err := decodeOptionalBody(c, &body); err != nil {
		return environment.DeleteOptions{}, err
	}
	revision, err := ifMatch(c)
	if err != nil {
		return environment.DeleteOptions{}, err
	}
	to, err := queryID(c, "reassignTo", "environment")
	if to == nil {
		to = body.ReassignTo
	}
	return environment.DeleteOptions{ReassignTo: to, IfRevision: revision}, err
}
