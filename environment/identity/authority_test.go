package identity_test

import (
	"context"
	"testing"

	"berth/environment"
	"berth/environment/identity"

	"github.com/google/uuid"
)

// sealedStore is a store that nothing may reach: each call of it panics.
type sealedStore struct{ identity.Store }

// TestC73_RefusedBeforeAnyRead calls every use case that asks for authority as
// those who have none: it is refused, and the store is not even asked.
func TestC73_RefusedBeforeAnyRead(t *testing.T) {
	d := newDesk(t)
	s := d.service(sealedStore{})
	id := uuid.New()
	person := func(role environment.Role) environment.Actor {
		return environment.Actor{Kind: environment.ActorPerson, ID: uuid.New(), Roles: map[uuid.UUID]environment.Role{d.home: role}}
	}
	nobody, agent := environment.Actor{}, environment.Actor{Kind: environment.ActorAgent, ID: uuid.New(), CompanyID: d.home}
	member, owner := person(environment.RoleMember), person(environment.RoleOwner)
	everybody := map[string]environment.Actor{
		"nobody": nobody, "agent": agent, "member": member, "owner": owner, "operator": environment.LocalOperator(), "system": environment.System(),
	}
	for name, tc := range map[string]struct {
		do  func(context.Context, environment.Actor) error
		who []string // who is refused
	}{
		"Account": {func(c context.Context, a environment.Actor) error { return second(s.Account(c, a)) }, accountless},
		"Rename":  {func(c context.Context, a environment.Actor) error { return second(s.Rename(c, a, "")) }, accountless},
		"ChangePassword": {func(c context.Context, a environment.Actor) error {
			return s.ChangePassword(c, a, secret(""), secret(""))
		}, accountless},
		"SignOut":     {func(c context.Context, a environment.Actor) error { return s.SignOut(c, a) }, accountless},
		"EndSessions": {func(c context.Context, a environment.Actor) error { return second(s.EndSessions(c, a)) }, accountless},
		"CreateToken": {func(c context.Context, a environment.Actor) error {
			_, _, err := s.CreateToken(c, a, "", -1)
			return err
		}, accountless},
		"RevokeToken": {func(c context.Context, a environment.Actor) error { return s.RevokeToken(c, a, id) }, accountless},

		"Invite": {func(c context.Context, a environment.Actor) error {
			_, _, err := s.Invite(c, a, identity.Invitation{})
			return err
		}, belowAdmin},
		"ResetLink": {func(c context.Context, a environment.Actor) error {
			_, _, err := s.ResetLink(c, a, id)
			return err
		}, belowAdmin},
		"Links":      {func(c context.Context, a environment.Actor) error { return second(s.Links(c, a)) }, belowAdmin},
		"RevokeLink": {func(c context.Context, a environment.Actor) error { return s.RevokeLink(c, a, id) }, belowAdmin},
		"People":     {func(c context.Context, a environment.Actor) error { return second(s.People(c, a, "", 0, "")) }, belowAdmin},
		"Person":     {func(c context.Context, a environment.Actor) error { return second(s.Person(c, a, id)) }, belowAdmin},
		"UpdatePerson": {func(c context.Context, a environment.Actor) error {
			return second(s.UpdatePerson(c, a, id, identity.PersonPatch{}))
		}, belowAdmin},
		"SignOutPerson": {func(c context.Context, a environment.Actor) error { return second(s.SignOutPerson(c, a, id, true)) }, belowAdmin},
		"Members":       {func(c context.Context, a environment.Actor) error { return second(s.Members(c, a, d.home)) }, belowAdmin},
		"SetRole":       {func(c context.Context, a environment.Actor) error { return s.SetRole(c, a, id, d.home, "king") }, belowAdmin},

		"Agents": {func(c context.Context, a environment.Actor) error { return second(s.Agents(c, a, d.home)) }, belowKeeper},
		"Agent": {func(c context.Context, a environment.Actor) error {
			_, _, err := s.Agent(c, a, id)
			return err
		}, belowKeeper},
		"CreateAgent": {func(c context.Context, a environment.Actor) error {
			return second(s.CreateAgent(c, a, d.home, identity.NewAgent{}))
		}, belowKeeper},
		"UpdateAgent": {func(c context.Context, a environment.Actor) error {
			return second(s.UpdateAgent(c, a, id, identity.AgentPatch{}))
		}, belowKeeper},
		"CreateAgentKey": {func(c context.Context, a environment.Actor) error {
			_, _, err := s.CreateAgentKey(c, a, id, "", -1)
			return err
		}, belowKeeper},
		"RevokeAgentKey": {func(c context.Context, a environment.Actor) error { return s.RevokeAgentKey(c, a, id, id) }, belowKeeper},
	} {
		for _, who := range tc.who {
			want := environment.KindForbidden
			if who == "nobody" {
				want = environment.KindUnauthenticated
			}
			if err := tc.do(t.Context(), everybody[who]); environment.KindOf(err) != want {
				t.Errorf("%s as %s: got %v, want %s", name, who, err, want)
			}
		}
	}
}

// Who is refused: those without an account, those who are no instance admin,
// those who keep no company's agents.
var (
	accountless = []string{"nobody", "agent", "operator", "system"}
	belowAdmin  = []string{"nobody", "agent", "member", "owner", "system"}
	belowKeeper = []string{"nobody", "agent", "member", "system"}
)
