package handlers

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"berth/environment"
	"berth/handlers/api"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
)

// authMe answers GET /api/cli-auth/me: who asks.
func (s *server) authMe(c echo.Context) error {
	me, err := s.me(c.Request().Context(), s.actor(c))
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, me)
}

// me describes an actor to itself.
func (s *server) me(ctx context.Context, actor environment.Actor) (api.Me, error) {
	flags, err := s.Catalogue.Flags(ctx)
	if err != nil {
		return api.Me{}, err
	}
	me := api.Me{
		ActorType: string(actor.Kind), IsInstanceAdmin: actor.Everywhere(), Source: string(actor.Credential.Kind),
		Capabilities: api.MeCapability{Features: api.Features{
			EnableEnvironments: flags.EnableEnvironments, ExecutionMode: "any", DefaultEnvironmentID: flags.DefaultEnvironmentID,
		}},
	}
	if me.CompanyIDs, err = s.companyIDsOf(ctx, actor); err != nil {
		return api.Me{}, err
	}
	if kind := actor.Credential.Kind; kind == environment.CredentialToken || kind == environment.CredentialKey {
		me.KeyID = &actor.Credential.ID
	}
	switch actor.Kind {
	case environment.ActorLocalOperator:
		me.Source = "local_implicit"
	case environment.ActorPerson:
		err = s.mePerson(ctx, actor, &me)
	case environment.ActorAgent:
		err = s.meAgent(ctx, actor, &me)
	}
	return me, err
}

func (s *server) mePerson(ctx context.Context, actor environment.Actor, me *api.Me) error {
	account, err := s.Identity.Account(ctx, actor)
	if err != nil {
		return err
	}
	person := personShape(account.Person)
	me.User, me.UserID = &person, &person.ID
	return nil
}

func (s *server) meAgent(ctx context.Context, actor environment.Actor, me *api.Me) error {
	agent, err := s.Identity.Self(ctx, actor)
	if err != nil {
		return err
	}
	shape := agentShape(agent)
	me.Agent = &shape
	return nil
}

// companyIDsOf are the ids of the actor's companies, in order.
func (s *server) companyIDsOf(ctx context.Context, actor environment.Actor) ([]uuid.UUID, error) {
	ids := actor.Companies()
	if actor.Everywhere() {
		all, err := s.Catalogue.Companies(ctx, actor)
		if err != nil {
			return nil, err
		}
		ids = each(all, func(c environment.Company) uuid.UUID { return c.ID })
	}
	slices.SortFunc(ids, func(a, b uuid.UUID) int { return strings.Compare(a.String(), b.String()) })
	return ids, nil
}
