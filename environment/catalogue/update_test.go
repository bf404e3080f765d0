package catalogue_test

import (
	"encoding/json"
	"slices"
	"sync"
	"testing"

	"berth/environment"
)

func TestUpdateMergesOneLevelDeep(t *testing.T) {
	b := newBench(t)
	d := sshDraft("Build box", "port", 2222, "proxyJump", "bastion")
	d.EnvVars = map[string]environment.EnvVarDraft{"A": plain("1"), "B": plain("2")}
	d.Metadata = json.RawMessage(`{"rack": 7, "row": 1}`)
	env := b.create(d)

	next := b.update(env, environment.Patch{
		Config:   config("host", "other.example", "proxyJump", nil),
		EnvVars:  map[string]environment.EnvVarDraft{"B": {Remove: true}, "C": plain("3")},
		Metadata: json.RawMessage(`{"row": 2}`),
	})
	k := keys(t, next)
	if k["host"] != "other.example" || k["port"] != 2222.0 || k["username"] != "runner" || k["proxyJump"] != nil {
		t.Errorf("config %s", next.Config)
	}
	if len(next.EnvVars) != 2 || next.EnvVars["A"].Value != "1" || next.EnvVars["C"].Value != "3" {
		t.Errorf("variables %v", next.EnvVars)
	}
	if string(next.Metadata) != `{"row":2}` {
		t.Errorf("metadata %s is not replaced", next.Metadata)
	}
	if next.Revision != 2 || next.ConfigRevision != 2 {
		t.Errorf("revision %d, config revision %d", next.Revision, next.ConfigRevision)
	}
	if next = b.update(next, environment.Patch{Config: config("port", nil), Metadata: json.RawMessage("null")}); keys(t, next)["port"] != 22.0 {
		t.Errorf("a removed port is %v, not the default", keys(t, next)["port"])
	}
	if string(next.Metadata) != "null" {
		t.Errorf("metadata %s is not removed", next.Metadata)
	}
	next = b.update(next, environment.Patch{ReplaceEnvVars: true, EnvVars: map[string]environment.EnvVarDraft{"C": {Keep: true}}})
	if len(next.EnvVars) != 1 || next.EnvVars["C"].Value != "3" {
		t.Errorf("a form's list leaves %v", next.EnvVars)
	}
}

func TestOnlyConfigMakesTheVerdictOld(t *testing.T) {
	b := newBench(t)
	d := sshDraft("Build box", "port", 2222)
	d.EnvVars = vars("A", plain("1"))
	env := b.create(d)
	for _, tc := range []struct {
		name   string
		patch  environment.Patch
		config bool
	}{
		{"name", environment.Patch{Name: new("Other box")}, false},
		{"description", environment.Patch{SetDescription: true, Description: new("x")}, false},
		{"metadata", environment.Patch{Metadata: json.RawMessage(`{"a":1}`)}, false},
		{"status", environment.Patch{Status: new(environment.StatusMaintenance)}, false},
		{"port", environment.Patch{Config: config("port", 2200)}, true},
		{"variable", environment.Patch{EnvVars: vars("A", plain("2"))}, true},
		{"password", environment.Patch{Config: config("password", "x")}, true},
		{"name and the same port", environment.Patch{Name: new("Third box"), Config: config("port", 2200)}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			next := b.update(env, tc.patch)
			if next.Revision != env.Revision+1 {
				t.Errorf("revision %d after %d", next.Revision, env.Revision)
			}
			if changed := next.ConfigRevision == next.Revision; changed != tc.config {
				t.Errorf("config changed: %v", changed)
			}
			env = next
		})
	}
}

func TestAPatchThatChangesNothingWritesNothing(t *testing.T) {
	b := newBench(t)
	d := sshDraft("Build box", "port", 2222, "password", "canary-1")
	d.EnvVars = map[string]environment.EnvVarDraft{"A": plain("1"), "API_TOKEN": plain("canary-2")}
	env := b.create(d)
	revision, err := b.Revision(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var whole map[string]json.RawMessage
	if err := json.Unmarshal(env.Config, &whole); err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]environment.Patch{
		"nothing":          {},
		"same name":        {Name: new(" Build  box ")},
		"same values":      {Config: config("port", 2222, "host", "build.example")},
		"what a read gave": {Config: whole},
		"same password":    {Config: config("password", "canary-1")},
		"blank password":   {Config: config("password", " ", "privateKey", "")},
		"same variables":   {EnvVars: d.EnvVars, ReplaceEnvVars: true},
		"same status":      {Status: new(environment.StatusActive), Driver: new("ssh")},
		"no description":   {SetDescription: true, Description: new(" ")},
	} {
		t.Run(name, func(t *testing.T) {
			if next := b.update(env, p); next.Revision != env.Revision {
				t.Errorf("revision %d after %d", next.Revision, env.Revision)
			}
		})
	}
	if after, err := b.Revision(t.Context()); err != nil || after != revision {
		t.Errorf("the catalogue's revision went from %d to %d, %v", revision, after, err)
	}
}

