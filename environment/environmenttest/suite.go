package environmenttest

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"berth/environment"
	"berth/environment/catalogue"

	"github.com/google/uuid"
)

// TestStore holds a store to the rules that the use cases rely on. newStore
// returns an empty one for each part.
func TestStore(t *testing.T, newStore func(*testing.T) Stores) {
	testParts(t, newStore, []part{
		{"companies", testCompanies}, {"settings", testSettings}, {"local", testLocal}, {"environments", testEnvironments},
		{"revisions", testRevisions}, {"secrets", testSecrets}, {"deletion", testDeletion},
		{"shared secrets", testSharedSecrets}, {"secret versions", testSecretVersions}, {"secret limit", testSecretLimit},
		{"bindings", testBindings}, {"secrets in place", testSecretsInPlace}, {"retired secrets", testRetiredSecrets},
		{"secrets of work", testSecretOfWork}, {"accesses", testAccesses}, {"keyset", testKeyset},
		{"history", testHistory},
		{"C81_names", testNames}, {"list", testList}, {"list order", testOrder}, {"paging", testPaging},
		{"catalogue revision", testCatalogueRevision}, {"activity", testActivity},
		{"one probe under way", testOneProbe}, {"probe life", testProbeLife}, {"verdicts", testVerdicts},
		{"latency line", testLatencyLine}, {"drafts", testDrafts}, {"orphaned probes", testOrphanedProbes}, {"cancel", testCancel},
		{"run life", testRunLife}, {"run moves", testRunMoves}, {"runs listed", testRunsListed}, {"orphaned runs", testOrphanedRuns},
		{"output", testOutput}, {"output again", testOutputAgain}, {"log cut", testLogCut}, {"C80_bytes", testBytes},
		{"leases", testLeases}, {"lease moves", testLeaseMoves}, {"orphaned leases", testOrphanedLeases}, {"claims of the dead", testClaimsOfTheDead}, {"uses", testUses},
		{"fleet", testFleet}, {"feed", testFeed}, {"activity filters", testActivityFilters},
		{"people", testPeople}, {"roles", testRoles}, {"last admin", testLastAdmin}, {"members", testMembersOfMany},
		{"sessions", testSessions}, {"keys", testKeys}, {"rights go", testRightsGo}, {"passwords", testPasswords},
		{"key limit", testKeyLimit}, {"links", testLinks}, {"one link of many", testOneLinkOfMany}, {"link once", testLinkOnce}, {"first admin", testFirstAdmin}, {"password link", testPasswordLink},
		{"slow-down", testSlowDown}, {"agents", testAgents}, {"agents' defaults", testAgentDefaults}, {"own work", testOwnWork},
		{"lease fields", testLeaseFields}, {"C34_one_lease_of_a_scope", testOneLeaseOfAScope}, {"one holder of an object", testOneHolderOfAnObject},
		{"one resumer", testOneResumer}, {"two writers of a lease", testTwoWriters}, {"hand over", testHandOver}, {"hand over races", testHandOverRaces},
		{"lease times", testLeaseTimes}, {"beats", testBeats}, {"C38_expiry", testExpiry}, {"kept sandboxes expire", testKeptExpire},
		{"taken once", testTakenOnce}, {"clean-ups", testCleanups}, {"lease reads", testLeaseReads}, {"retained", testRetained}, {"sources", testSources},
		{"budget of leases", testBudgetOfLeases}, {"budget of minutes", testBudgetOfMinutes},
		{"qualification", testQualification}, {"probes that do not qualify", testProbesThatDoNotQualify},
		{"config changed during a probe", testConfigChangedDuringProbe}, {"a record and a write at once", testRecordRaces}, {"revoking writes", testRevokingWrites}, {"revoking secrets", testRevokingSecrets},
		{"C84_kept sandboxes of a deleted environment", testKeptOfDeleted}, {"intents keep secrets", testIntentsKeepSecrets},
		{"managed sandbox", testManaged}, {"referred versions", testReferredVersions}, {"runs of sandboxes", testRunsOfSandboxes},
		{"old drafts", testPruneDrafts}, {"old openings", testPruneAccesses}, {"remains", testRemains},
	})
}

