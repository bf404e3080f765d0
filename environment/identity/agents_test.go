package identity_test

import (
	"fmt"
	"strings"
	"testing"

	"berth/environment"
	"berth/environment/identity"

	"github.com/google/uuid"
)

// keeper is an admin of the desk's first company, and a mere member of the other.
func (d *desk) keeper() environment.Actor {
	d.t.Helper()
	return d.join("keeper@example.com", identity.Invitation{Roles: map[uuid.UUID]environment.Role{
		d.home: environment.RoleAdmin, d.abroad: environment.RoleMember,
	}})
}

// target is an active environment, where they are turned on.
func (d *desk) target() uuid.UUID {
	d.t.Helper()
	d.turn(true)
	local, err := d.store.EnsureLocal(d.t.Context(), environment.Environment{
		ID: environment.NewID(), Name: "Local", Driver: environment.DriverLocal, Status: environment.StatusActive,
	}, false)
	d.must(err)
	return local.ID
}

// turn turns environments on or off.
func (d *desk) turn(on bool) {
	d.t.Helper()
	_, err := d.store.UpdateSettings(d.t.Context(), environment.SettingsPatch{EnableEnvironments: &on}, environment.Activity{})
	d.must(err)
}

// TestNoEnvironmentIsChosenWhileTheyAreOff: the one that an agent has may stay, and
// may be taken away.
func TestNoEnvironmentIsChosenWhileTheyAreOff(t *testing.T) {
	d := newDeskWithAdmin(t)
	keeper, target := d.keeper(), d.target()
	agent, err := d.CreateAgent(t.Context(), keeper, d.home, identity.NewAgent{Name: "has one", DefaultEnvironmentID: &target})
	d.must(err)
	other, err := d.CreateAgent(t.Context(), keeper, d.home, identity.NewAgent{Name: "has none"})
	d.must(err)
	d.turn(false)
	_, err = d.CreateAgent(t.Context(), keeper, d.home, identity.NewAgent{Name: "new", DefaultEnvironmentID: &target})
	d.refused("a new agent's", err, environment.KindConflict, "environments_disabled")
	_, err = d.UpdateAgent(t.Context(), keeper, other.ID, identity.AgentPatch{DefaultEnvironmentID: &target})
	d.refused("another's", err, environment.KindConflict, "environments_disabled")
	_, err = d.UpdateAgent(t.Context(), keeper, agent.ID, identity.AgentPatch{Name: pointer("renamed"), DefaultEnvironmentID: &target})
	d.must(err)
	agent, err = d.UpdateAgent(t.Context(), keeper, agent.ID, identity.AgentPatch{ClearDefault: true})
	if err != nil || agent.Name != "renamed" || agent.DefaultEnvironmentID != nil {
		t.Errorf("the agent is %+v, %v", agent, err)
	}
}

func TestCreateAgent(t *testing.T) {
	d := newDeskWithAdmin(t)
	keeper, target := d.keeper(), d.target()
	agent, err := d.CreateAgent(t.Context(), keeper, d.home, identity.NewAgent{Name: "  The  Builder ", DefaultEnvironmentID: &target})
	d.must(err)
	if agent.Name != "The Builder" || agent.AdapterType != "process" || agent.Status != environment.AgentActive ||
		agent.CompanyID != d.home || agent.DefaultEnvironmentID == nil || *agent.DefaultEnvironmentID != target {
		t.Errorf("the agent is %+v", agent)
	}
	if entry := d.one("agent.created", 1); *entry.CompanyID != d.home || entry.EntityID != agent.ID.String() || *entry.ActorID != keeper.ID {
		t.Errorf("the log says %+v", entry)
	}
	unknown := uuid.New()
	for name, tc := range map[string]struct {
		in    identity.NewAgent
		field string
	}{
		"no name":             {identity.NewAgent{}, "name"},
		"a long name":         {identity.NewAgent{Name: strings.Repeat("x", 121)}, "name"},
		"taken":               {identity.NewAgent{Name: "the BUILDER"}, "name"},
		"an odd adapter":      {identity.NewAgent{Name: "A", AdapterType: "Claude Local"}, "adapterType"},
		"a long adapter":      {identity.NewAgent{Name: "A", AdapterType: strings.Repeat("x", 65)}, "adapterType"},
		"an adapter with \\0": {identity.NewAgent{Name: "A", AdapterType: "a\x00"}, "adapterType"},
		"no environment":      {identity.NewAgent{Name: "A", DefaultEnvironmentID: &unknown}, "defaultEnvironmentId"},
	} {
		_, err := d.CreateAgent(t.Context(), keeper, d.home, tc.in)
		d.at(name, err, tc.field)
	}
	_, err = d.CreateAgent(t.Context(), d.admin, d.abroad, identity.NewAgent{Name: "The Builder", AdapterType: "claude_local"})
	d.must(err) // the same name in another company
	_, err = d.CreateAgent(t.Context(), d.admin, uuid.New(), identity.NewAgent{Name: "A"})
	d.refused("no company", err, environment.KindNotFound, "company_not_found")
	if all, err := d.Agents(t.Context(), keeper, d.home); err != nil || len(all) != 1 || all[0].ID != agent.ID {
		t.Errorf("the agents are %+v, %v", all, err)
	}
}

