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
	gone, err := s.Catalogue.Delete(c.Request().Context(), s.actor(c), id, options)
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, environmentShape(gone))
}

// environmentDeleteBody says what becomes of what pointed at the environment.
type environmentDeleteBody struct {
	ReassignTo *uuid.UUID `json:"reassignTo"`
}

func deleteOptions(c echo.Context) (environment.DeleteOptions, error) {
	var body environmentDeleteBody
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
