package catalogue_test

import (
	"encoding/json"
	"strings"
	"testing"

	"berth/environment"
)

func TestASandboxNamesItsProvider(t *testing.T) {
	b := withDocker(t)
	b.offer(plainSandbox{provider: "fake", schema: `{"properties":{}}`}, "It is for tests: start the server with --dev.")
	for name, c := range map[string]struct {
		config map[string]json.RawMessage
		where  string
		says   string
	}{
		"none":               {config("image", "a"), "config.provider", "Choose a provider: docker, plain."},
		"blank":              {config("provider", " ", "image", "a"), "config.provider", "Choose a provider: docker, plain."},
		"no text":            {config("provider", 5), "config.provider", "Choose a provider: docker, plain."},
		"null":               {config("provider", nil), "config.provider", "Choose a provider: docker, plain."},
		"not installed":      {config("provider", "cloud"), "config.provider", "The provider cloud is not installed on this server."},
		"cannot be used":     {config("provider", "fake"), "config.provider", "start the server with --dev"},
		"all at once":        {config("provider", "docker", "image", "Team/App", "cpus", 65, "network", "A B"), "config.cpus config.network config.image", "from 0.1 to 64 cores"},
		"unknown key":        {config("provider", "docker", "image", "a", "socket", "/x"), "config.socket", "no setting"},
		"unknown key, plain": {config("provider", "plain", "socket", "/x"), "config.socket", "no setting"},
		"nested":             {config("provider", "docker", "image", "a", "env", map[string]any{"A": 1}), "config.env.A", "text"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := b.Create(t.Context(), b.actor, environment.Draft{Name: "S", Driver: "sandbox", Config: c.config})
			e := refusal(t, err, environment.KindInvalid, "validation_failed")
			if fields(e) != c.where || !strings.Contains(e.Fields[0].Message, c.says) {
				t.Errorf("wrong at %+v, want %s: %s", e.Fields, c.where, c.says)
			}
		})
	}
}

func TestAnotherProviderStartsFromNothing(t *testing.T) {
	b := withDocker(t)
	env := b.create(dockerDraft("S", "registryPassword", "canary-1", "cpus", 2))
	next := b.update(env, environment.Patch{Config: config("provider", "plain", "apiKey", "canary-2")})
	stored := keys(t, next)
	if len(stored) != 2 || stored["provider"] != "plain" || stored["apiKeySecretRef"] == nil || b.spec(next).Secrets["apiKey"].Reveal() != "canary-2" {
		t.Errorf("the config is %v", stored)
	}
	blank := b.update(next, environment.Patch{Config: config("provider", "plain", "apiKey", "", "region", "eu")})
	if b.spec(blank).Secrets["apiKey"].Reveal() != "canary-2" || keys(t, blank)["region"] != "eu" {
		t.Errorf("a blank secret is the stored one: %s", blank.Config)
	}
	gone := b.update(next, environment.Patch{Config: config("apiKey", nil)})
	if len(b.spec(gone).Secrets) != 0 {
		t.Errorf("the secret stays: %s", gone.Config)
	}
	again := b.update(next, environment.Patch{Driver: new("ssh"), Config: config("host", "x", "username", "y")})
	if keys(t, again)["provider"] != nil {
		t.Errorf("a host has a provider: %s", again.Config)
	}
}