func TestUpdateAgent(t *testing.T) {
	d := newDeskWithAdmin(t)
	keeper, target := d.keeper(), d.target()
	agent, err := d.CreateAgent(t.Context(), keeper, d.home, identity.NewAgent{Name: "builder"})
	d.must(err)
	changed, err := d.UpdateAgent(t.Context(), keeper, agent.ID, identity.AgentPatch{
		Name: pointer("painter"), AdapterType: pointer("codex_local"), DefaultEnvironmentID: &target,
	})
	d.must(err)
	if changed.Name != "painter" || changed.AdapterType != "codex_local" || *changed.DefaultEnvironmentID != target {
		t.Errorf("the agent is %+v", changed)
	}
	if entry := d.one("agent.updated", 1); fmt.Sprint(entry.Details["changedFields"]) != "[adapterType defaultEnvironmentId name]" {
		t.Errorf("the log says %+v", entry.Details)
	}
	_, err = d.UpdateAgent(t.Context(), keeper, agent.ID, identity.AgentPatch{Name: pointer(" painter ")})
	d.must(err)
	d.one("agent.updated", 1)
	cleared, err := d.UpdateAgent(t.Context(), keeper, agent.ID, identity.AgentPatch{ClearDefault: true})
	d.must(err)
	if cleared.DefaultEnvironmentID != nil {
		t.Errorf("without a default it is %+v", cleared)
	}
	unknown, odd := uuid.New(), environment.AgentStatus("asleep")
	for name, tc := range map[string]struct {
		patch identity.AgentPatch
		field string
	}{
		"no name":        {identity.AgentPatch{Name: pointer(" ")}, "name"},
		"an odd status":  {identity.AgentPatch{Status: &odd}, "status"},
		"no environment": {identity.AgentPatch{DefaultEnvironmentID: &unknown}, "defaultEnvironmentId"},
		"one and none":   {identity.AgentPatch{DefaultEnvironmentID: &target, ClearDefault: true}, "defaultEnvironmentId"},
	} {
		_, err := d.UpdateAgent(t.Context(), keeper, agent.ID, tc.patch)
		d.at(name, err, tc.field)
	}
}

func TestAgentKeys(t *testing.T) {
	d := newDeskWithAdmin(t)
	keeper := d.keeper()
	agent, err := d.CreateAgent(t.Context(), keeper, d.home, identity.NewAgent{Name: "builder"})
	d.must(err)
	key, text, err := d.CreateAgentKey(t.Context(), keeper, agent.ID, "ci", 30)
	d.must(err)
	actor, err := d.ByBearer(t.Context(), text.Reveal())
	d.must(err)
	if actor.Kind != environment.ActorAgent || actor.ID != agent.ID || actor.CompanyID != d.home || actor.InstanceAdmin || len(actor.Roles) != 0 ||
		actor.Credential != (environment.Credential{Kind: environment.CredentialKey, ID: key.ID}) {
		t.Errorf("the key's actor is %+v", actor)
	}
	if self, err := d.Self(t.Context(), actor); err != nil || self.ID != agent.ID {
		t.Errorf("the agent itself: %+v, %v", self, err)
	}
	_, keys, err := d.Agent(t.Context(), keeper, agent.ID)
	if err != nil || len(keys) != 1 || keys[0].Hint != key.Hint || keys[0].CreatedBy != "keeper" {
		t.Errorf("its keys are %+v, %v", keys, err)
	}
	if entry := d.one("agent_key.created", 1); *entry.CompanyID != d.home || entry.Details["keyId"] != key.ID {
		t.Errorf("the log says %+v", entry)
	}

	disabled := environment.AgentDisabled
	_, err = d.UpdateAgent(t.Context(), keeper, agent.ID, identity.AgentPatch{Status: &disabled})
	d.must(err)
	_, err = d.ByBearer(t.Context(), text.Reveal())
	d.refused("of a disabled agent", err, environment.KindUnauthenticated, "invalid_key")
	_, err = d.Again(t.Context(), actor)
	d.refused("asked again", err, environment.KindUnauthenticated, "invalid_key")
	active := environment.AgentActive
	_, err = d.UpdateAgent(t.Context(), keeper, agent.ID, identity.AgentPatch{Status: &active})
	d.must(err)
	_, err = d.ByBearer(t.Context(), text.Reveal())
	d.must(err)

	other, err := d.CreateAgent(t.Context(), keeper, d.home, identity.NewAgent{Name: "other"})
	d.must(err)
	d.refused("through another agent", d.RevokeAgentKey(t.Context(), keeper, other.ID, key.ID), environment.KindNotFound, "key_not_found")
	d.must(d.RevokeAgentKey(t.Context(), keeper, agent.ID, key.ID))
	_, err = d.ByBearer(t.Context(), text.Reveal())
	d.refused("revoked", err, environment.KindUnauthenticated, "invalid_key")
	d.one("agent_key.revoked", 1)
}

