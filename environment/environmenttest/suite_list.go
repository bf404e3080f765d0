package environmenttest

import (
	"fmt"
	"slices"
	"testing"

	"berth/environment"
	"berth/environment/catalogue"
	"berth/environment/leasing"
	"berth/environment/probing"
	"berth/environment/running"

	"github.com/google/uuid"
)

// names lists what a filter finds.
func (s suite) names(f environment.ListFilter) []string {
	s.t.Helper()
	page, err := s.ListEnvironments(s.t.Context(), f)
	s.must(err)
	names := []string{}
	for _, v := range page.Items {
		names = append(names, v.Name)
		if f.Health != "" && v.Health() != f.Health {
			s.t.Errorf("listed with health %s: %s is %s", f.Health, v.Name, v.Health())
		}
	}
	return names
}

// fleetOfAll stores one environment of each health, named after it, and an
// archived one.
func (s suite) fleetOfAll() {
	s.t.Helper()
	for health, code := range map[string]string{"ready": "", "unfit": environment.CodeToolMissing,
		"unreachable": environment.CodeConnectRefused, "untrusted": environment.CodeHostKeyUnknown} {
		s.probed(s.environment(health), code)
	}
	s.environment("untested")
	s.begun(s.probe(s.environment("testing")))
	warned := verdict(s.begun(s.probe(s.environment("warning"))), "")
	warned.Stages[0].Status, warned.Stages[0].Code = environment.StageWarning, environment.CodeDiskLow
	_, err := s.FinishProbe(s.t.Context(), warned, environment.QualificationChange{}, environment.Activity{})
	s.must(err)
	cut := verdict(s.begun(s.probe(s.environment("interrupted"))), environment.CodeInterrupted)
	cut.State = environment.ProbeInterrupted
	_, err = s.FinishProbe(s.t.Context(), cut, environment.QualificationChange{}, environment.Activity{})
	s.must(err)
	changed := s.environment("changed")
	s.probed(changed, "")
	_, err = s.UpdateEnvironment(s.t.Context(), catalogue.Write{Environment: changed, ConfigChanged: true}, 1)
	s.must(err)
	w := write("old one")
	w.Environment.Status = environment.StatusArchived
	_, err = s.CreateEnvironment(s.t.Context(), w)
	s.must(err)
}

func testList(t *testing.T, s suite) {
	s.fleetOfAll()
	for _, h := range environment.Healths() {
		same(t, "environments that are "+string(h), s.names(environment.ListFilter{Status: environment.StatusActive, Health: h}), []string{string(h)})
	}
	text := "The Ünter rack, 50%_off"
	w := write("described")
	w.Environment.Description = &text
	_, err := s.CreateEnvironment(t.Context(), w)
	s.must(err)
	for query, want := range map[string][]string{
		"DESCRIBED": {"described"}, "ünter": {"described"}, " 50%_off ": {"described"}, "described.example": {"described"},
		"deploy@ready": {"ready"}, "knownHosts": {}, "%": {"described"}, "nothing like it": {}, "old": {"old one"},
	} {
		same(t, "search for "+query, s.names(environment.ListFilter{Query: query}), want)
	}
	for query, want := range map[string][]string{
		"DESCRIBED": {"described"}, "50%_off": {"described"}, "described.example": {}, "deploy@ready": {}, "ssh": {}, "old": {"old one"},
	} {
		same(t, "search in names for "+query, s.names(environment.ListFilter{Query: query, NamesOnly: true}), want)
	}
	same(t, "archived", s.names(environment.ListFilter{Status: environment.StatusArchived}), []string{"old one"})
	same(t, "of a driver", s.names(environment.ListFilter{Driver: environment.DriverLocal}), []string{})
	page, err := s.ListEnvironments(t.Context(), environment.ListFilter{Health: environment.HealthUnfit})
	s.must(err)
	if v := page.Items[0]; v.Last == nil || v.Last.Code != environment.CodeToolMissing || len(v.Last.Stages) != 1 || len(v.Recent) != 1 {
		t.Errorf("listed environment: got last probe %+v and recent %v, want what failed", v.Last, v.Recent)
	}
	page, err = s.ListEnvironments(t.Context(), environment.ListFilter{Health: environment.HealthReady})
	s.must(err)
	if n := len(page.Items[0].Last.Stages); n != 0 {
		t.Errorf("listed environment carries %d stages without remarks, want none", n)
	}
}

