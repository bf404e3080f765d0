package handlers

import (
	"encoding/json"
	"net/http"

	"berth/environment"
	"berth/handlers/api"

	"github.com/labstack/echo/v4"
)

// environmentCheck answers POST /api/environments/check: what is wrong with
// values that are not saved. That they are wrong is a result, not an error.
func (s *server) environmentCheck(c echo.Context) error {
	var body draftBody
	if err := decodeBody(c, &body); err != nil {
		return err
	}
	draft, err := body.draft()
	if err != nil {
		return err
	}
	if draft.NewSecrets, err = s.newSecrets(c, body.NewSecrets); err != nil {
		return err
	}
	out, err := s.Catalogue.Check(c.Request().Context(), s.actor(c), body.EnvironmentID, draft)
	answer := api.Check{OK: err == nil, Fields: []environment.FieldError{}, Warnings: []environment.FieldError{}}
	if err != nil {
		e := environment.AsError(err)
		if e.Kind != environment.KindInvalid || len(e.Fields) == 0 {
			return err
		}
		answer.Fields = e.Fields
	} else {
		answer.Config = configShape(draft.Driver, out.Config)
	}
	if len(out.Warnings) > 0 {
		answer.Warnings = out.Warnings
	}
	if answer.Config == nil {
		answer.Config = json.RawMessage("null")
	}
	return writeJSON(c, http.StatusOK, answer)
}