func TestTwentyKeys(t *testing.T) {
	d := newDeskWithAdmin(t)
	keeper := d.keeper()
	agent, err := d.CreateAgent(t.Context(), keeper, d.home, identity.NewAgent{Name: "builder"})
	d.must(err)
	for range 20 {
		_, _, err := d.CreateAgentKey(t.Context(), keeper, agent.ID, "ci", 0)
		d.must(err)
	}
	_, _, err = d.CreateAgentKey(t.Context(), keeper, agent.ID, "ci", 0)
	d.refused("the 21st", err, environment.KindConflict, "too_many_keys")
	_, _, err = d.CreateAgentKey(t.Context(), keeper, agent.ID, "", 0)
	d.at("no name", err, "name")
	_, _, err = d.CreateAgentKey(t.Context(), keeper, agent.ID, "ci", 3651)
	d.at("a day too many", err, "lifeDays")
}

// TestC71_AgentsOfOthers: knowing an id is not enough. The agent of another
// company, one of a company in which one has a lesser role, and one that never
// was give the same answer, and nothing is changed.
func TestC71_AgentsOfOthers(t *testing.T) {
	d := newDeskWithAdmin(t)
	keeper := d.keeper()
	stranger := d.join("stranger@example.com", d.as(environment.RoleOwner))
	abroad, err := d.CreateAgent(t.Context(), d.admin, d.abroad, identity.NewAgent{Name: "theirs"})
	d.must(err)
	key, _, err := d.CreateAgentKey(t.Context(), d.admin, abroad.ID, "ci", 0)
	d.must(err)
	for name, actor := range map[string]environment.Actor{"a stranger": stranger, "a member there, an admin elsewhere": keeper} {
		for what, do := range map[string]func(uuid.UUID) error{
			"read": func(id uuid.UUID) error { _, _, err := d.Agent(t.Context(), actor, id); return err },
			"change": func(id uuid.UUID) error {
				return second(d.UpdateAgent(t.Context(), actor, id, identity.AgentPatch{Name: pointer("mine")}))
			},
			"make a key": func(id uuid.UUID) error { _, _, err := d.CreateAgentKey(t.Context(), actor, id, "mine", 0); return err },
			"revoke":     func(id uuid.UUID) error { return d.RevokeAgentKey(t.Context(), actor, id, key.ID) },
		} {
			real := d.refusal(name+", "+what, do(abroad.ID), environment.KindNotFound, "agent_not_found")
			never := d.refusal(name+", "+what+", an id that never was", do(uuid.New()), environment.KindNotFound, "agent_not_found")
			if real.Message != never.Message || real.Remediation != never.Remediation || len(real.Details) != len(never.Details) {
				t.Errorf("%s: %s is answered with %+v for a real id, with %+v for another", name, what, real, never)
			}
		}
	}
	_, err = d.Agents(t.Context(), stranger, d.abroad)
	d.refused("the list, a stranger", err, environment.KindNotFound, "company_not_found")
	_, err = d.Agents(t.Context(), keeper, d.abroad)
	d.refused("the list, a member", err, environment.KindForbidden, "forbidden")
	agent, keys, err := d.Agent(t.Context(), d.admin, abroad.ID)
	if err != nil || agent.Name != "theirs" || len(keys) != 1 || keys[0].RevokedAt != nil {
		t.Errorf("the agent is %+v with %+v, %v", agent, keys, err)
	}
}
