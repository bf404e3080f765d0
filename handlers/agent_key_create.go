package handlers

import (
	"net/http"

	"berth/handlers/api"

	"github.com/labstack/echo/v4"
)

// agentKeyCreate answers POST /api/agents/:id/keys. The key's text is in this one
// answer.
func (s *server) agentKeyCreate(c echo.Context) error {
	agent, err := pathID(c, "id", "agent")
	if err != nil {
		return err
	}
	var body newKeyBody
	if err := decodeBody(c, &body); err != nil {
		return err
	}
	key, text, err := s.Identity.CreateAgentKey(c.Request().Context(), s.actor(c), agent, body.Name, body.LifeDays.Value)
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusCreated, api.MadeKey{Key: keyShape(key), Token: text.Reveal()})
}
