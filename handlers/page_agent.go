package handlers

import (
	"net/http"
	"strings"

	"berth/environment"
	"berth/environment/identity"
	"berth/views"

	"github.com/labstack/echo/v4"
)

// agentPage shows an agent and its keys.
func (s *server) agentPage(c echo.Context) error {
	view, err := s.agentView(c)
	if err != nil {
		return err
	}
	return s.showAgent(c, http.StatusOK, views.NewAgentPage(view, views.AgentValuesOf(view.Agent), views.NewKeyValues(), nil, s.Now()))
}

// agentSave changes an agent, or whether it may work.
func (s *server) agentSave(c echo.Context) error {
	v, err := agentValues(c)
	if err != nil {
		return err
	}
	view, err := s.agentView(c)
	if err != nil {
		return err
	}
	patch := identity.AgentPatch{}
	if status := environment.AgentStatus(c.Request().PostForm.Get("status")); status != "" {
		patch.Status = &status
		v = views.AgentValuesOf(view.Agent)
	} else if patch, err = agentChanges(view.Agent, v); err != nil {
		return err
	}
	if _, err := s.Identity.UpdateAgent(c.Request().Context(), s.actor(c), view.Agent.ID, patch); err != nil {
		if !isRefusedForm(err) {
			return err
		}
		return s.showAgent(c, http.StatusUnprocessableEntity, views.NewAgentPage(view, v, views.NewKeyValues(), environment.AsError(err), s.Now()))
	}
	return redirect(c, done(views.AgentPath(view.Company.ID, view.Agent.ID), views.NoticeAgentSaved))
}

// agentChanges is what the form changes in an agent.
func agentChanges(agent environment.Agent, v views.AgentValues) (identity.AgentPatch, error) {
	adapter := strings.TrimSpace(v.AdapterType)
	if adapter == "" {
		adapter = identity.DefaultAdapter
	}
	patch := identity.AgentPatch{Name: &v.Name, AdapterType: &adapter}
	if v.DefaultEnvironmentID == views.AgentValuesOf(agent).DefaultEnvironmentID {
		return patch, nil // whoever may not assign environments may still rename
	}
	id, err := chosen(v.DefaultEnvironmentID)
	patch.DefaultEnvironmentID, patch.ClearDefault = id, id == nil
	return patch, err
}

// agentView reads the agent of the address. One of another company than the
// address says is answered as one that does not exist.
func (s *server) agentView(c echo.Context) (views.AgentView, error) {
	ctx, actor := c.Request().Context(), s.actor(c)
	id, err := pathID(c, "id", "agent")
	if err != nil {
		return views.AgentView{}, err
	}
	in, err := pathID(c, "c", "company")
	if err != nil {
		return views.AgentView{}, err
	}
	agent, keys, err := s.Identity.Agent(ctx, actor, id)
	if err != nil {
		return views.AgentView{}, err
	}
	if agent.CompanyID != in {
		return views.AgentView{}, environment.NotFound("agent")
	}
	company, err := s.company(c)
	if err != nil {
		return views.AgentView{}, err
	}
	all, err := s.Catalogue.List(ctx, actor, environment.ListFilter{NotArchived: true, Sort: "name"})
	if err != nil {
		return views.AgentView{}, err
	}
	return views.AgentView{Company: company, Agent: agent, Keys: keys, Environments: all.Items, Server: s.outerAddress(c)}, nil
}

func (s *server) showAgent(c echo.Context, status int, p views.AgentPageProps) error {
	return s.show(c, status, p.Title(), views.SectionAgents, views.AgentPage(p))
}
