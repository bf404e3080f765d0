package handlers

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// agentKeyDelete answers DELETE /api/agents/:id/keys/:kid: the key counts no more.
func (s *server) agentKeyDelete(c echo.Context) error {
	agent, err := pathID(c, "id", "agent")
	if err != nil {
		return err
	}
	id, err := pathID(c, "kid", "key")
	if err != nil {
		return err
	}
	if err := s.Identity.RevokeAgentKey(c.Request().Context(), s.actor(c), agent, id); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