// TestStoreTimes is the part of TestStore about what goes by the store's clock.
func TestStoreTimes(t *testing.T, newStore func(*testing.T) Stores) {
	testParts(t, newStore, []part{{"lease times", testLeaseTimes}, {"C38_expiry", testExpiry}, {"kept sandboxes expire", testKeptExpire},
		{"clean-ups", testCleanups}, {"budget of minutes", testBudgetOfMinutes}})
}

// part is a rule, or a few that belong together.
type part struct {
	name string
	test func(*testing.T, suite)
}

func testParts(t *testing.T, newStore func(*testing.T) Stores, parts []part) {
	for _, part := range parts {
		t.Run(part.name, func(t *testing.T) {
			s := suite{t: t, Stores: newStore(t), server: environment.NewID(), node: environment.NewID()}
			s.must(s.RegisterServer(t.Context(), s.server, s.node, "test"))
			part.test(t, s)
		})
	}
}

// suite is a store under test, with a server that is alive.
type suite struct {
	Stores
	t            *testing.T
	server, node uuid.UUID
}

// must ends the test when err is not nil.
func (s suite) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatalf("unexpected error: %v", err)
	}
}

// code wants an error of a kind and code.
func (s suite) code(what string, err error, kind environment.Kind, code string) {
	s.t.Helper()
	e, ok := errors.AsType[*environment.Error](err)
	if !ok || e.Kind != kind || e.Code != code {
		s.t.Errorf("%s: got error %v, want %s %s", what, err, kind, code)
	}
}

// same wants equal values.
func same[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %+v, want %+v", what, got, want)
	}
}

// moment is a fixed time that every store can keep exactly.
func moment(minutes int) time.Time {
	return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(minutes) * time.Minute)
}

func by(action, entity string, id uuid.UUID) environment.Activity {
	return environment.Activity{ActorKind: environment.ActorLocalOperator, ActorName: "local operator", Action: action,
		EntityType: entity, EntityID: id.String(), Details: map[string]any{}}
}

// company stores a company.
func (s suite) company(name string) environment.Company {
	s.t.Helper()
	c := environment.Company{ID: environment.NewID(), Name: name, CreatedAt: moment(0), UpdatedAt: moment(0)}
	s.must(s.CreateCompany(s.t.Context(), c, by("company.created", "company", c.ID)))
	return c
}

// write is the creation of an ssh environment.
func write(name string) catalogue.Write {
	e := environment.Environment{ID: environment.NewID(), Name: name, Driver: environment.DriverSSH, Status: environment.StatusActive,
		Config:  json.RawMessage(`{"host":"` + name + `.example.net","port":22,"username":"deploy"}`),
		EnvVars: map[string]environment.EnvVar{}, Metadata: json.RawMessage("null"), CreatedAt: moment(0), UpdatedAt: moment(0)}
	return catalogue.Write{Environment: e, Activity: by("environment.created", "environment", e.ID)}
}

// environment stores an ssh environment.
func (s suite) environment(name string) environment.Environment {
	s.t.Helper()
	e, err := s.CreateEnvironment(s.t.Context(), write(name))
	s.must(err)
	return e
}

// view reads an environment.
func (s suite) view(id uuid.UUID) environment.EnvironmentView {
	s.t.Helper()
	v, err := s.Environment(s.t.Context(), id)
	s.must(err)
	return v
}

// probe is one of a saved environment that is not stored yet.
func (s suite) probe(e environment.Environment) environment.Probe {
	return environment.Probe{ID: environment.NewID(), EnvironmentID: &e.ID, Driver: e.Driver, Target: "deploy@host:22",
		Stages: []environment.Stage{}, ConfigRevision: e.ConfigRevision, ActorName: "local operator", Owner: s.server,
		CreatedAt: moment(1), Deadline: moment(1).Add(30 * time.Second)}
}