func TestStaleSaysWhoChangedWhat(t *testing.T) {
	b := newBench(t)
	env := b.create(sshDraft("Build box"))
	b.actor.Name = "somebody else"
	b.update(env, environment.Patch{Config: config("port", 2222)})
	b.actor.Name = "third"
	b.update(env, environment.Patch{Name: new("Other box")})

	_, err := b.Update(t.Context(), b.actor, env.ID, new(1), environment.Patch{Name: new("Mine")})
	e := refusal(t, err, environment.KindStale, environment.CodeStaleRevision)
	changed, _ := e.Details["changedFields"].([]string)
	if e.Details["current"] != 3 || e.Details["changedBy"] != "third" || !slices.Equal(changed, []string{"config.port", "name"}) {
		t.Errorf("details %v", e.Details)
	}
	_, err = b.Update(t.Context(), b.actor, env.ID, new(2), environment.Patch{})
	e = refusal(t, err, environment.KindStale, environment.CodeStaleRevision)
	if changed, _ := e.Details["changedFields"].([]string); !slices.Equal(changed, []string{"name"}) {
		t.Errorf("since revision 2 it names %v", changed)
	}
	if _, err := b.Update(t.Context(), b.actor, env.ID, new(3), environment.Patch{Name: new("Mine")}); err != nil {
		t.Errorf("the present revision is refused: %v", err)
	}
}

// TestWritersAtOnceAllSucceed: without If-Match each write begins again.
func TestWritersAtOnceAllSucceed(t *testing.T) {
	b := newBench(t)
	env := b.create(sshDraft("Build box"))
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for i, name := range []string{"A", "B", "C", "D", "E", "F", "G", "H"} {
		wg.Go(func() {
			_, errs[i] = b.Update(t.Context(), b.actor, env.ID, nil, environment.Patch{EnvVars: vars(name, plain("x"))})
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
	if v := b.get(env); len(v.EnvVars) != len(errs) || v.Revision != 1+len(errs) {
		t.Errorf("%d variables at revision %d", len(v.EnvVars), v.Revision)
	}
}

func TestAnotherDriverStartsFromNothing(t *testing.T) {
	b := newBench(t)
	env := b.create(sshDraft("Build box", "port", 2222))
	_, err := b.Update(t.Context(), b.actor, env.ID, nil, environment.Patch{Driver: new("sandbox")})
	if e := refusal(t, err, environment.KindInvalid, "validation_failed"); fields(e) != "driver" {
		t.Errorf("wrong at %q", fields(e))
	}
	_, err = b.Update(t.Context(), b.actor, env.ID, nil, environment.Patch{Driver: new("local")})
	want(t, err, environment.KindConflict, "local_exists")
}

func TestLocalStaysLocal(t *testing.T) {
	b := newBench(t)
	for name, p := range map[string]environment.Patch{
		"another driver": {Driver: new("ssh"), Config: config("host", "x")},
		"archived":       {Status: new(environment.StatusArchived)},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := b.Update(t.Context(), b.actor, b.local.ID, nil, p)
			want(t, err, environment.KindConflict, "managed_local")
		})
	}
	_, err := b.Update(t.Context(), b.actor, b.local.ID, nil, environment.Patch{Config: config("host", "x")})
	if e := refusal(t, err, environment.KindInvalid, "validation_failed"); fields(e) != "config.host" {
		t.Errorf("a setting that Local has not is wrong at %q", fields(e))
	}
	if next := b.update(b.local, environment.Patch{Name: new("This machine")}); next.Name != "This machine" {
		t.Errorf("renamed to %q", next.Name)
	}
	_, err = b.Delete(t.Context(), b.actor, b.local.ID, environment.DeleteOptions{})
	e := refusal(t, err, environment.KindConflict, "environment_in_use")
	if reasons, _ := e.Details["deleteBlockedReasons"].([]string); !slices.Contains(reasons, "managed_local") {
		t.Errorf("reasons %v", reasons)
	}
}

func TestArchiveAndRestore(t *testing.T) {
	b := newBench(t)
	env := b.create(sshDraft("Build box"))
	if _, err := b.UpdateSettings(t.Context(), b.actor, environment.SettingsPatch{DefaultEnvironmentID: &env.ID}); err != nil {
		t.Fatal(err)
	}
	_, err := b.Update(t.Context(), b.actor, env.ID, nil, environment.Patch{Status: new(environment.StatusArchived)})
	want(t, err, environment.KindConflict, "environment_is_default")
	if _, err := b.UpdateSettings(t.Context(), b.actor, environment.SettingsPatch{ClearDefault: true}); err != nil {
		t.Fatal(err)
	}
	b.update(env, environment.Patch{Status: new(environment.StatusArchived)})
	b.update(env, environment.Patch{Status: new(environment.StatusActive)})
	entries := b.entries(env)
	if entries[0].Action != "environment.restored" || entries[1].Action != "environment.archived" {
		t.Errorf("activity %s, %s", entries[0].Action, entries[1].Action)
	}
}

// TestADriverThatIsGoneLeavesItsRowEditable: but its config cannot be checked.
func TestADriverThatIsGoneLeavesItsRowEditable(t *testing.T) {
	b := newBench(t)
	env := b.create(sshDraft("Build box"))
	b.absent["ssh"] = true
	next := b.update(env, environment.Patch{Name: new("Other"), EnvVars: vars("A", plain("1"))})
	if next.Name != "Other" || string(next.Config) != string(env.Config) {
		t.Errorf("%q, %s", next.Name, next.Config)
	}
	_, err := b.Update(t.Context(), b.actor, env.ID, nil, environment.Patch{Config: config("port", 1)})
	want(t, err, environment.KindUnavailable, environment.CodeProviderUnavailable)
	_, err = b.TrustHostKey(t.Context(), b.actor, env.ID, "SHA256:x", false)
	want(t, err, environment.KindUnavailable, environment.CodeProviderUnavailable)
	_, _, err = b.GenerateKey(t.Context(), b.actor, "")
	want(t, err, environment.KindUnavailable, environment.CodeProviderUnavailable)
}
