package identity

import (
	"context"

	"berth/environment"
	"berth/environment/access"

	"github.com/google/uuid"
)

// BySession returns the actor of a session; KindUnauthenticated with code
// session_ended.
func (s *Service) BySession(ctx context.Context, id uuid.UUID) (environment.Actor, error) {
	return s.store.ActorOfSession(ctx, id)
}

// ByBearer returns the actor of an Authorization header's bearer text;
// KindUnauthenticated with code invalid_key for whatever does not count.
func (s *Service) ByBearer(ctx context.Context, text string) (environment.Actor, error) {
	token, ok := environment.ParseToken(text)
	if !ok || token.Kind == environment.TokenLink {
		return environment.Actor{}, InvalidKey()
	}
	return s.store.ActorOfKey(ctx, token.Hash[:])
}

// Again asks whether the actor's credential still counts and returns the actor
// with the roles of now. The local operator always counts.
func (s *Service) Again(ctx context.Context, actor environment.Actor) (environment.Actor, error) {
	switch {
	case actor.Kind == environment.ActorLocalOperator || actor.Kind == environment.ActorSystem:
		return actor, nil
	case actor.Credential.Kind == environment.CredentialNone:
		return environment.Actor{}, environment.NewError(environment.KindUnauthenticated, "unauthenticated", "Sign in first.")
	}
	return s.store.Counts(ctx, actor.Credential)
}

// SignOut ends what the actor showed: the session, or the personal token.
func (s *Service) SignOut(ctx context.Context, actor environment.Actor) error {
	if err := access.May(actor, access.ManageAccount, access.Instance); err != nil {
		return err
	}
	if actor.Credential.Kind == environment.CredentialToken {
		return s.RevokeToken(ctx, actor, actor.Credential.ID)
	}
	_, err := s.EndSessions(ctx, actor, actor.Credential.ID)
	return err
}

// EndSessions ends the actor's own sessions of those ids; with none, all of
// them, this one too: sign out everywhere. It returns how many.
func (s *Service) EndSessions(ctx context.Context, actor environment.Actor, ids ...uuid.UUID) (int, error) {
	if err := access.May(actor, access.ManageAccount, access.Instance); err != nil {
		return 0, err
	}
	details := map[string]any{"everywhere": len(ids) == 0}
	if len(ids) > 0 {
		details["sessionIds"] = ids
	}
	return s.store.EndSessions(ctx, actor.ID, ids, s.entry(ctx, actor, "person.signed_out", "person", actor.ID, details))
}