func testOrder(t *testing.T, s suite) {
	s.fleetOfAll()
	w := write("Aaa")
	w.Environment.UpdatedAt = moment(99)
	_, err := s.CreateEnvironment(t.Context(), w)
	s.must(err)
	byName := s.names(environment.ListFilter{Sort: "name"})
	if !slices.IsSortedFunc(byName, func(a, b string) int {
		return slices.Compare([]byte(environment.NameKey(a)), []byte(environment.NameKey(b)))
	}) {
		t.Errorf("by name: got %v", byName)
	}
	byHealth := s.names(environment.ListFilter{Sort: "health", Status: environment.StatusActive})
	same(t, "by health", byHealth, []string{"untrusted", "unfit", "unreachable", "interrupted", "changed", "warning", "Aaa", "untested", "testing", "ready"})
	same(t, "newest first", s.names(environment.ListFilter{Limit: 1}), []string{"Aaa"})
	byTest := s.names(environment.ListFilter{Sort: "tested"})
	tested := map[string]bool{"ready": true, "unfit": true, "unreachable": true, "untrusted": true, "warning": true, "interrupted": true, "changed": true}
	for i, name := range byTest {
		if tested[name] != (i < len(tested)) {
			t.Errorf("by test: got %v, want those that were tested first", byTest)
			break
		}
	}
	same(t, "by driver", s.names(environment.ListFilter{Sort: "driver"}), byName)
}

func testPaging(t *testing.T, s suite) {
	for i := range 7 {
		s.environment(fmt.Sprintf("box %d", i))
	}
	for _, sort := range []string{"", "name", "health", "driver", "tested"} {
		all, got := s.names(environment.ListFilter{Sort: sort}), []string{}
		f := environment.ListFilter{Sort: sort, Limit: 3}
		for {
			page, err := s.ListEnvironments(t.Context(), f)
			s.must(err)
			for _, v := range page.Items {
				got = append(got, v.Name)
			}
			if f.Cursor = page.Next; f.Cursor == "" {
				break
			}
		}
		same(t, "pages by "+sort, got, all)
	}
	_, err := s.ListEnvironments(t.Context(), environment.ListFilter{Cursor: "not a cursor"})
	s.code("a cursor that is none", err, environment.KindUnreadable, "invalid_cursor")
	_, err = s.Probes(t.Context(), probing.Filter{EnvironmentID: environment.NewID(), Limit: 1, Cursor: "*"})
	s.code("a cursor of probes that is none", err, environment.KindUnreadable, "invalid_cursor")
	_, err = s.Runs(t.Context(), running.Filter{Cursor: "*"})
	s.code("a cursor of runs that is none", err, environment.KindUnreadable, "invalid_cursor")
	_, err = s.Leases(t.Context(), leasing.Filter{Cursor: "*"})
	s.code("a cursor of leases that is none", err, environment.KindUnreadable, "invalid_cursor")
}

