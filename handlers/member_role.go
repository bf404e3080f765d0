package handlers

import (
	"net/http"

	"berth/environment"
	"berth/handlers/api"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
)

// memberSet answers PUT /api/companies/:c/members/:id with the person.
func (s *server) memberSet(c echo.Context) error {
	company, id, err := memberOf(c)
	if err != nil {
		return err
	}
	var body api.SetRole
	if err := decodeBody(c, &body); err != nil {
		return err
	}
	if body.Role == "" {
		body.Role = "none" // refused by the service; "" would take the role away, as DELETE does
	}
	ctx, actor := c.Request().Context(), s.actor(c)
	if err := s.Identity.SetRole(ctx, actor, id, company, environment.Role(body.Role)); err != nil {
		return err
	}
	person, err := s.Identity.Person(ctx, actor, id)
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, personShape(person))
}

// memberRemove answers DELETE /api/companies/:c/members/:id.
func (s *server) memberRemove(c echo.Context) error {
	company, id, err := memberOf(c)
	if err != nil {
		return err
	}
	if err := s.Identity.SetRole(c.Request().Context(), s.actor(c), id, company, ""); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// memberOf reads the company and the person out of the address.
func memberOf(c echo.Context) (company, person uuid.UUID, err error) {
	if company, err = pathID(c, "c", "company"); err != nil {
		return company, person, err
	}
	person, err = pathID(c, "id", "person")
	return company, person, err
}
