package environmenttest

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"berth/environment"
	"berth/environment/catalogue"

	"github.com/google/uuid"
)

func testCompanies(t *testing.T, s suite) {
	ctx := t.Context()
	b, a := s.company("Zeta"), s.company("acme")
	all, err := s.Companies(ctx)
	s.must(err)
	same(t, "companies by name", all, []environment.Company{a, b})
	got, err := s.Company(ctx, a.ID)
	s.must(err)
	same(t, "company", got, a)
	_, err = s.Company(ctx, environment.NewID())
	s.code("read a company that is not there", err, environment.KindNotFound, "company_not_found")
	err = s.CreateCompany(ctx, environment.Company{ID: environment.NewID(), Name: "ACME"}, environment.Activity{})
	s.code("create a company of the same name", err, environment.KindConflict, environment.CodeNameTaken)
}

func testSettings(t *testing.T, s suite) {
	ctx := t.Context()
	first, err := s.Settings(ctx)
	s.must(err)
	if first.EnableEnvironments || first.EnableManagedSandboxOnly || first.DefaultEnvironmentID != nil || first.MaxRunTimeout != 86400 || first.Revision != 1 {
		t.Errorf("settings of a new instance: got %+v", first)
	}
	e := s.environment("box")
	on, limit := true, 60
	got, err := s.UpdateSettings(ctx, environment.SettingsPatch{EnableEnvironments: &on, DefaultEnvironmentID: &e.ID, MaxRunTimeout: &limit},
		by("instance.settings.updated", "instance", e.ID))
	s.must(err)
	if !got.EnableEnvironments || got.EnableManagedSandboxOnly || got.DefaultEnvironmentID == nil || *got.DefaultEnvironmentID != e.ID ||
		got.MaxRunTimeout != 60 || got.Revision != 2 {
		t.Errorf("settings after a patch: got %+v", got)
	}
	if !s.view(e.ID).IsDefault {
		t.Error("the default environment does not say so")
	}
	archive := catalogue.Write{Environment: e}
	archive.Environment.Status = environment.StatusArchived
	_, err = s.UpdateEnvironment(ctx, archive, e.Revision)
	s.code("archive what became the default meanwhile", err, environment.KindConflict, "environment_is_default")
	other := environment.NewID()
	_, err = s.UpdateSettings(ctx, environment.SettingsPatch{DefaultEnvironmentID: &other}, environment.Activity{})
	s.code("make a default of what is not there", err, environment.KindInvalid, environment.CodeEnvironmentNotFound)
	w := write("archived")
	w.Environment.Status = environment.StatusArchived
	archived, err := s.CreateEnvironment(ctx, w)
	s.must(err)
	_, err = s.UpdateSettings(ctx, environment.SettingsPatch{DefaultEnvironmentID: &archived.ID}, environment.Activity{})
	s.code("make a default of what is archived", err, environment.KindInvalid, environment.CodeEnvironmentInactive)
	got, err = s.UpdateSettings(ctx, environment.SettingsPatch{ClearDefault: true}, environment.Activity{})
	s.must(err)
	if got.DefaultEnvironmentID != nil || !got.EnableEnvironments {
		t.Errorf("settings after the default was cleared: got %+v", got)
	}
}

func localRow() environment.Environment {
	return environment.Environment{ID: environment.NewID(), Name: "Local", Driver: environment.DriverLocal, Status: environment.StatusActive,
		Config: json.RawMessage("{}"), EnvVars: map[string]environment.EnvVar{}, Metadata: json.RawMessage("null")}
}

func testLocal(t *testing.T, s suite) {
	ctx := t.Context()
	s.environment("local")
	var all sync.WaitGroup
	ids := make([]environment.Environment, 6)
	errs := make([]error, len(ids))
	for i := range ids {
		all.Go(func() { ids[i], errs[i] = s.EnsureLocal(ctx, localRow(), true) })
	}
	all.Wait()
	for i := range ids {
		s.must(errs[i])
		if ids[i].ID != ids[0].ID || ids[i].Name != "Local (this server)" {
			t.Errorf("local environment of server %d: got %s %q, want %s with the free name", i, ids[i].ID, ids[i].Name, ids[0].ID)
		}
	}
	settings, err := s.Settings(ctx)
	s.must(err)
	if settings.DefaultEnvironmentID == nil || *settings.DefaultEnvironmentID != ids[0].ID {
		t.Errorf("default of a new instance: got %v, want %s", settings.DefaultEnvironmentID, ids[0].ID)
	}
	second := localRow()
	second.Name = "Second"
	_, err = s.CreateEnvironment(ctx, catalogue.Write{Environment: second})
	s.code("create a second local environment", err, environment.KindConflict, "local_exists")
	w := write("other")
	_, err = s.CreateEnvironment(ctx, w)
	s.must(err)
	w.Environment.Driver = environment.DriverLocal
	_, err = s.UpdateEnvironment(ctx, w, 1)
	s.code("turn an environment into a second local one", err, environment.KindConflict, "local_exists")
}

