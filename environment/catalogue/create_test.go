package catalogue_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"berth/environment"
)

func TestCreateCollectsEveryWrongField(t *testing.T) {
	b := newBench(t)
	d := environment.Draft{
		Name: "  ", Driver: environment.DriverSSH, Status: "gone", Description: new("a\x00"),
		Config:   config("port", 0),
		EnvVars:  map[string]environment.EnvVarDraft{"BAD-NAME": plain("x"), "BERTH_X": plain("x"), "OK": {Type: "odd"}},
		Metadata: json.RawMessage(`{"defaultForInstance": true, "managedByPaperclip": false, "platformQualification": {}}`),
	}
	_, err := b.Create(t.Context(), b.actor, d)
	e := refusal(t, err, environment.KindInvalid, "validation_failed")
	wanted := "name description status metadata.platformQualification metadata.managedByPaperclip metadata.defaultForInstance " +
		"config.host config.port envVars.BAD-NAME envVars.BERTH_X envVars.OK"
	if fields(e) != wanted {
		t.Errorf("wrong fields:\n%s\nwant\n%s", fields(e), wanted)
	}
	if _, err := b.Check(t.Context(), b.actor, nil, d); fields(refusal(t, err, environment.KindInvalid, "validation_failed")) != wanted {
		t.Errorf("Check finds %v", err)
	}
}

func plain(v string) environment.EnvVarDraft {
	return environment.EnvVarDraft{Type: "plain", Value: environment.NewSecret(v)}
}

func secret(v string) environment.EnvVarDraft {
	return environment.EnvVarDraft{Type: "secret", Value: environment.NewSecret(v)}
}

func TestCreateRefuses(t *testing.T) {
	many := map[string]environment.EnvVarDraft{}
	for i := range environment.MaxEnvVars + 1 {
		many[fmt.Sprintf("V%d", i)] = plain("x")
	}
	stranger := environment.NewID()
	for name, tc := range map[string]struct {
		change func(*environment.Draft)
		field  string
	}{
		"no driver":              {func(d *environment.Draft) { d.Driver = "" }, "driver"},
		"unknown driver":         {func(d *environment.Draft) { d.Driver = "teleport" }, "driver"},
		"sandbox":                {func(d *environment.Draft) { d.Driver = "sandbox" }, "driver"},
		"plugin":                 {func(d *environment.Draft) { d.Driver = "plugin" }, "driver"},
		"name of 121":            {func(d *environment.Draft) { d.Name = strings.Repeat("x", 121) }, "name"},
		"long description":       {func(d *environment.Draft) { d.Description = new(strings.Repeat("x", 2001)) }, "description"},
		"metadata is a list":     {func(d *environment.Draft) { d.Metadata = json.RawMessage(`[1]`) }, "metadata"},
		"NUL in metadata":        {func(d *environment.Draft) { d.Metadata = json.RawMessage(`{"a":"\u0000"}`) }, "metadata"},
		"201 variables":          {func(d *environment.Draft) { d.EnvVars = many }, "envVars"},
		"NUL in a variable":      {func(d *environment.Draft) { d.EnvVars = vars("A", plain("a\x00")) }, "envVars.A"},
		"secret without value":   {func(d *environment.Draft) { d.EnvVars = vars("A", secret("")) }, "envVars.A"},
		"nothing to keep":        {func(d *environment.Draft) { d.EnvVars = vars("A", environment.EnvVarDraft{Keep: true}) }, "envVars.A"},
		"reference to nothing":   {func(d *environment.Draft) { d.EnvVars = vars("A", environment.EnvVarDraft{Type: "secret_ref"}) }, "envVars.A"},
		"no such secret":         {func(d *environment.Draft) { d.EnvVars = vars("A", refTo(environment.RefTo(stranger))) }, "envVars.A"},
		"no such config secret":  {func(d *environment.Draft) { d.Config["passwordSecretRef"] = raw(environment.RefTo(stranger)) }, "config.passwordSecretRef"},
		"broken reference":       {func(d *environment.Draft) { d.Config["passwordSecretRef"] = raw("x") }, "config.passwordSecretRef"},
		"secret over 64 KiB":     {func(d *environment.Draft) { d.Config["password"] = raw(strings.Repeat("x", 64<<10+1)) }, "config.password"},
		"NUL in a config string": {func(d *environment.Draft) { d.Config["username"] = raw("a\x00") }, "config"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			d := sshDraft("Build box")
			tc.change(&d)
			_, err := b.Create(t.Context(), b.actor, d)
			e := refusal(t, err, environment.KindInvalid, "validation_failed")
			if fields(e) != tc.field {
				t.Errorf("wrong at %q, want %q", fields(e), tc.field)
			}
			if page, err := b.List(t.Context(), b.actor, environment.ListFilter{}); err != nil || len(page.Items) != 1 {
				t.Errorf("%d rows, %v: the refused one was stored", len(page.Items), err)
			}
		})
	}
}

