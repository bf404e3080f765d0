package handlers

import (
	"berth/environment"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
)

// memberList answers GET /api/companies/:c/members.
func (s *server) memberList(c echo.Context) error {
	return listOfCompany(c, s.actor(c), s.Identity.Members,
		func(p environment.Person) uuid.UUID { return p.ID }, func(p environment.Person) string { return p.Name }, personShape)
}