func testDeletion(t *testing.T, s suite) {
	ctx := t.Context()
	local, err := s.EnsureLocal(ctx, localRow(), true)
	s.must(err)
	_, err = s.DeleteEnvironment(ctx, local.ID, environment.DeleteOptions{}, environment.Activity{})
	s.blocked(err, "managed_local", "instance_default")
	c, e, other := s.company("acme"), s.environment("box"), s.environment("other")
	_, err = s.UpdateSettings(ctx, environment.SettingsPatch{DefaultEnvironmentID: &e.ID}, environment.Activity{})
	s.must(err)
	r := s.run(c, e)
	l := s.lease(c, e, &r.ID)
	_, err = s.DeleteEnvironment(ctx, e.ID, environment.DeleteOptions{}, environment.Activity{})
	s.blocked(err, "instance_default", "active_use")
	s.hold(l.ID, environment.LeaseActive, environment.LeasePendingCleanup)
	s.move(r.ID, environment.RunCancelled)
	_, err = s.DeleteEnvironment(ctx, e.ID, environment.DeleteOptions{ReassignTo: &other.ID}, environment.Activity{})
	s.blocked(err, "pending_sandbox_cleanup")
	s.hold(l.ID, environment.LeaseReleased)
	impact, err := s.Impact(ctx, e.ID)
	s.must(err)
	same(t, "what blocks a delete", impact.Blocked, []string{"instance_default"})
	for _, to := range []uuid.UUID{e.ID, environment.NewID()} {
		_, err = s.DeleteEnvironment(ctx, e.ID, environment.DeleteOptions{ReassignTo: &to}, environment.Activity{})
		s.code("reassign to what cannot take over", err, environment.KindInvalid, environment.CodeEnvironmentNotFound)
	}
	old, current := e.Revision-1, e.Revision
	_, err = s.DeleteEnvironment(ctx, e.ID, environment.DeleteOptions{ReassignTo: &other.ID, IfRevision: &old}, environment.Activity{})
	s.code("delete what was changed meanwhile", err, environment.KindStale, environment.CodeStaleRevision)
	gone, err := s.DeleteEnvironment(ctx, e.ID, environment.DeleteOptions{ReassignTo: &other.ID, IfRevision: &current}, environment.Activity{})
	s.must(err)
	same(t, "deleted environment", gone.Name, "box")
	settings, err := s.Settings(ctx)
	s.must(err)
	if settings.DefaultEnvironmentID == nil || *settings.DefaultEnvironmentID != other.ID {
		t.Errorf("default after reassignment: got %v, want %s", settings.DefaultEnvironmentID, other.ID)
	}
	_, err = s.DeleteEnvironment(ctx, e.ID, environment.DeleteOptions{}, environment.Activity{})
	s.code("delete again", err, environment.KindNotFound, environment.CodeEnvironmentNotFound)
	_, err = s.Impact(ctx, e.ID)
	s.code("weigh what is gone", err, environment.KindNotFound, environment.CodeEnvironmentNotFound)
}

// blocked wants a refusal to delete for these reasons.
func (s suite) blocked(err error, reasons ...string) {
	s.t.Helper()
	s.code("delete what is in use", err, environment.KindConflict, "environment_in_use")
	same(s.t, "reasons", environment.AsError(err).Details["deleteBlockedReasons"], any(reasons))
}

func testHistory(t *testing.T, s suite) {
	ctx := t.Context()
	c, e := s.company("acme"), s.environment("box")
	w := catalogue.Write{Environment: e, NewSecrets: []environment.SealedSecret{{StoredSecret: environment.StoredSecret{
		ID: environment.NewID(), EnvironmentID: &e.ID, Name: "password"}, Ciphertext: []byte("x")}}}
	_, err := s.UpdateEnvironment(ctx, w, 1)
	s.must(err)
	p := s.probed(e, "")
	r := s.run(c, e)
	l := s.lease(c, e, &r.ID)
	s.hold(l.ID, environment.LeaseFailed)
	s.move(r.ID, environment.RunFailed)
	_, err = s.DeleteEnvironment(ctx, e.ID, environment.DeleteOptions{}, by("environment.deleted", "environment", e.ID))
	s.must(err)
	got, err := s.Run(ctx, r.ID)
	s.must(err)
	if got.EnvironmentID != nil || got.EnvironmentName != "box" {
		t.Errorf("run of a deleted environment: got id %v, name %q, want none and box", got.EnvironmentID, got.EnvironmentName)
	}
	lease, err := s.Lease(ctx, l.ID)
	s.must(err)
	if lease.EnvironmentID != nil {
		t.Errorf("lease of a deleted environment: got id %v, want none", lease.EnvironmentID)
	}
	_, err = s.Probe(ctx, p.ID)
	s.code("probe of a deleted environment", err, environment.KindNotFound, "probe_not_found")
	_, err = s.FinishProbe(ctx, p, environment.QualificationChange{}, environment.Activity{})
	s.code("verdict for a deleted environment", err, environment.KindNotFound, "probe_not_found")
	_, _, err = s.Secret(ctx, w.NewSecrets[0].ID, "latest")
	s.code("secret of a deleted environment", err, environment.KindNotFound, environment.CodeSecretMissing)
	page, err := s.Activity(ctx, environment.ActivityFilter{EntityType: "environment", EntityID: e.ID.String()})
	s.must(err)
	same(t, "activity that stays", len(page.Items), 2)
	s.environment("box")
}
