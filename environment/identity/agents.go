package identity

import (
	"context"
	"strings"

	"berth/environment"
	"berth/environment/access"

	"github.com/google/uuid"
)

// AgentPatch changes what is not nil.
type AgentPatch struct {
	Name                 *string
	AdapterType          *string
	Status               *environment.AgentStatus
	DefaultEnvironmentID *uuid.UUID
	ClearDefault         bool
}

// NewAgent is an agent to be.
type NewAgent struct {
	Name                 string
	AdapterType          string // "": DefaultAdapter
	DefaultEnvironmentID *uuid.UUID
}

// DefaultAdapter is the adapter of an agent that was made without one.
const DefaultAdapter = "process"

// Agents are those of a company, by name.
func (s *Service) Agents(ctx context.Context, actor environment.Actor, company uuid.UUID) ([]environment.Agent, error) {
	if err := s.mayManageIn(ctx, actor, company); err != nil {
		return nil, err
	}
	return s.store.Agents(ctx, company)
}

// Agent returns one with its keys; KindNotFound with code agent_not_found.
func (s *Service) Agent(ctx context.Context, actor environment.Actor, id uuid.UUID) (environment.Agent, []environment.Key, error) {
	agent, err := s.ownAgent(ctx, actor, id)
	if err != nil {
		return environment.Agent{}, nil, err
	}
	keys, err := s.store.KeysOfAgent(ctx, id)
	return agent, keys, err
}

// Self returns the agent that asks; KindNotFound with code agent_not_found for
// everybody else.
func (s *Service) Self(ctx context.Context, actor environment.Actor) (environment.Agent, error) {
	if err := access.May(actor, access.ReadCompanies, access.Company(actor.CompanyID)); err != nil {
		return environment.Agent{}, err
	}
	if actor.Kind != environment.ActorAgent {
		return environment.Agent{}, environment.NotFound("agent")
	}
	return s.store.Agent(ctx, actor.ID)
}

// CreateAgent makes an agent of a company. KindInvalid at the fields name,
// adapterType and defaultEnvironmentId, KindConflict with code name_taken, or
// environments_disabled for a default while environments are off.
func (s *Service) CreateAgent(ctx context.Context, actor environment.Actor, company uuid.UUID, in NewAgent) (environment.Agent, error) {
	if err := s.mayManageIn(ctx, actor, company); err != nil {
		return environment.Agent{}, err
	}
	if in.AdapterType == "" {
		in.AdapterType = DefaultAdapter
	}
	patch := AgentPatch{Name: &in.Name, AdapterType: &in.AdapterType, DefaultEnvironmentID: in.DefaultEnvironmentID}
	if err := mayAssign(actor, company, patch); err != nil {
		return environment.Agent{}, err
	}
	patch, err := patch.clean()
	if err != nil {
		return environment.Agent{}, err
	}
	if err := s.mayUse(ctx, in.DefaultEnvironmentID); err != nil {
		return environment.Agent{}, err
	}
	now := s.now()
	agent := environment.Agent{
		ID: environment.NewID(), CompanyID: company, Name: *patch.Name, AdapterType: *patch.AdapterType,
		Status: environment.AgentActive, DefaultEnvironmentID: in.DefaultEnvironmentID, CreatedAt: now, UpdatedAt: now,
	}
	entry := s.entry(ctx, actor, "agent.created", "agent", agent.ID, map[string]any{
		"name": agent.Name, "adapterType": agent.AdapterType, "defaultEnvironmentId": environment.IDText(in.DefaultEnvironmentID),
	})
	if err := s.store.CreateAgent(ctx, agent, inCompany(entry, company)); err != nil {
		return environment.Agent{}, atAgent(err)
	}
	return agent, nil
}

// UpdateAgent changes one; a disabled agent's keys count no more. Errors as
// CreateAgent, and at the field status. A patch that changes nothing writes
// nothing.
func (s *Service) UpdateAgent(ctx context.Context, actor environment.Actor, id uuid.UUID, p AgentPatch) (environment.Agent, error) {
	old, err := s.ownAgent(ctx, actor, id)
	if err != nil {
		return environment.Agent{}, err
	}
	if err := mayAssign(actor, old.CompanyID, p); err != nil {
		return environment.Agent{}, err
	}
	if p, err = p.clean(); err != nil {
		return environment.Agent{}, err
	}
	changes := p.changes(old)
	if len(changes) == 0 {
		return old, nil
	}
	if environment.IDText(p.DefaultEnvironmentID) != environment.IDText(old.DefaultEnvironmentID) {
		if err := s.mayUse(ctx, p.DefaultEnvironmentID); err != nil {
			return environment.Agent{}, err
		}
	}
	entry := s.entry(ctx, actor, "agent.updated", "agent", id, changes.Details())
	agent, err := s.store.UpdateAgent(ctx, id, p, inCompany(entry, old.CompanyID))
	return agent, atAgent(err)
}

