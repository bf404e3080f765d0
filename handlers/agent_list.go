package handlers

import (
	"berth/environment"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
)

// agentList answers GET /api/companies/:c/agents.
func (s *server) agentList(c echo.Context) error {
	return listOfCompany(c, s.actor(c), s.Identity.Agents,
		func(a environment.Agent) uuid.UUID { return a.ID }, func(a environment.Agent) string { return a.Name }, agentShape)
}