// C63: an environment whose provider is gone stays readable, can be renamed and
// deleted, and cannot be the default; its settings are kept.
func TestC63_AProviderThatIsGone(t *testing.T) {
	b := withDocker(t)
	env := b.create(dockerDraft("S", "registryPassword", "canary-1"))
	delete(b.sandboxes, environment.ProviderDocker)
	view := b.get(env)
	problems := b.ConfigProblems(view.Environment)
	if string(view.Config) != string(env.Config) || len(problems) != 1 || problems[0].Field != "config.provider" || !strings.Contains(problems[0].Message, "not installed") {
		t.Fatalf("config %s, problems %+v", view.Config, problems)
	}
	same := map[string]json.RawMessage{}
	if err := json.Unmarshal(env.Config, &same); err != nil {
		t.Fatal(err)
	}
	next := b.update(env, environment.Patch{Name: new("T"), EnvVars: vars("A", plain("b")), Config: same})
	if next.Name != "T" || string(next.Config) != string(env.Config) || len(next.EnvVars) != 1 {
		t.Errorf("after an edit it is %+v", next)
	}
	_, err := b.Update(t.Context(), b.actor, env.ID, nil, environment.Patch{Config: config("cpus", 2)})
	want(t, err, environment.KindUnavailable, environment.CodeProviderUnavailable)
	_, err = b.UpdateSettings(t.Context(), b.actor, environment.SettingsPatch{DefaultEnvironmentID: &env.ID})
	if e := refusal(t, err, environment.KindInvalid, environment.CodeProviderUnavailable); fields(e) != "defaultEnvironmentId" {
		t.Errorf("wrong at %s", fields(e))
	}
	if _, err := b.Delete(t.Context(), b.actor, env.ID, environment.DeleteOptions{}); err != nil {
		t.Error(err)
	}
}

// C63: a stored value that a new schema refuses marks that environment alone.
func TestC63_AStoredValueThatTheSchemaRefusesNow(t *testing.T) {
	b := withDocker(t)
	bad := b.create(environment.Draft{Name: "Bad", Driver: "sandbox", Config: config("provider", "plain", "region", "eu")})
	good := b.create(environment.Draft{Name: "Good", Driver: "sandbox", Config: config("provider", "plain", "region", "a/b")})
	docker := b.create(dockerDraft("Docker"))
	b.offer(plainSandbox{provider: "plain", schema: `{"properties":{"region":{"type":"string","pattern":"^[^/]+/[^/]+$"}}}`}, "")
	page, err := b.List(t.Context(), b.actor, environment.ListFilter{})
	if err != nil || len(page.Items) != 4 {
		t.Fatalf("the list: %d, %v", len(page.Items), err)
	}
	for _, env := range []environment.Environment{good, docker, b.local} {
		if problems := b.ConfigProblems(b.get(env).Environment); len(problems) != 0 {
			t.Errorf("%s: %+v", env.Name, problems)
		}
	}
	if problems := b.ConfigProblems(b.get(bad).Environment); len(problems) != 1 || problems[0].Field != "config.region" {
		t.Errorf("problems %+v", problems)
	}
	renamed := b.update(bad, environment.Patch{Name: new("Still bad")})
	if renamed.Name != "Still bad" {
		t.Error("it cannot be renamed")
	}
	b.offer(plainSandbox{provider: "plain", schema: `{"properties":5}`}, "")
	if problems := b.ConfigProblems(b.get(bad).Environment); len(problems) != 1 || !strings.Contains(problems[0].Message, "schema") {
		t.Errorf("with a schema that is none: %+v", problems)
	}
}

func TestAProviderThatCanMakeNothingNew(t *testing.T) {
	b := withDocker(t)
	env := b.create(dockerDraft("S"))
	b.offer(fakeDocker{plainSandbox{provider: environment.ProviderDocker, schema: dockerSchema}}, "Only for tests.")
	if next := b.update(env, environment.Patch{Config: config("cpus", 2)}); keys(t, next)["cpus"] != 2.0 {
		t.Errorf("what exists can be edited: %s", next.Config)
	}
	_, err := b.UpdateSettings(t.Context(), b.actor, environment.SettingsPatch{DefaultEnvironmentID: &env.ID})
	want(t, err, environment.KindInvalid, environment.CodeProviderUnavailable)
	box := b.create(sshDraft("Build box"))
	_, err = b.Delete(t.Context(), b.actor, box.ID, environment.DeleteOptions{ReassignTo: &env.ID})
	if e := refusal(t, err, environment.KindInvalid, environment.CodeProviderUnavailable); fields(e) != "reassignTo" {
		t.Errorf("wrong at %s", fields(e))
	}
	_, err = b.Update(t.Context(), b.actor, box.ID, nil, environment.Patch{Driver: new("sandbox"), Config: config("provider", "docker", "image", "a")})
	if e := refusal(t, err, environment.KindInvalid, "validation_failed"); fields(e) != "config.provider" || e.Message != "Only for tests." {
		t.Errorf("wrong: %+v", e.Fields)
	}
}