func testEnvironments(t *testing.T, s suite) {
	ctx := t.Context()
	w := write("Build Box")
	text, ref := "in rack 4", environment.RefTo(environment.NewID())
	w.Environment.Description = &text
	w.Environment.Metadata = json.RawMessage(`{"rack":4}`)
	w.Environment.EnvVars = map[string]environment.EnvVar{"A": {Type: "plain", Value: "1"}, "T": {Type: "secret_ref", Ref: &ref}}
	made, err := s.CreateEnvironment(ctx, w)
	s.must(err)
	want := w.Environment
	want.Revision, want.ConfigRevision = 1, 1
	sameEnvironment(t, "created environment", made, want)
	v := s.view(made.ID)
	sameEnvironment(t, "read environment", v.Environment, want)
	if v.Last != nil || v.Active != nil || len(v.Recent) != 0 || v.IsDefault || v.Uses != (environment.Uses{}) || v.Health() != environment.HealthUntested {
		t.Errorf("a new environment has a history: %+v", v)
	}
	_, err = s.Environment(ctx, environment.NewID())
	s.code("read an environment that is not there", err, environment.KindNotFound, environment.CodeEnvironmentNotFound)
}

// sameEnvironment compares documents by what they say, not by their spelling.
func sameEnvironment(t *testing.T, what string, got, want environment.Environment) {
	t.Helper()
	sameJSON(t, what+": config", got.Config, want.Config)
	sameJSON(t, what+": metadata", got.Metadata, want.Metadata)
	got.Config, got.Metadata = want.Config, want.Metadata
	same(t, what, got, want)
}

func sameJSON(t *testing.T, what string, got, want json.RawMessage) {
	t.Helper()
	var g, w any
	if err := json.Unmarshal(got, &g); err != nil {
		t.Errorf("%s: got %q: %v", what, got, err)
	}
	if err := json.Unmarshal(want, &w); err != nil {
		t.Errorf("%s: want %q: %v", what, want, err)
	}
	same(t, what, g, w)
}

func testRevisions(t *testing.T, s suite) {
	ctx := t.Context()
	w := write("box")
	_, err := s.CreateEnvironment(ctx, w)
	s.must(err)
	w.Environment.Name, w.Environment.UpdatedAt = "renamed", moment(9)
	w.Activity = by("environment.updated", "environment", w.Environment.ID)
	w.Activity.ActorName = "Ada"
	got, err := s.UpdateEnvironment(ctx, w, 1)
	s.must(err)
	if got.Name != "renamed" || got.Revision != 2 || got.ConfigRevision != 1 || !got.UpdatedAt.Equal(moment(9)) || !got.CreatedAt.Equal(moment(0)) {
		t.Errorf("renamed environment: got %+v", got)
	}
	w.ConfigChanged = true
	got, err = s.UpdateEnvironment(ctx, w, 2)
	s.must(err)
	if got.Revision != 3 || got.ConfigRevision != 3 {
		t.Errorf("environment with another config: got revision %d, config revision %d, want 3 and 3", got.Revision, got.ConfigRevision)
	}
	_, err = s.UpdateEnvironment(ctx, w, 2)
	s.code("a write that came too late", err, environment.KindStale, environment.CodeStaleRevision)
	details := environment.AsError(err).Details
	if details["current"] != 3 || details["changedBy"] != "Ada" || details["changedAt"] == nil {
		t.Errorf("details of a stale write: got %v, want current 3, changedBy Ada and changedAt", details)
	}
	w.Environment.ID = environment.NewID()
	_, err = s.UpdateEnvironment(ctx, w, 1)
	s.code("change an environment that is not there", err, environment.KindNotFound, environment.CodeEnvironmentNotFound)
}

