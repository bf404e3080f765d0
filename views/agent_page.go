package views

import (
	"time"

	"berth/environment"
)

// AgentPageState is how the page of an agent stands.
type AgentPageState string

// The states of an agent's page.
const (
	AgentPageActive   AgentPageState = "active"
	AgentPageDisabled AgentPageState = "disabled"
	AgentPageInvalid  AgentPageState = "invalid"
	AgentPageKeyMade  AgentPageState = "key-made" // a key is shown, this once
)

// AgentPageProps is one agent with its keys.
type AgentPageProps struct {
	state   AgentPageState
	agent   environment.Agent
	company environment.Company
	form    agentForm
	keys    KeyListProps
	failure string
	once    string
	server  string // the address of this server
	now     time.Time
}

// AgentView is what the page is made of.
type AgentView struct {
	Company      environment.Company
	Agent        environment.Agent
	Keys         []environment.Key
	Environments []environment.EnvironmentView
	Server       string // the address under which programs reach this server
}

// NewAgentPage makes the page. v and k are what was typed, failed why it was
// refused; nil for nothing.
func NewAgentPage(view AgentView, v AgentValues, k KeyValues, failed *environment.Error, now time.Time) AgentPageProps {
	p := AgentPageProps{state: AgentPageActive, agent: view.Agent, company: view.Company, server: view.Server,
		form: newAgentForm(v, view.Environments, failed), keys: NewAgentKeyList(view.Agent, view.Keys, k, failed, now), now: now}
	if view.Agent.Status == environment.AgentDisabled {
		p.state = AgentPageDisabled
	}
	if failed != nil {
		p.state = AgentPageInvalid
		if len(p.form.errors) == 0 {
			p.failure = sentence(failed)
		}
	}
	return p
}

// WithKey shows the text of a key that was just made: this once.
func (p AgentPageProps) WithKey(text string) AgentPageProps {
	p.state, p.once = AgentPageKeyMade, text
	return p
}

// Title is the title of the page.
func (p AgentPageProps) Title() string { return p.agent.Name }

func (p AgentPageProps) path() string { return AgentPath(p.company.ID, p.agent.ID) }

// commands show how a program works as the agent.
func (p AgentPageProps) commands() string {
	return "export BERTH_API_BASE=" + p.server + "\n" +
		"export BERTH_COMPANY=" + p.company.ID.String() + "\n" +
		"berth run --env ENVIRONMENT -- uname -a"
}

func (p AgentPageProps) curl() string {
	return `curl -H "Authorization: Bearer $BERTH_API_KEY" ` + p.server + "/api/companies/" + p.company.ID.String() + "/runs"
}