// No secret of a sandbox is stored in its config, or shows in its log.
func TestSandboxSecretsAreStoredApart(t *testing.T) {
	b := withDocker(t)
	env := b.create(dockerDraft("S", "registryPassword", "canary-1", "tlsKey", "canary-2"))
	plain := b.create(environment.Draft{Name: "P", Driver: "sandbox", Config: config("provider", "plain", "apiKey", "canary-3")})
	b.update(env, environment.Patch{Config: config("registryPassword", "canary-4")})
	for _, e := range []environment.Environment{env, plain} {
		log, err := json.Marshal(b.entries(e))
		if err != nil {
			t.Fatal(err)
		}
		if text := string(b.get(e).Config) + string(log) + b.log.String(); strings.Contains(text, "canary") {
			t.Errorf("a secret shows in %s", text)
		}
	}
	if s := b.spec(b.get(env).Environment).Secrets; s["registryPassword"].Reveal() != "canary-4" || s["tlsKey"].Reveal() != "canary-2" {
		t.Errorf("the secrets do not open")
	}
}

// C39, C40: a reference with a digest, with a tag or without, is the same text when
// it was saved, edited and saved again, and for the driver.
func TestC39_C40_AReferenceStaysAsItWasEntered(t *testing.T) {
	b := withDocker(t)
	digest := "@sha256:" + strings.Repeat("0123456789abcdef", 4)
	for name, image := range map[string]string{
		"C39": "registry.test:5000/team/app" + digest,
		"C40": "registry.test:5000/team/app:1.2" + digest,
	} {
		t.Run(name, func(t *testing.T) {
			env := b.create(dockerDraft(name, "image", image))
			same := map[string]json.RawMessage{}
			if err := json.Unmarshal(env.Config, &same); err != nil {
				t.Fatal(err)
			}
			next := b.update(env, environment.Patch{Config: same})
			if next.Revision != env.Revision {
				t.Error("saving it again is a change")
			}
			for _, raw := range []json.RawMessage{env.Config, next.Config, b.spec(next).Config} {
				if got := object(t, raw)["image"]; got != image {
					t.Errorf("the image is %v", got)
				}
			}
		})
	}
}

// C42: a reference that is none is an error at its field when it is saved.
func TestC42_BadReferencesAreRefusedWhenTheyAreSaved(t *testing.T) {
	b := withDocker(t)
	hex := strings.Repeat("0123456789abcdef", 4)
	for i, c := range []struct{ image, stored, says string }{
		{"Team/App:1", "", "lower case"}, {"app:Latest", "app:Latest", ""},
		{"app:" + strings.Repeat("a", 128), "app:" + strings.Repeat("a", 128), ""}, {"app:" + strings.Repeat("a", 129), "", "128"},
		{"app:", "", "tag"}, {"app@", "", "digest"}, {"app:v1+build", "", "tag"}, {"https://registry.test/app:1", "", "scheme"},
		{" app:1 ", "app:1", ""}, {"app@sha256:abc", "", "digest"}, {"app@sha256:" + strings.ToUpper(hex), "", "digest"},
		{"app@sha512:" + hex + hex, "app@sha512:" + hex + hex, ""}, {"team//app", "", ""}, {"a..b", "", ""}, {"", "", ""},
	} {
		env, err := b.Create(t.Context(), b.actor, dockerDraft("S"+string(rune('a'+i)), "image", c.image))
		switch {
		case c.stored != "" && (err != nil || object(t, env.Config)["image"] != c.stored):
			t.Errorf("%q is stored as %s, %v", c.image, env.Config, err)
		case c.stored == "":
			e := refusal(t, err, environment.KindInvalid, "validation_failed")
			if fields(e) != "config.image" || !strings.Contains(e.Message, c.says) {
				t.Errorf("%q: %+v", c.image, e.Fields)
			}
		}
	}
}

// C44: a short name is stored as it is: the catalogue looks nothing up, and makes no
// public image of it.
func TestC44_AShortNameStaysShort(t *testing.T) {
	b := withDocker(t)
	for _, name := range []string{"py-base", "py-basee"} {
		if env := b.create(dockerDraft(name, "image", name)); object(t, env.Config)["image"] != name {
			t.Errorf("%s became %s", name, env.Config)
		}
	}
}