// mayManageIn asks whether the actor keeps the agents of a company, and whether
// there is one.
func (s *Service) mayManageIn(ctx context.Context, actor environment.Actor, company uuid.UUID) error {
	if err := access.May(actor, access.ManageAgents, access.Company(company)); err != nil {
		return err
	}
	_, err := s.store.Company(ctx, company)
	return err
}

// ownAgent reads an agent that the actor keeps. One of another company is
// answered as one that does not exist.
func (s *Service) ownAgent(ctx context.Context, actor environment.Actor, id uuid.UUID) (environment.Agent, error) {
	if err := access.May(actor, access.ManageAgents, access.Somewhere); err != nil {
		return environment.Agent{}, err
	}
	agent, err := s.store.Agent(ctx, id)
	if err != nil {
		return environment.Agent{}, err
	}
	if err := access.May(actor, access.ManageAgents, access.Company(agent.CompanyID)); err != nil {
		return environment.Agent{}, access.Hide(err, environment.NotFound("agent"))
	}
	return agent, nil
}

// mayAssign asks whether the actor may say where a company's agents work.
func mayAssign(actor environment.Actor, company uuid.UUID, p AgentPatch) error {
	if p.DefaultEnvironmentID == nil && !p.ClearDefault {
		return nil
	}
	return access.May(actor, access.AssignEnvironment, access.Company(company))
}

// mayUse is KindConflict with code environments_disabled when somebody chooses an
// environment while they are turned off.
func (s *Service) mayUse(ctx context.Context, chosen *uuid.UUID) error {
	if chosen == nil {
		return nil
	}
	settings, err := s.store.Settings(ctx)
	if err != nil {
		return err
	}
	return settings.Refusal()
}

// clean returns the patch as it is stored, or what is wrong with it.
func (p AgentPatch) clean() (AgentPatch, error) {
	var fields []environment.FieldError
	note := func(field, message string) {
		fields = append(fields, environment.FieldError{Field: field, Message: message})
	}
	if p.Name != nil {
		clean, wrong := environment.CleanName(*p.Name)
		if wrong != "" {
			note("name", wrong)
		}
		p.Name = &clean
	}
	if p.AdapterType != nil && !isAdapter(*p.AdapterType) {
		note("adapterType", "An adapter type is a word such as process or claude_local: up to 64 of a-z, 0-9, _, -, . and /.")
	}
	if p.Status != nil && *p.Status != environment.AgentActive && *p.Status != environment.AgentDisabled {
		note("status", "An agent is active or disabled.")
	}
	if p.DefaultEnvironmentID != nil && p.ClearDefault {
		note("defaultEnvironmentId", "Choose a default environment or none, not both.")
	}
	return p, environment.InvalidFields(fields)
}

func isAdapter(text string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789_-./"
	return text != "" && len(text) <= 64 && strings.Trim(text, letters) == ""
}

// changes are what the patch alters in an agent.
func (p AgentPatch) changes(old environment.Agent) environment.Changes {
	c := environment.Changes{}
	if p.Name != nil {
		c.Add("name", old.Name, *p.Name)
	}
	if p.AdapterType != nil {
		c.Add("adapterType", old.AdapterType, *p.AdapterType)
	}
	if p.Status != nil {
		c.Add("status", string(old.Status), string(*p.Status))
	}
	if p.DefaultEnvironmentID != nil || p.ClearDefault {
		c.Add("defaultEnvironmentId", environment.IDText(old.DefaultEnvironmentID), environment.IDText(p.DefaultEnvironmentID))
	}
	return c
}

// atAgent says which field a refusal of the store is about.
func atAgent(err error) error {
	err = environment.AtField(err, "name", environment.CodeNameTaken)
	return environment.AtField(err, "defaultEnvironmentId", environment.CodeEnvironmentNotFound, environment.CodeEnvironmentInactive)
}
