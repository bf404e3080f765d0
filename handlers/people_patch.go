package handlers

import (
	"net/http"

	"berth/environment/identity"

	"github.com/labstack/echo/v4"
)

// personPatchBody changes what it names.
type personPatchBody struct {
	Name            optional[string] `json:"name"`
	Email           optional[string] `json:"email"`
	IsInstanceAdmin optional[bool]   `json:"isInstanceAdmin"`
	Disabled        optional[bool]   `json:"disabled"`
}

// personPatch answers PATCH /api/people/:id with the person.
func (s *server) personPatch(c echo.Context) error {
	id, err := pathID(c, "id", "person")
	if err != nil {
		return err
	}
	var body personPatchBody
	if err := decodeBody(c, &body); err != nil {
		return err
	}
	person, err := s.Identity.UpdatePerson(c.Request().Context(), s.actor(c), id, identity.PersonPatch{
		Name: body.Name.pointer(), Email: body.Email.pointer(),
		InstanceAdmin: body.IsInstanceAdmin.pointer(), Disabled: body.Disabled.pointer(),
	})
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, personShape(person))
}
