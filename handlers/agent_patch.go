package handlers

import (
	"net/http"

	"berth/environment"
	"berth/environment/identity"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
)

// agentPatchBody changes what it names.
type agentPatchBody struct {
	Name                 optional[string]    `json:"name"`
	AdapterType          optional[string]    `json:"adapterType"`
	Status               optional[string]    `json:"status"`
	DefaultEnvironmentID nullable[uuid.UUID] `json:"defaultEnvironmentId"`
}

// agentPatch answers PATCH /api/agents/:id with the agent. null clears the
// default environment.
func (s *server) agentPatch(c echo.Context) error {
	id, err := pathID(c, "id", "agent")
	if err != nil {
		return err
	}
	var body agentPatchBody
	if err := decodeBody(c, &body); err != nil {
		return err
	}
	agent, err := s.Identity.UpdateAgent(c.Request().Context(), s.actor(c), id, identity.AgentPatch{
		Name: body.Name.pointer(), AdapterType: body.AdapterType.pointer(), Status: (*environment.AgentStatus)(body.Status.pointer()),
		DefaultEnvironmentID: body.DefaultEnvironmentID.Value,
		ClearDefault:         body.DefaultEnvironmentID.Set && body.DefaultEnvironmentID.Value == nil,
	})
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, agentShape(agent))
}