func vars(name string, v environment.EnvVarDraft) map[string]environment.EnvVarDraft {
	return map[string]environment.EnvVarDraft{name: v}
}

func refTo(ref environment.SecretRef) environment.EnvVarDraft {
	return environment.EnvVarDraft{Type: "secret_ref", Ref: &ref}
}

func raw(v any) json.RawMessage { return config("x", v)["x"] }

func TestCreateAtTheLimits(t *testing.T) {
	b := newBench(t)
	d := sshDraft(strings.Repeat("é", 120), "password", strings.Repeat("x", 64<<10))
	d.Description = new(strings.Repeat("é", 2000))
	d.EnvVars = map[string]environment.EnvVarDraft{}
	for i := range environment.MaxEnvVars {
		d.EnvVars[fmt.Sprintf("V%d", i)] = plain("x")
	}
	if env := b.create(d); len(env.EnvVars) != environment.MaxEnvVars {
		t.Errorf("%d variables", len(env.EnvVars))
	}
}

func TestCreateStores(t *testing.T) {
	b := newBench(t)
	d := sshDraft("  Build   box ", "port", 2222)
	d.Description, d.Metadata = new("  by the door "), json.RawMessage(`{"rack": 7, "a": null}`)
	d.Status = environment.StatusArchived
	d.EnvVars = map[string]environment.EnvVarDraft{"PLACE": plain("cellar"), "EMPTY": plain("")}
	env := b.create(d)
	if env.Name != "Build box" || *env.Description != "by the door" || env.Status != environment.StatusArchived {
		t.Errorf("stored %q, %q, %s", env.Name, *env.Description, env.Status)
	}
	if env.Revision != 1 || env.ConfigRevision != 1 || string(env.Metadata) != `{"a":null,"rack":7}` {
		t.Errorf("revision %d, config revision %d, metadata %s", env.Revision, env.ConfigRevision, env.Metadata)
	}
	if keys(t, env)["port"] != 2222.0 || env.EnvVars["PLACE"].Value != "cellar" || env.EnvVars["EMPTY"].Type != "plain" {
		t.Errorf("config %s, variables %v", env.Config, env.EnvVars)
	}
	if v := b.get(env); v.Health() != environment.HealthUntested {
		t.Errorf("a new row is %s", v.Health())
	}
	entry := b.entries(env)[0]
	if entry.Action != "environment.created" || entry.ActorName != "local operator" || entry.Details["name"] != "Build box" {
		t.Errorf("activity %+v", entry)
	}
}

// C81: ten creates of one name at once make one row; case and blanks do not
// count; there is one Local however often it is made.
func TestC81_OneNameOneRow(t *testing.T) {
	b := newBench(t)
	var wg sync.WaitGroup
	errs := make([]error, 10)
	for i := range errs {
		wg.Go(func() { _, errs[i] = b.Create(t.Context(), b.actor, sshDraft("Build Box")) })
	}
	wg.Wait()
	made := 0
	for _, err := range errs {
		if err == nil {
			made++
			continue
		}
		if e := refusal(t, err, environment.KindConflict, environment.CodeNameTaken); fields(e) != "name" {
			t.Errorf("the refusal is at %q", fields(e))
		}
	}
	if made != 1 {
		t.Errorf("%d rows were made", made)
	}
	for _, name := range []string{"build box", " Build Box ", "BUILD\tBOX"} {
		_, err := b.Create(t.Context(), b.actor, sshDraft(name))
		want(t, err, environment.KindConflict, environment.CodeNameTaken)
		_, err = b.Check(t.Context(), b.actor, nil, sshDraft(name))
		if e := refusal(t, err, environment.KindInvalid, "validation_failed"); fields(e) != "name" {
			t.Errorf("Check finds %q", fields(e))
		}
	}
	again, err := b.EnsureLocal(t.Context(), true)
	if err != nil || again.ID != b.local.ID {
		t.Errorf("a second Local: %v, %v", again.ID, err)
	}
	_, err = b.Create(t.Context(), b.actor, environment.Draft{Name: "Another", Driver: environment.DriverLocal})
	want(t, err, environment.KindConflict, "local_exists")
}
