package identity

import (
	"context"

	"berth/environment"

	"github.com/google/uuid"
)

// CreateAgentKey makes a key; its text is shown once. KindInvalid at the fields
// name and lifeDays, KindConflict with code too_many_keys when the agent has 20.
func (s *Service) CreateAgentKey(ctx context.Context, actor environment.Actor, agent uuid.UUID, name string, lifeDays int) (environment.Key, environment.Secret, error) {
	a, err := s.ownAgent(ctx, actor, agent)
	if err != nil {
		return environment.Key{}, environment.Secret{}, err
	}
	clean, err := keyProblems(name, lifeDays)
	if err != nil {
		return environment.Key{}, environment.Secret{}, err
	}
	key, text, token, err := s.newKey(environment.TokenAgent, actor, clean, lifeDays)
	if err != nil {
		return environment.Key{}, environment.Secret{}, err
	}
	key.AgentID = &a.ID
	entry := s.entry(ctx, actor, "agent_key.created", "agent", agent, about(key, map[string]any{"agent": a.Name}))
	if err := s.store.CreateKey(ctx, key, token.Hash[:], MaxKeys, inCompany(entry, a.CompanyID)); err != nil {
		return environment.Key{}, environment.Secret{}, err
	}
	return key, text, nil
}

// RevokeAgentKey revokes one; KindNotFound with code agent_not_found or
// key_not_found.
func (s *Service) RevokeAgentKey(ctx context.Context, actor environment.Actor, agent, id uuid.UUID) error {
	a, err := s.ownAgent(ctx, actor, agent)
	if err != nil {
		return err
	}
	entry := s.entry(ctx, actor, "agent_key.revoked", "agent", agent, map[string]any{"keyId": id, "agent": a.Name})
	return s.store.RevokeKey(ctx, agent, id, inCompany(entry, a.CompanyID))
}
