package handlers

import (
	"net/http"

	"berth/environment"
	"berth/views"

	"github.com/labstack/echo/v4"
)

// agentKeyMake makes a key for an agent and shows it, this once.
func (s *server) agentKeyMake(c echo.Context) error {
	f, err := form(c)
	if err != nil {
		return err
	}
	view, err := s.agentView(c)
	if err != nil {
		return err
	}
	v := views.KeyValues{Name: f.Get("keyName"), LifeDays: f.Get("lifeDays")}
	days, err := lifeDays(v.LifeDays)
	text := environment.Secret{}
	if err == nil {
		err = sentBefore(f, "key", view.Keys)
	}
	if err == nil {
		_, text, err = s.Identity.CreateAgentKey(c.Request().Context(), s.actor(c), view.Agent.ID, v.Name, days)
	}
	if err != nil {
		if !isRefusedForm(err) {
			return err
		}
		failed := atKey(environment.AsError(err))
		return s.showAgent(c, http.StatusUnprocessableEntity, views.NewAgentPage(view, views.AgentValuesOf(view.Agent), v, failed, s.Now()))
	}
	if view, err = s.agentView(c); err != nil {
		return err
	}
	page := views.NewAgentPage(view, views.AgentValuesOf(view.Agent), views.NewKeyValues(), nil, s.Now())
	return s.showAgent(c, http.StatusCreated, page.WithKey(text.Reveal()))
}

// agentKeyRevoke revokes a key.
func (s *server) agentKeyRevoke(c echo.Context) error {
	view, err := s.agentView(c)
	if err != nil {
		return err
	}
	id, err := pathID(c, "kid", "key")
	if err != nil {
		return err
	}
	if err := s.Identity.RevokeAgentKey(c.Request().Context(), s.actor(c), view.Agent.ID, id); err != nil {
		return err
	}
	return redirect(c, done(views.AgentPath(view.Company.ID, view.Agent.ID), views.NoticeRevoked))
}
