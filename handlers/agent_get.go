package handlers

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// agentGet answers GET /api/agents/:id with the agent and its keys.
func (s *server) agentGet(c echo.Context) error {
	id, err := pathID(c, "id", "agent")
	if err != nil {
		return err
	}
	agent, keys, err := s.Identity.Agent(c.Request().Context(), s.actor(c), id)
	if err != nil {
		return err
	}
	shape := agentShape(agent)
	shape.Keys = each(keys, keyShape)
	return writeJSON(c, http.StatusOK, shape)
}
