package environmenttest

import (
	"testing"

	"berth/environment"
	"berth/environment/identity"
	"berth/environment/leasing"
	"berth/environment/probing"
	"berth/environment/running"

	"github.com/google/uuid"
)

func testAgents(t *testing.T, s suite) {
	ctx := t.Context()
	a, b := s.company("Acme"), s.company("Beta")
	e := s.environment("box")
	coder, second := s.agent(a, "coder"), s.agent(a, "Builder")
	s.agent(b, "Coder")
	all, err := s.Agents(ctx, a.ID)
	s.must(err)
	same(t, "agents of a company by name", all, []environment.Agent{second, coder})
	got, err := s.Agent(ctx, coder.ID)
	s.must(err)
	same(t, "agent", got, coder)
	_, err = s.Agent(ctx, environment.NewID())
	s.code("no agent", err, environment.KindNotFound, "agent_not_found")
	_, err = s.UpdateAgent(ctx, environment.NewID(), identity.AgentPatch{}, environment.Activity{})
	s.code("change no agent", err, environment.KindNotFound, "agent_not_found")
	taken := "BUILDER"
	_, err = s.UpdateAgent(ctx, coder.ID, identity.AgentPatch{Name: &taken}, environment.Activity{})
	s.code("another's name", err, environment.KindConflict, environment.CodeNameTaken)
	made := func(company uuid.UUID, name string, in *uuid.UUID) error {
		return s.CreateAgent(ctx, environment.Agent{ID: environment.NewID(), CompanyID: company, Name: name, AdapterType: "x", DefaultEnvironmentID: in},
			environment.Activity{})
	}
	s.code("a name that is taken", made(a.ID, "CODER", nil), environment.KindConflict, environment.CodeNameTaken)
	s.code("no company", made(environment.NewID(), "New", nil), environment.KindNotFound, "company_not_found")
	nowhere := environment.NewID()
	s.code("nowhere", made(a.ID, "New", &nowhere), environment.KindInvalid, environment.CodeEnvironmentNotFound)
	s.must(made(a.ID, "New", &e.ID))

	archived := s.archived("old")
	_, err = s.UpdateAgent(ctx, coder.ID, identity.AgentPatch{DefaultEnvironmentID: &archived.ID}, environment.Activity{})
	s.code("an archived default", err, environment.KindInvalid, environment.CodeEnvironmentInactive)
	key, hash := s.key(environment.Key{AgentID: &coder.ID})
	name, adapter, off := "Coder II", "codex_local", environment.AgentDisabled
	s.wakes("disable an agent", key.ID, func() {
		got, err = s.UpdateAgent(ctx, coder.ID, identity.AgentPatch{Name: &name, AdapterType: &adapter, Status: &off, DefaultEnvironmentID: &e.ID},
			by("agent.updated", "agent", coder.ID))
		s.must(err)
	})
	same(t, "changed", []any{got.Name, got.AdapterType, got.Status, *got.DefaultEnvironmentID}, []any{name, adapter, off, e.ID})
	_, err = s.ActorOfKey(ctx, hash)
	s.code("a disabled agent's key", err, environment.KindUnauthenticated, "invalid_key")
	got, err = s.UpdateAgent(ctx, coder.ID, identity.AgentPatch{ClearDefault: true}, environment.Activity{})
	s.must(err)
	same(t, "no default any more", got.DefaultEnvironmentID, (*uuid.UUID)(nil))
}

// archived stores an environment that is archived.
func (s suite) archived(name string) environment.Environment {
	s.t.Helper()
	w := write(name)
	w.Environment.Status = environment.StatusArchived
	e, err := s.CreateEnvironment(s.t.Context(), w)
	s.must(err)
	return e
}

// testAgentDefaults holds that an environment in which agents work by default is
// not taken from under them.
func testAgentDefaults(t *testing.T, s suite) {
	ctx := t.Context()
	c := s.company("Acme")
	e, other := s.environment("box"), s.environment("other")
	g := s.agent(c, "Coder")
	_, err := s.UpdateAgent(ctx, g.ID, identity.AgentPatch{DefaultEnvironmentID: &e.ID}, environment.Activity{})
	s.must(err)
	impact, err := s.Impact(ctx, e.ID)
	s.must(err)
	same(t, "blocked", impact.Blocked, []string{"agent_default"})
	same(t, "agents that work there", impact.Uses.AgentDefaults, 1)
	same(t, "agents in the list's row", s.view(e.ID).Uses.AgentDefaults, 1)
	_, err = s.DeleteEnvironment(ctx, e.ID, environment.DeleteOptions{}, environment.Activity{})
	s.code("delete it from under an agent", err, environment.KindConflict, "environment_in_use")
	_, err = s.DeleteEnvironment(ctx, e.ID, environment.DeleteOptions{ReassignTo: &other.ID}, environment.Activity{})
	s.must(err)
	got, err := s.Agent(ctx, g.ID)
	s.must(err)
	if got.DefaultEnvironmentID == nil || *got.DefaultEnvironmentID != other.ID {
		t.Errorf("the agent's default after it was reassigned: got %v, want %s", got.DefaultEnvironmentID, other.ID)
	}
}

// testOwnWork holds that lists can be narrowed to companies and to an agent.
func testOwnWork(t *testing.T, s suite) {
	ctx := t.Context()
	a, b := s.company("Acme"), s.company("Beta")
	e, g := s.environment("box"), s.agent(a, "Coder")
	s.run(b, e)
	r := s.run(a, e)
	own := r
	own.ID, own.AgentID = environment.NewID(), &g.ID
	s.must(s.CreateRun(ctx, own, environment.Activity{}))
	got, err := s.Run(ctx, own.ID)
	s.must(err)
	same(t, "the agent of a run", got.AgentID, &g.ID)
	moved := s.move(own.ID, environment.RunAcquiring)
	same(t, "the agent of a run that moved", moved.AgentID, &g.ID)
	nobody := environment.NewID()
	for _, c := range []struct {
		name   string
		filter running.Filter
		want   int
	}{
		{"all", running.Filter{}, 3}, {"of a company", running.Filter{Companies: []uuid.UUID{a.ID}}, 2},
		{"of both", running.Filter{Companies: []uuid.UUID{a.ID, b.ID}}, 3}, {"of none", running.Filter{Companies: []uuid.UUID{}}, 0},
		{"of an agent", running.Filter{AgentID: &g.ID}, 1}, {"of another", running.Filter{AgentID: &nobody}, 0},
	} {
		page, err := s.Runs(ctx, c.filter)
		s.must(err)
		same(t, "runs "+c.name, len(page.Items), c.want)
	}
	s.lease(a, e, nil)
	s.lease(b, e, nil)
	p := s.probe(e)
	p.CompanyID = &a.ID
	_, _, err = s.CreateProbe(ctx, p)
	s.must(err)
	for _, c := range []struct {
		companies      []uuid.UUID
		leases, probes int
	}{{nil, 2, 1}, {[]uuid.UUID{a.ID}, 1, 1}, {[]uuid.UUID{b.ID}, 1, 0}, {[]uuid.UUID{}, 0, 0}} {
		leases, err := s.Leases(ctx, leasing.Filter{Companies: c.companies})
		s.must(err)
		same(t, "leases", len(leases.Items), c.leases)
		probes, err := s.Probes(ctx, probing.Filter{EnvironmentID: e.ID, Companies: c.companies})
		s.must(err)
		same(t, "probes", len(probes.Items), c.probes)
	}
}
