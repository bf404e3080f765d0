package handlers

import (
	"net/http"

	"berth/environment/identity"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
)

// agentBody makes an agent.
type agentBody struct {
	Name                 string           `json:"name"`
	AdapterType          optional[string] `json:"adapterType"`
	DefaultEnvironmentID *uuid.UUID       `json:"defaultEnvironmentId"`
}

// agentCreate answers POST /api/companies/:c/agents.
func (s *server) agentCreate(c echo.Context) error {
	company, err := pathID(c, "c", "company")
	if err != nil {
		return err
	}
	var body agentBody
	if err := decodeBody(c, &body); err != nil {
		return err
	}
	agent, err := s.Identity.CreateAgent(c.Request().Context(), s.actor(c), company, identity.NewAgent{
		Name: body.Name, AdapterType: body.AdapterType.Value, DefaultEnvironmentID: body.DefaultEnvironmentID,
	})
	if err != nil {
		return err
	}
	c.Response().Header().Set("Location", "/api/agents/"+agent.ID.String())
	return writeJSON(c, http.StatusCreated, agentShape(agent))
}
