package catalogue_test

import (
	"encoding/json"
	"testing"

	"berth/environment"
)

func managedAs(name string, more ...any) *environment.ManagedSandbox {
	return &environment.ManagedSandbox{Name: name, Provider: "docker", Config: config(append([]any{"image", "registry.test/agent:1"}, more...)...)}
}

func (b *bench) provision(m *environment.ManagedSandbox) environment.EnvironmentView {
	b.t.Helper()
	if err := b.ProvisionManaged(b.t.Context(), m); err != nil {
		b.t.Fatal(err)
	}
	view, err := b.store.ManagedEnvironment(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	return view
}

func TestManagedSandboxIsProvisioned(t *testing.T) {
	b := withDocker(t)
	if err := b.ProvisionManaged(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	first := managedAs("Sandbox", "registryPassword", "canary-1", "cpus", 2)
	first.Description, first.Budget = "For all", &environment.Budget{MaxLeases: 5}
	made := b.provision(first)
	if !made.Managed || !made.Provisioned || made.Name != "Sandbox" || made.Budget.MaxLeases != 5 || *made.Description != "For all" ||
		b.spec(made.Environment).Secrets["registryPassword"].Reveal() != "canary-1" {
		t.Fatalf("made %+v", made)
	}
	b.update(made.Environment, environment.Patch{EnvVars: vars("A", plain("b"))})
	again := b.provision(first)
	if again.ID != made.ID || again.Revision != made.Revision+1 || len(again.EnvVars) != 1 {
		t.Errorf("the same again is a change, or takes variables away: %+v", again.Environment)
	}
	next := b.provision(managedAs("Agents"))
	if c := keys(t, next.Environment); next.ID != made.ID || next.Name != "Agents" || len(c) != 2 || next.Budget != nil || next.Description != nil || len(next.EnvVars) != 1 {
		t.Errorf("another configuration gives %+v", next.Environment)
	}
	other := b.provision(&environment.ManagedSandbox{Name: "Agents", Provider: "plain", Config: config("apiKey", "canary-2")})
	if other.ID != made.ID || other.Key().Provider != "plain" || !other.Provisioned {
		t.Errorf("another provider gives %+v", other.Environment)
	}
}

func TestManagedSandboxThatCannotBe(t *testing.T) {
	b := withDocker(t)
	made := b.provision(managedAs("Sandbox"))
	for name, m := range map[string]*environment.ManagedSandbox{
		"no name":            managedAs(" "),
		"no provider":        {Name: "S", Config: config("image", "a")},
		"no such provider":   {Name: "S", Provider: "cloud"},
		"two providers":      managedAs("S", "provider", "plain"),
		"a bad setting":      managedAs("S", "cpus", "many"),
		"an unknown setting": managedAs("S", "socket", "/x"),
		"a bad budget":       {Name: "S", Provider: "docker", Config: config("image", "a"), Budget: &environment.Budget{MaxLeases: -1}},
	} {
		t.Run(name, func(t *testing.T) {
			want(t, b.ProvisionManaged(t.Context(), m), environment.KindInvalid, "validation_failed")
			if now := b.get(made.Environment); now.Revision != made.Revision || !now.Provisioned {
				t.Errorf("it changed to %+v", now.Environment)
			}
		})
	}
}

func TestManagedSandboxIsLocked(t *testing.T) {
	b := withDocker(t)
	managed := b.provision(managedAs("Sandbox"))
	patches := map[string]struct {
		patch environment.Patch
		where string
	}{
		"name":     {environment.Patch{Name: new("Mine")}, "name"},
		"image":    {patch("image", "mine"), "config.image"},
		"metadata": {environment.Patch{Metadata: json.RawMessage(`{"a":1}`)}, "metadata"},
		"budget":   {environment.Patch{Budget: &environment.Budget{MaxLeases: 9}}, "budget.maxLeases"},
		"driver":   {environment.Patch{Driver: new("ssh"), Config: config("host", "x", "username", "y")}, ""},
	}
	refused := func(t *testing.T, p environment.Patch, where string) {
		t.Helper()
		before := b.get(managed.Environment)
		_, err := b.Update(t.Context(), b.actor, managed.ID, nil, p)
		if e := refusal(t, err, environment.KindConflict, environment.CodeEnvironmentManaged); where != "" && fields(e) != where {
			t.Errorf("wrong at %s, want %s", fields(e), where)
		}
		if after := b.get(managed.Environment); after.Revision != before.Revision {
			t.Error("it changed")
		}
	}
	for name, c := range patches {
		t.Run(name, func(t *testing.T) { refused(t, c.patch, c.where) })
	}
	t.Run("archive", func(t *testing.T) { refused(t, environment.Patch{Status: new(environment.StatusArchived)}, "status") })
	_, err := b.Delete(t.Context(), b.actor, managed.ID, environment.DeleteOptions{})
	want(t, err, environment.KindConflict, environment.CodeEnvironmentManaged)
	if next := b.update(managed.Environment, environment.Patch{EnvVars: vars("A", plain("b")), Name: new("Sandbox")}); len(next.EnvVars) != 1 {
		t.Error("its variables cannot be changed")
	}

	if err := b.ProvisionManaged(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if v := b.get(managed.Environment); !v.Managed || v.Provisioned {
		t.Errorf("without a configuration it is managed %t, provisioned %t", v.Managed, v.Provisioned)
	}
	for name, c := range patches {
		t.Run("stale: "+name, func(t *testing.T) { refused(t, c.patch, c.where) })
	}
	b.update(managed.Environment, environment.Patch{Status: new(environment.StatusArchived)})
	if again := b.provision(managedAs("Sandbox")); again.ID != managed.ID || again.Status != environment.StatusActive || !again.Provisioned {
		t.Errorf("provisioned again it is %+v", again.Environment)
	}
	if err := b.ProvisionManaged(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Delete(t.Context(), b.actor, managed.ID, environment.DeleteOptions{}); err != nil {
		t.Error(err)
	}
}

// The current configuration alone grants the exception, whatever is recorded.
func TestManagedSandboxNeedsNoQualification(t *testing.T) {
	b := withDocker(t)
	company := b.company("Acme")
	managed := b.provision(managedAs("Sandbox"))
	if a := b.admission(managed.Environment, company); a.State != environment.QualificationNotRequired || !a.Allowed || a.Identity != nil {
		t.Errorf("provisioned it is %+v", a)
	}
	own := b.create(dockerDraft("Own"))
	if a := b.admission(own, company); a.Allowed {
		t.Errorf("an operator's own is %+v", a)
	}
	if err := b.ProvisionManaged(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if a := b.admission(managed.Environment, company); a.State != environment.QualificationAbsent || a.Allowed {
		t.Errorf("with a stale marker it is %+v", a)
	}
	b.qualify(managed.Environment, company)
}

func TestManagedSandboxGivesWayToAnOperatorsName(t *testing.T) {
	b := withDocker(t)
	mine := b.create(dockerDraft("Sandbox"))
	managed := b.provision(managedAs("sandbox"))
	if managed.ID == mine.ID || managed.Name != "sandbox (managed)" || b.get(mine).Managed {
		t.Errorf("the managed one is %q", managed.Name)
	}
	if again := b.provision(managedAs("sandbox")); again.Revision != managed.Revision {
		t.Error("the same again is a change")
	}
	if _, err := b.Delete(t.Context(), b.actor, mine.ID, environment.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if free := b.provision(managedAs("sandbox")); free.Name != "sandbox" {
		t.Errorf("when the name is free it is %q", free.Name)
	}
}

// It is provisioned while environments are turned off, too.
func TestManagedSandboxWhileEnvironmentsAreOff(t *testing.T) {
	b := withDocker(t)
	if _, err := b.UpdateSettings(t.Context(), b.actor, environment.SettingsPatch{EnableEnvironments: new(false)}); err != nil {
		t.Fatal(err)
	}
	if v := b.provision(managedAs("Sandbox")); !v.Provisioned {
		t.Error("it is not provisioned")
	}
}
