package handlers

import (
	"net/http"

	"berth/environment"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
)

// agentList answers GET /api/companies/:c/agents.
func (s *server) agentList(c echo.Context) error {
	company, err := pathID(c, "c", "company")
	if err != nil {
		return err
	}
	w, err := windowOf(c)
	if err != nil {
		return err
	}
	all, err := s.Identity.Agents(c.Request().Context(), s.actor(c), company)
	if err != nil {
		return err
	}
	page, err := pageOf(all, w, func(a environment.Agent) uuid.UUID { return a.ID }, func(a environment.Agent) string { return a.Name })
	if err != nil {
		return err
	}
	linkNext(c, page.Next)
	return writeJSON(c, http.StatusOK, each(page.Items, agentShape))
}
