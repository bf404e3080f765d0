package identity

import (
	"context"
	"fmt"
	"time"

	"berth/environment"
	"berth/environment/access"

	"github.com/google/uuid"
)

// Limits of bearer keys. A revoked or expired one does not count.
const (
	MaxTokens   = 50 // of a person
	MaxKeys     = 20 // of an agent
	MaxLifeDays = 3650
)

// CreateToken makes a personal token; its text is shown once. lifeDays 0 never
// expires; at most 3650. KindConflict with code too_many_keys when the person
// has 50.
func (s *Service) CreateToken(ctx context.Context, actor environment.Actor, name string, lifeDays int) (environment.Key, environment.Secret, error) {
	if err := access.May(actor, access.ManageAccount, access.Instance); err != nil {
		return environment.Key{}, environment.Secret{}, err
	}
	clean, err := keyProblems(name, lifeDays)
	if err != nil {
		return environment.Key{}, environment.Secret{}, err
	}
	return s.makeToken(ctx, actor, clean, lifeDays, nil)
}

// RevokeToken revokes one of one's own.
func (s *Service) RevokeToken(ctx context.Context, actor environment.Actor, id uuid.UUID) error {
	if err := access.May(actor, access.ManageAccount, access.Instance); err != nil {
		return err
	}
	return s.store.RevokeKey(ctx, actor.ID, id, s.entry(ctx, actor, "token.revoked", "person", actor.ID, map[string]any{"keyId": id, "person": actor.Name}))
}

func (s *Service) makeToken(ctx context.Context, actor environment.Actor, name string, lifeDays int, details map[string]any) (environment.Key, environment.Secret, error) {
	key, text, token, err := s.newKey(environment.TokenPerson, actor, name, lifeDays)
	if err != nil {
		return environment.Key{}, environment.Secret{}, err
	}
	key.PersonID = &actor.ID
	what := about(key, details)
	what["person"] = actor.Name
	entry := s.entry(ctx, actor, "token.created", "person", actor.ID, what)
	if err := s.store.CreateKey(ctx, key, token.Hash[:], MaxTokens, entry); err != nil {
		return environment.Key{}, environment.Secret{}, err
	}
	return key, text, nil
}

// newKey makes a key that nobody holds yet, and its text.
func (s *Service) newKey(kind environment.TokenKind, actor environment.Actor, name string, lifeDays int) (environment.Key, environment.Secret, environment.Token, error) {
	text, token, err := environment.NewToken(kind, s.random)
	if err != nil {
		return environment.Key{}, environment.Secret{}, environment.Token{}, fmt.Errorf("make a key: %w", err)
	}
	now := s.now()
	key := environment.Key{ID: environment.NewID(), Name: name, Hint: token.Hint, CreatedAt: now, CreatedBy: actor.Name}
	if lifeDays > 0 {
		until := now.Add(time.Duration(lifeDays) * 24 * time.Hour)
		key.ExpiresAt = &until
	}
	return key, text, token, nil
}

// keyProblems checks what somebody asks of a new key and returns its name.
func keyProblems(name string, lifeDays int) (string, error) {
	var fields []environment.FieldError
	clean, wrong := environment.CleanName(name)
	if wrong != "" {
		fields = append(fields, environment.FieldError{Field: "name", Message: wrong})
	}
	if lifeDays < 0 || lifeDays > MaxLifeDays {
		fields = append(fields, environment.FieldError{Field: "lifeDays",
			Message: "A key lives for 1 to 3,650 days, or for ever with 0."})
	}
	return clean, environment.InvalidFields(fields)
}

// about is what the log tells of a key.
func about(key environment.Key, more map[string]any) map[string]any {
	details := map[string]any{"keyId": key.ID, "name": key.Name, "hint": key.Hint}
	if key.ExpiresAt != nil {
		details["expiresAt"] = key.ExpiresAt.UTC().Format(time.RFC3339)
	}
	for k, v := range more {
		details[k] = v
	}
	return details
}