func testSecrets(t *testing.T, s suite) {
	ctx := t.Context()
	c := s.company("acme")
	w := write("box")
	owned := environment.SealedSecret{StoredSecret: environment.StoredSecret{ID: environment.NewID(), EnvironmentID: &w.Environment.ID, Name: "privateKey"}, Ciphertext: []byte{0, 1, 0xff}}
	shared := environment.SealedSecret{StoredSecret: environment.StoredSecret{ID: environment.NewID(), CompanyID: &c.ID, Name: "TOKEN"}, Ciphertext: []byte("x")}
	w.NewSecrets = []environment.SealedSecret{owned, shared}
	_, err := s.CreateEnvironment(ctx, w)
	s.must(err)
	row, sealed, err := s.Secret(ctx, owned.ID, "latest")
	s.must(err)
	same(t, "owner of the secret", row.EnvironmentID, owned.EnvironmentID)
	same(t, "ciphertext", sealed.Ciphertext, owned.Ciphertext)
	impact, err := s.Impact(ctx, w.Environment.ID)
	s.must(err)
	same(t, "secrets that go with the environment", impact.SecretCount, 1)
	w.NewSecrets = nil
	w.DropSecrets = []uuid.UUID{owned.ID, shared.ID}
	_, err = s.UpdateEnvironment(ctx, w, 1)
	s.must(err)
	_, _, err = s.Secret(ctx, owned.ID, "latest")
	s.code("read a dropped secret", err, environment.KindNotFound, environment.CodeSecretMissing)
	if _, _, err = s.Secret(ctx, shared.ID, "latest"); err != nil {
		t.Errorf("a shared secret went with an environment: %v", err)
	}
}

func testNames(t *testing.T, s suite) {
	var all sync.WaitGroup
	errs := make([]error, 10)
	for i := range errs {
		all.Go(func() { _, errs[i] = s.CreateEnvironment(t.Context(), write("Build Box")) })
	}
	all.Wait()
	made := 0
	for i, err := range errs {
		if err == nil {
			made++
			continue
		}
		s.code(fmt.Sprintf("parallel create %d", i), err, environment.KindConflict, environment.CodeNameTaken)
		if f := environment.AsError(err).Fields; len(f) != 1 || f[0].Field != "name" {
			t.Errorf("fields of a name that is taken: got %v, want one for name", f)
		}
	}
	same(t, "creates that went through", made, 1)
	_, err := s.CreateEnvironment(t.Context(), write("build box"))
	s.code("create the name in another case", err, environment.KindConflict, environment.CodeNameTaken)
	w := write("other")
	_, err = s.CreateEnvironment(t.Context(), w)
	s.must(err)
	w.Environment.Name = "BUILD BOX"
	_, err = s.UpdateEnvironment(t.Context(), w, 1)
	s.code("rename to the name in another case", err, environment.KindConflict, environment.CodeNameTaken)
}

func testCatalogueRevision(t *testing.T, s suite) {
	ctx := t.Context()
	last, err := s.CatalogueRevision(ctx)
	s.must(err)
	e := environment.Environment{}
	var p environment.Probe
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"create", func() (err error) { e, err = s.CreateEnvironment(ctx, write("box")); return err }},
		{"settings", func() error {
			_, err := s.UpdateSettings(ctx, environment.SettingsPatch{DefaultEnvironmentID: &e.ID}, environment.Activity{})
			return err
		}},
		{"probe", func() (err error) { p, _, err = s.CreateProbe(ctx, s.probe(e)); return err }},
		{"verdict", func() error {
			_, err := s.FinishProbe(ctx, verdict(p, ""), environment.QualificationChange{}, environment.Activity{})
			return err
		}},
		{"update", func() error { _, err := s.UpdateEnvironment(ctx, catalogue.Write{Environment: e}, 1); return err }},
	} {
		s.must(step.do())
		next, err := s.CatalogueRevision(ctx)
		s.must(err)
		if next <= last {
			t.Errorf("catalogue's revision after %s: got %d, want more than %d", step.name, next, last)
		}
		last = next
	}
}

func testActivity(t *testing.T, s suite) {
	ctx := t.Context()
	c, e := s.company("acme"), environment.NewID()
	for i := range 5 {
		a := by("thing.done", "thing", e)
		a.CompanyID, a.CreatedAt, a.Details, a.RequestID = &c.ID, moment(i), map[string]any{"n": float64(i)}, "req"
		s.must(s.CreateCompany(ctx, environment.Company{ID: environment.NewID(), Name: fmt.Sprint(i)}, a))
	}
	page, err := s.Activity(ctx, environment.ActivityFilter{EntityType: "thing", EntityID: e.String(), CompanyID: &c.ID, Limit: 3})
	s.must(err)
	var seen []any
	for len(page.Items) > 0 {
		for _, a := range page.Items {
			seen = append(seen, a.Details["n"])
		}
		if page.Next == "" {
			break
		}
		page, err = s.Activity(ctx, environment.ActivityFilter{EntityType: "thing", Limit: 3, Cursor: page.Next})
		s.must(err)
	}
	same(t, "activity, newest first, over pages", seen, []any{4.0, 3.0, 2.0, 1.0, 0.0})
}
