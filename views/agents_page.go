package views

import (
	"time"

	"berth/environment"
	"berth/views/ui"

	"github.com/google/uuid"
)

// AgentsPageState is how a company's agents stand.
type AgentsPageState string

// The states of the agents.
const (
	AgentsShown   AgentsPageState = "shown"
	AgentsNone    AgentsPageState = "none"
	AgentsInvalid AgentsPageState = "invalid"
)

// AgentValues is what was typed of an agent.
type AgentValues struct{ Name, AdapterType, DefaultEnvironmentID string }

// AgentValuesOf are those of a saved agent.
func AgentValuesOf(a environment.Agent) AgentValues {
	v := AgentValues{Name: a.Name, AdapterType: a.AdapterType}
	if a.DefaultEnvironmentID != nil {
		v.DefaultEnvironmentID = a.DefaultEnvironmentID.String()
	}
	return v
}

// agentForm is what the forms of a new and of a saved agent share.
type agentForm struct {
	values       AgentValues
	environments []ui.Option
	errors       map[string]string
}

func newAgentForm(v AgentValues, all []environment.EnvironmentView, failed *environment.Error) agentForm {
	f := agentForm{values: v, errors: fieldErrors(failed), environments: []ui.Option{{Label: "None: the instance's default"}}}
	for _, e := range all {
		if e.Status == environment.StatusActive || e.ID.String() == v.DefaultEnvironmentID {
			f.environments = append(f.environments, ui.Option{Value: e.ID.String(), Label: e.Name + " · " + driverName(e.Driver)})
		}
	}
	return f
}

// AgentsPageProps are the agents of a company and the form of a new one.
type AgentsPageProps struct {
	state   AgentsPageState
	company environment.Company
	agents  []environment.Agent
	names   map[uuid.UUID]string // of environments
	form    agentForm
	failure string
	now     time.Time
}

// NewAgentsPage makes the page. failed is why the last one was refused; nil for
// none.
func NewAgentsPage(company environment.Company, agents []environment.Agent, all []environment.EnvironmentView, v AgentValues, failed *environment.Error, now time.Time) AgentsPageProps {
	p := AgentsPageProps{state: AgentsShown, company: company, agents: agents, names: map[uuid.UUID]string{}, form: newAgentForm(v, all, failed), now: now}
	for _, e := range all {
		p.names[e.ID] = e.Name
	}
	if len(agents) == 0 {
		p.state = AgentsNone
	}
	if failed != nil {
		p.state = AgentsInvalid
		if len(p.form.errors) == 0 {
			p.failure = sentence(failed)
		}
	}
	return p
}

// worksIn says where an agent works by itself.
func (p AgentsPageProps) worksIn(a environment.Agent) string {
	if a.DefaultEnvironmentID == nil {
		return "the instance's default environment"
	}
	if name := p.names[*a.DefaultEnvironmentID]; name != "" {
		return name
	}
	return "an environment that is archived or gone"
}

// agentPill says whether an agent may work.
func agentPill(a environment.Agent) pill {
	if a.Status == environment.AgentDisabled {
		return pill{ui.Bad, "Disabled"}
	}
	return pill{ui.OK, "Active"}
}
