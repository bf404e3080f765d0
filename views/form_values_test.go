package views

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"berth/environment"
	"berth/environment/example"
)

// A form that is saved as it was loaded changes nothing.
func TestFormOfASavedEnvironmentSaysTheSame(t *testing.T) {
	saved := example.ReadySSH()
	d := FormValuesOf(saved.Environment).Draft()
	var config map[string]json.RawMessage
	if err := json.Unmarshal(saved.Config, &config); err != nil {
		t.Fatal(err)
	}
	for key, value := range d.Config {
		if stored := config[key]; string(stored) != string(value) {
			t.Errorf("%s: %s, want what is stored: %s", key, value, stored)
		}
	}
	for _, secret := range []string{"privateKey", "passphrase", "password"} {
		if value, sent := d.Config[secret]; sent {
			t.Errorf("%s is sent: %s", secret, value)
		}
	}
	if v := d.EnvVars["NPM_TOKEN"]; !v.Keep || v.Type != "secret" {
		t.Errorf("NPM_TOKEN: %+v, want it kept", v)
	}
	if v := d.EnvVars["NODE_ENV"]; v.Value.Reveal() != "production" || v.Type != "plain" {
		t.Errorf("NODE_ENV: %+v, want its value", v)
	}
}

func TestFormSendsWhatWasTypedAndRemoved(t *testing.T) {
	v := FormValuesOf(example.ReadySSH().Environment)
	v.Port, v.MinFreeMB, v.KnownHosts = "abc", "", " "
	v.PrivateKey.Source, v.Password.Value = SourceRemove, environment.NewSecret("typed")
	d := v.Draft()
	for key, want := range map[string]string{"port": `"abc"`, "minFreeMB": "null", "knownHosts": "null", "privateKey": "null", "password": `"typed"`} {
		if got := string(d.Config[key]); got != want {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
}

func TestTwoVariablesOfANameAreRefused(t *testing.T) {
	v := NewFormValues()
	v.Vars = []VarValue{{Name: "A"}, {Name: "A", Remove: true}, {Name: "B"}, {}, {}}
	if err := v.Problem(); err != nil {
		t.Errorf("one that is removed and empty rows count: %v", err)
	}
	v.Vars = append(v.Vars, VarValue{Name: "B"})
	e := environment.AsError(v.Problem())
	if e == nil || e.Fields[0].Field != "envVars.B" {
		t.Errorf("got %v, want an error at envVars.B", e)
	}
}

func render(t *testing.T, f Form) string {
	t.Helper()
	var b strings.Builder
	if err := EnvironmentForm(NewEnvironmentForm(f, example.Now())).Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestC67_FormNeverShowsASecret renders a refused form with secrets in every
// place where one can be typed.
func TestC67_FormNeverShowsASecret(t *testing.T) {
	v := NewFormValues()
	v.PrivateKey.Value, v.Passphrase.Value, v.Password.Value = environment.NewSecret("canary-key"), environment.NewSecret("canary-phrase"), environment.NewSecret("canary-password")
	v.Vars = []VarValue{{Name: "SECRET", Kind: VarSecret, Value: environment.NewSecret("canary-1")}, {Name: "SERVICE_TOKEN", Value: environment.NewSecret("canary-2")},
		{Name: "URL", Value: environment.NewSecret("http://u:canary-3@127.0.0.1/")}, {Name: "PLAIN", Value: environment.NewSecret("shown")}}
	refused := environment.AsError(environment.InvalidFields([]environment.FieldError{{Field: "name", Message: "Enter a name."}}))
	markup := render(t, Form{Values: v, Capabilities: example.Capabilities(), MayManage: true, Failed: refused})
	if i := strings.Index(markup, "canary"); i >= 0 {
		t.Errorf("the form shows a secret: …%s…", markup[max(0, i-60):i+20])
	}
	for _, want := range []string{"SERVICE_TOKEN", `value="shown"`, "Enter a name."} {
		if !strings.Contains(markup, want) {
			t.Errorf("the form does not hold %s", want)
		}
	}
}

func TestStaleFormShowsBothVersionsAndGoesOnFromTheSavedOne(t *testing.T) {
	saved := example.ReadySSH()
	f := Form{Values: FormValuesOf(saved.Environment), Saved: &saved, Capabilities: example.Capabilities(), MayManage: true}
	f.Values.Port, f.Values.Revision = "22", saved.Revision-1
	f.Failed = environment.NewError(environment.KindStale, environment.CodeStaleRevision, "changed").With("changedBy", "dana").
		With("changedAt", example.Now().Add(-2*time.Hour))
	p := NewEnvironmentForm(f, example.Now())
	if p.state != FormStale || p.revision() != "5" || p.stale.by != "dana" || p.stale.at != "2 h ago" {
		t.Errorf("state %s, revision %s, by %s %s", p.state, p.revision(), p.stale.by, p.stale.at)
	}
	if len(p.stale.versions) != 1 || p.stale.versions[0] != (version{"Port", "22", "2222"}) {
		t.Errorf("versions %+v, want the two ports", p.stale.versions)
	}
}

func TestLocalIsOfferedOnlyToWhatIsLocal(t *testing.T) {
	fresh := Form{Values: NewFormValues(), Capabilities: example.Capabilities(), MayManage: true}
	if p := NewEnvironmentForm(fresh, example.Now()); len(p.drivers) != 1 || p.drivers[0].Value != environment.DriverSSH {
		t.Errorf("a new one is offered %v", p.drivers)
	}
	local := example.Local()
	edit := Form{Values: FormValuesOf(local.Environment), Saved: &local, Capabilities: example.Capabilities(), MayManage: true}
	if p := NewEnvironmentForm(edit, example.Now()); len(p.drivers) != 1 || p.drivers[0].Value != environment.DriverLocal {
		t.Errorf("local is offered %v", p.drivers)
	}
	if d := edit.Values.Draft(); d.Config != nil {
		t.Errorf("local sends a config: %v", d.Config)
	}
}

// Beside a value that somebody else saved, an empty field says that it is empty.
func TestStaleFormNamesWhatIsEmpty(t *testing.T) {
	yours, saved := FormValuesOf(example.ReadySSH().Environment), FormValuesOf(example.ReadySSH().Environment)
	yours.Description, saved.Description = " ", "Builds"
	yours.ProxyJump, saved.ProxyJump = "hop", ""
	for _, v := range differences(yours, saved, nil) {
		if (v.name == "Description" && v.yours != "none") || (v.name == "Jump hosts" && v.saved != "none") {
			t.Errorf("%s: %q and %q", v.name, v.yours, v.saved)
		}
	}
}
