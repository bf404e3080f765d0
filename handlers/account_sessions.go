package handlers

import (
	"net/http"

	"berth/environment"
	"berth/handlers/api"

	"github.com/labstack/echo/v4"
)

// accountSessionsEnd answers DELETE /api/account/sessions: it signs the person
// out everywhere, here too.
func (s *server) accountSessionsEnd(c echo.Context) error {
	n, err := s.Identity.EndSessions(c.Request().Context(), s.actor(c))
	if err != nil {
		return err
	}
	if err := s.signedOut(c); err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, api.Ended{Ended: n})
}

// accountSessionEnd answers DELETE /api/account/sessions/:id.
func (s *server) accountSessionEnd(c echo.Context) error {
	id, err := pathID(c, "id", "session")
	if err != nil {
		return err
	}
	actor := s.actor(c)
	n, err := s.Identity.EndSessions(c.Request().Context(), actor, id)
	if err != nil {
		return err
	}
	if n == 0 {
		return environment.NotFound("session")
	}
	if actor.Credential.ID == id {
		if err := s.signedOut(c); err != nil {
			return err
		}
	}
	return c.NoContent(http.StatusNoContent)
}