// begun stores a probe and begins it.
func (s suite) begun(p environment.Probe) environment.Probe {
	s.t.Helper()
	p, created, err := s.CreateProbe(s.t.Context(), p)
	s.must(err)
	if !created {
		s.t.Fatalf("probe %s was not created", p.ID)
	}
	ok, err := s.BeginProbe(s.t.Context(), p.ID)
	s.must(err)
	if !ok {
		s.t.Fatalf("probe %s did not begin", p.ID)
	}
	return p
}

// verdict is an ended form of p.
func verdict(p environment.Probe, code string) environment.Probe {
	p.State, p.OK, p.Code, p.Summary = environment.ProbeDone, code == "", code, "as it went"
	status, severity := environment.StageOK, "info"
	if code != "" {
		status, severity = environment.StageFailed, "error"
	}
	began, ended := moment(2), moment(2).Add(150*time.Millisecond)
	p.Stages = []environment.Stage{{Name: "resolve", Status: status, Code: code, Severity: severity, Measured: map[string]any{},
		Limit: map[string]any{}, StartedAt: &began, DurationMs: 150}}
	p.StartedAt, p.FinishedAt = &began, &ended
	return p
}

// probed stores a probe of e that ended with code.
func (s suite) probed(e environment.Environment, code string) environment.Probe {
	s.t.Helper()
	p, err := s.FinishProbe(s.t.Context(), verdict(s.begun(s.probe(e)), code), environment.QualificationChange{}, environment.Activity{})
	s.must(err)
	return p
}

// run stores a queued run.
func (s suite) run(c environment.Company, e environment.Environment) environment.Run {
	s.t.Helper()
	r := environment.Run{ID: environment.NewID(), CompanyID: c.ID, EnvironmentID: &e.ID, EnvironmentName: e.Name, Driver: e.Driver,
		Target: "deploy@host:22", Kind: environment.KindCommand, Command: []string{"uname", "-a"}, EnvNames: []string{"A"},
		TimeoutSec: 900, Status: environment.RunQueued, Phases: []environment.Phase{{Name: "queued", StartedAt: moment(3)}},
		Owner: s.server, ActorName: "local operator", CreatedAt: moment(3), Input: []byte("sealed")}
	s.must(s.CreateRun(s.t.Context(), r, by("run.created", "run", r.ID)))
	return r
}

// move takes a run through states.
func (s suite) move(id uuid.UUID, states ...environment.RunStatus) environment.Run {
	s.t.Helper()
	var r environment.Run
	for _, next := range states {
		var err error
		r, err = s.UpdateRun(s.t.Context(), id, uuid.Nil, func(r *environment.Run) error {
			r.Status = next
			return nil
		})
		s.must(err)
	}
	return r
}

// lease stores a lease that is being acquired.
func (s suite) lease(c environment.Company, e environment.Environment, runID *uuid.UUID) environment.Lease {
	s.t.Helper()
	l := environment.Lease{ID: environment.NewID(), CompanyID: c.ID, EnvironmentID: &e.ID, RunID: runID, OwnerKind: "run",
		Status: environment.LeaseAcquiring, Policy: "ephemeral", Driver: e.Driver, Provider: "ssh", Owner: s.server,
		TTLSec: int(environment.LeaseTTL.Seconds()), RetainSec: int(environment.RetainedFor.Seconds()),
		AcquiredAt: moment(4), LastUsedAt: moment(4), CreatedAt: moment(4), UpdatedAt: moment(4)}
	s.must(s.CreateLease(s.t.Context(), l))
	return l
}

// hold takes a lease through states.
func (s suite) hold(id uuid.UUID, states ...environment.LeaseStatus) environment.Lease {
	s.t.Helper()
	var l environment.Lease
	for _, next := range states {
		var err error
		l, err = s.UpdateLease(s.t.Context(), id, func(l *environment.Lease) error {
			l.Status = next
			return nil
		}, nil)
		s.must(err)
	}
	return l
}

// die makes another server of this one's node, so that this one is dead; the
// new one is returned.
func (s suite) die() uuid.UUID {
	s.t.Helper()
	next := environment.NewID()
	s.must(s.RegisterServer(s.t.Context(), next, s.node, "test"))
	return next
}