func object(t *testing.T, raw json.RawMessage) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestBudgets(t *testing.T) {
	b := withDocker(t)
	d := dockerDraft("S")
	d.Budget = &environment.Budget{AccountLabel: strings.Repeat("a", 121), MaxLeases: -1, LeaseMinutesPerDay: 1_000_001, Note: strings.Repeat("a", 2001)}
	_, err := b.Create(t.Context(), b.actor, d)
	if e := refusal(t, err, environment.KindInvalid, "validation_failed"); fields(e) != "budget.accountLabel budget.note budget.maxLeases budget.leaseMinutesPerDay" {
		t.Errorf("wrong at %s", fields(e))
	}
	d.Budget = &environment.Budget{AccountLabel: " team ", MaxLeases: 1000, LeaseMinutesPerDay: 1_000_000}
	env := b.create(d)
	if env.Budget == nil || env.Budget.AccountLabel != "team" || env.Budget.MaxLeases != 1000 {
		t.Fatalf("the budget is %+v", env.Budget)
	}
	next := b.update(env, environment.Patch{Budget: &environment.Budget{AccountLabel: "team", MaxLeases: 2}})
	if next.Budget.MaxLeases != 2 || next.ConfigRevision != env.ConfigRevision || next.Revision == env.Revision {
		t.Errorf("after an edit it is %+v of config revision %d", next.Budget, next.ConfigRevision)
	}
	if changes := texts(t, b.entries(env)[0]); changes != "budget.leaseMinutesPerDay budget.maxLeases" {
		t.Errorf("the log says %s", changes)
	}
	kept := b.update(next, environment.Patch{Name: new("T")})
	if kept.Budget == nil {
		t.Error("another edit took the budget away")
	}
	for name, p := range map[string]environment.Patch{"cleared": {ClearBudget: true}, "nothing said": {Budget: &environment.Budget{}}} {
		if gone := b.update(b.update(kept, environment.Patch{Budget: &environment.Budget{MaxLeases: 3}}), p); gone.Budget != nil {
			t.Errorf("%s: %+v", name, gone.Budget)
		}
	}
}

// texts are the changed fields of an entry.
func texts(t *testing.T, a environment.Activity) string {
	t.Helper()
	list, ok := a.Details["changedFields"].([]string)
	if !ok {
		t.Fatalf("changed fields are %T", a.Details["changedFields"])
	}
	return strings.Join(list, " ")
}

// What only Berth sets is refused, on creation as on an edit, and changes nothing.
func TestForgedMetadata(t *testing.T) {
	b := withDocker(t)
	company := b.company("Acme")
	env := b.create(dockerDraft("S"))
	b.qualify(env, company)
	forged := json.RawMessage(`{"platformQualification":{"status":"valid"},"managedByPaperclip":true,"defaultForInstance":true,"mine":1}`)
	const where = "metadata.platformQualification metadata.managedByPaperclip metadata.defaultForInstance"
	d := dockerDraft("T")
	d.Metadata = forged
	_, err := b.Create(t.Context(), b.actor, d)
	if e := refusal(t, err, environment.KindInvalid, "validation_failed"); fields(e) != where {
		t.Errorf("wrong at %s", fields(e))
	}
	before := b.get(env)
	_, err = b.Update(t.Context(), b.actor, env.ID, nil, environment.Patch{Metadata: forged})
	if e := refusal(t, err, environment.KindInvalid, "validation_failed"); fields(e) != where {
		t.Errorf("wrong at %s", fields(e))
	}
	if after := b.get(env); after.Revision != before.Revision || string(after.Metadata) != string(before.Metadata) || after.Managed {
		t.Error("a refused edit changed the row")
	}
	b.update(env, environment.Patch{Metadata: json.RawMessage("null")})
	b.update(env, environment.Patch{Metadata: json.RawMessage(`{"mine":1}`)})
	if a := b.admission(env, company); a.State != environment.QualificationRecorded || !a.Allowed {
		t.Errorf("an edit of metadata made it %+v", a)
	}
}
