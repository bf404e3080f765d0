package handlers

import (
	"net/http"
	"strings"

	"berth/environment"
	"berth/environment/access"
	"berth/environment/identity"
	"berth/views"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
)

// agentsPage lists a company's agents.
func (s *server) agentsPage(c echo.Context) error {
	return s.showAgents(c, http.StatusOK, views.AgentValues{}, nil)
}

// agentsPost makes an agent.
func (s *server) agentsPost(c echo.Context) error {
	company, err := pathID(c, "c", "company")
	if err != nil {
		return err
	}
	v, err := agentValues(c)
	if err != nil {
		return err
	}
	in := identity.NewAgent{Name: v.Name, AdapterType: strings.TrimSpace(v.AdapterType)}
	if in.DefaultEnvironmentID, err = chosen(v.DefaultEnvironmentID); err != nil {
		return err
	}
	agent, err := s.Identity.CreateAgent(c.Request().Context(), s.actor(c), company, in)
	if err != nil {
		if !isRefusedForm(err) {
			return err
		}
		return s.showAgents(c, http.StatusUnprocessableEntity, v, environment.AsError(err))
	}
	return redirect(c, done(views.AgentPath(company, agent.ID), views.NoticeAgent))
}

// agentValues reads the form of an agent.
func agentValues(c echo.Context) (views.AgentValues, error) {
	f, err := form(c)
	if err != nil {
		return views.AgentValues{}, err
	}
	return views.AgentValues{Name: f.Get("name"), AdapterType: f.Get("adapterType"), DefaultEnvironmentID: f.Get("defaultEnvironmentId")}, nil
}

// chosen is the environment that a form names; nil for none.
func chosen(text string) (*uuid.UUID, error) {
	if text == "" {
		return nil, nil
	}
	id, err := idOf("environment", text)
	if err != nil {
		return nil, err
	}
	return &id, nil
}

func (s *server) showAgents(c echo.Context, status int, v views.AgentValues, failed *environment.Error) error {
	ctx, actor := c.Request().Context(), s.actor(c)
	id, err := pathID(c, "c", "company")
	if err != nil {
		return err
	}
	if err := access.May(actor, access.ManageAgents, access.Company(id)); err != nil {
		return err
	}
	company, err := s.company(c)
	if err != nil {
		return err
	}
	agents, err := s.Identity.Agents(ctx, actor, company.ID)
	if err != nil {
		return err
	}
	all, err := s.Catalogue.List(ctx, actor, environment.ListFilter{NotArchived: true, Sort: "name"})
	if err != nil {
		return err
	}
	page := views.NewAgentsPage(company, agents, all.Items, v, failed, s.Now())
	return s.show(c, status, "Agents", views.SectionAgents, views.AgentsPage(page))
}
