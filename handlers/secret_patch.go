package handlers

import (
	"net/http"

	"berth/environment/secrets"

	"github.com/labstack/echo/v4"
)

// secretPatchBody changes what it names; its value is changed by a rotation.
type secretPatchBody struct {
	Name        optional[string] `json:"name"`
	Description nullable[string] `json:"description"`
	Disabled    optional[bool]   `json:"disabled"`
}

// secretPatch answers PATCH /api/secrets/:id.
func (s *server) secretPatch(c echo.Context) error {
	id, err := pathID(c, "id", "secret")
	if err != nil {
		return err
	}
	var body secretPatchBody
	if err := decodeBody(c, &body); err != nil {
		return err
	}
	next, err := s.Secrets.Update(c.Request().Context(), s.actor(c), id, secrets.Patch{
		Name: body.Name.pointer(), Description: body.Description.Value, SetDescription: body.Description.Set,
		Disabled: body.Disabled.pointer(),
	})
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, secretShape(next))
}
