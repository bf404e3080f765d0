package catalogue_test

import (
	"encoding/json"
	"testing"

	"berth/environment"
	"berth/environment/catalogue"
	"berth/environment/environmenttest"

	"github.com/google/uuid"
)

// secretsOf are the ids of the secrets that an environment refers to.
func secretsOf(t *testing.T, env environment.Environment) []uuid.UUID {
	t.Helper()
	var ids []uuid.UUID
	for key := range environment.SSHSecretFields() {
		if id := refOf(t, env, key); id != uuid.Nil {
			ids = append(ids, id)
		}
	}
	for _, v := range env.EnvVars {
		if v.Ref != nil {
			ids = append(ids, v.Ref.SecretID)
		}
	}
	return ids
}

// refOf is the id of the secret of a field; zero when there is none.
func refOf(t *testing.T, env environment.Environment, field string) uuid.UUID {
	t.Helper()
	ref, ok := keys(t, env)[environment.SSHSecretFields()[field]].(map[string]any)
	if !ok {
		return uuid.Nil
	}
	id, err := uuid.Parse(ref["secretId"].(string))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func (b *bench) stored(id uuid.UUID) bool {
	_, _, err := b.store.Secret(b.t.Context(), id, "latest")
	return err == nil
}

// C65: a blank password keeps the stored one; removing it is an act of its own.
func TestC65_BlankKeepsAndRemovalIsExplicit(t *testing.T) {
	b := newBench(t)
	env := b.create(sshDraft("Build box", "password", "canary-1"))
	first := refOf(t, env, "password")
	for name, p := range map[string]environment.Patch{
		"not sent":           {SetDescription: true, Description: new("x")},
		"blank":              {SetDescription: true, Description: new("y"), Config: config("password", "")},
		"white space":        {SetDescription: true, Description: new("z"), Config: config("password", "  ")},
		"sent back as read":  {SetDescription: true, Description: new("1"), Config: map[string]json.RawMessage{"password": raw(nil), "passwordSecretRef": raw(environment.RefTo(first))}},
		"version is missing": {SetDescription: true, Description: new("2"), Config: config("passwordSecretRef", map[string]any{"type": "secret_ref", "secretId": first})},
	} {
		t.Run(name, func(t *testing.T) {
			next := b.update(env, p)
			for range 10 { // the order of a map's keys is another each time
				next = b.update(env, p)
			}
			if refOf(t, next, "password") != first || b.spec(next).Secrets["password"].Reveal() != "canary-1" {
				t.Errorf("the password is gone: %s", next.Config)
			}
		})
	}
	for name, p := range map[string]environment.Patch{
		"value null":     {Config: config("password", nil)},
		"reference null": {Config: config("passwordSecretRef", nil)},
	} {
		t.Run(name, func(t *testing.T) {
			with := b.update(env, environment.Patch{Config: config("password", "canary-"+name)})
			old := refOf(t, with, "password")
			next := b.update(env, p)
			if refOf(t, next, "password") != uuid.Nil || b.stored(old) || len(b.spec(next).Secrets) != 0 {
				t.Errorf("the password stays: %s", next.Config)
			}
		})
	}
}

func TestReplacedSecretsGoInTheSameWrite(t *testing.T) {
	b := newBench(t)
	env := b.create(sshDraft("Build box", "privateKey", "encrypted canary-1", "passphrase", "canary-1"))
	key, pass := refOf(t, env, "privateKey"), refOf(t, env, "passphrase")
	next := b.update(env, environment.Patch{Config: config("privateKey", "plain canary-2")})
	if b.stored(key) || b.stored(pass) {
		t.Error("the old key or its passphrase is stored still")
	}
	if refOf(t, next, "passphrase") != uuid.Nil || b.spec(next).Secrets["privateKey"].Reveal() != "plain canary-2" {
		t.Errorf("config %s", next.Config)
	}
	if keys(t, next)["privateKey"] != nil {
		t.Error("the key is in the config")
	}
	// The driver tries a new passphrase on the stored key.
	locked := b.update(next, environment.Patch{Config: config("privateKey", "encrypted canary-3")})
	_, err := b.Update(t.Context(), b.actor, env.ID, nil, environment.Patch{Config: config("passphrase", "wrong")})
	if e := refusal(t, err, environment.KindInvalid, "validation_failed"); fields(e) != "config.passphrase" {
		t.Errorf("wrong at %q", fields(e))
	}
	opened := b.update(locked, environment.Patch{Config: config("passphrase", "canary-3")})
	if b.spec(opened).Secrets["passphrase"].Reveal() != "canary-3" {
		t.Error("the passphrase is not stored")
	}
}

func TestNothingIsSealedForARefusedSave(t *testing.T) {
	b := newBench(t)
	b.create(sshDraft("Build box"))
	d := sshDraft("build BOX", "password", "canary-1")
	_, err := b.Create(t.Context(), b.actor, d)
	want(t, err, environment.KindConflict, environment.CodeNameTaken)
	env := b.create(sshDraft("Other", "password", "canary-1"))
	old := refOf(t, env, "password")
	_, err = b.Update(t.Context(), b.actor, env.ID, nil, environment.Patch{Name: new("Build box"), Config: config("password", "canary-2")})
	want(t, err, environment.KindConflict, environment.CodeNameTaken)
	if !b.stored(old) || b.spec(env).Secrets["password"].Reveal() != "canary-1" {
		t.Error("the refused save took the old password along")
	}
}

func TestSharedSecretsNeverGo(t *testing.T) {
	b := newBench(t)
	shared := b.share("canary-shared")
	d := sshDraft("Build box", "passwordSecretRef", environment.RefTo(shared))
	d.EnvVars = vars("A", refTo(environment.RefTo(shared)))
	env := b.create(d)
	spec, values, err := b.Spec(t.Context(), env, environment.SecretUse{Purpose: environment.ForRun})
	if err != nil || spec.Secrets["password"].Reveal() != "canary-shared" || values[0].Value.Reveal() != "canary-shared" || !values[0].Masked {
		t.Fatalf("spec %v, values %v, %v", spec.SecretProblems, values, err)
	}
	b.update(env, environment.Patch{Config: config("password", nil), EnvVars: vars("A", environment.EnvVarDraft{Remove: true})})
	if !b.stored(shared) {
		t.Error("a shared secret went with a reference to it")
	}
	if _, err := b.Delete(t.Context(), b.actor, env.ID, environment.DeleteOptions{}); err != nil || !b.stored(shared) {
		t.Errorf("a shared secret went with an environment, %v", err)
	}
}

// share stores a company's secret.
func (b *bench) share(value string) uuid.UUID {
	b.t.Helper()
	return b.shareIn(b.company("Acme"), "shared", value)
}

func (b *bench) company(name string) uuid.UUID {
	b.t.Helper()
	c, err := b.CreateCompany(b.t.Context(), b.actor, name)
	if err != nil {
		b.t.Fatal(err)
	}
	return c.ID
}

func (b *bench) shareIn(company uuid.UUID, name, value string) uuid.UUID {
	b.t.Helper()
	id := environment.NewID()
	sealed, err := environmenttest.Vault{}.Seal(id, environment.NewSecret(value))
	if err != nil {
		b.t.Fatal(err)
	}
	row := environment.StoredSecret{ID: id, CompanyID: &company, Name: name}
	if err := b.store.CreateSecret(b.t.Context(), environment.SealedSecret{StoredSecret: row, Ciphertext: sealed}, environment.Activity{}); err != nil {
		b.t.Fatal(err)
	}
	return id
}

func TestAnotherEnvironmentsSecretIsNotToBeHad(t *testing.T) {
	b := newBench(t)
	victim := b.create(sshDraft("Victim", "password", "canary-1"))
	ref := environment.RefTo(refOf(t, victim, "password"))
	d := sshDraft("Thief", "passwordSecretRef", ref)
	d.EnvVars = vars("A", refTo(ref))
	_, err := b.Create(t.Context(), b.actor, d)
	if e := refusal(t, err, environment.KindInvalid, "validation_failed"); fields(e) != "config.passwordSecretRef envVars.A" {
		t.Errorf("wrong at %q", fields(e))
	}
	_, err = b.DraftSpec(t.Context(), b.actor, nil, nil, d)
	want(t, err, environment.KindInvalid, "validation_failed")

	// Even a row that got the reference some other way does not open it.
	victim.ID, victim.EnvVars = environment.NewID(), map[string]environment.EnvVar{"A": {Type: "secret_ref", Ref: &ref}}
	spec := b.spec(victim)
	if len(spec.Secrets) != 0 || spec.SecretProblems["password"] != environment.CodeSecretMissing || spec.SecretProblems["envVars.A"] != environment.CodeSecretMissing {
		t.Errorf("problems %v", spec.SecretProblems)
	}
}

func TestSpecNamesSecretsThatCannotBeOpened(t *testing.T) {
	b := newBench(t)
	d := sshDraft("Build box", "password", "canary-1", "privateKey", "canary-2")
	d.EnvVars = map[string]environment.EnvVarDraft{"API_TOKEN": plain("canary-3"), "PLACE": plain("cellar")}
	env := b.create(d)
	b.store.DisableSecret(refOf(t, env, "password"))
	b.store.DisableSecret(env.EnvVars["API_TOKEN"].Ref.SecretID)
	_, err := b.store.UpdateEnvironment(t.Context(), catalogue.Write{Environment: env, DropSecrets: []uuid.UUID{refOf(t, env, "privateKey")}}, env.Revision)
	if err != nil {
		t.Fatal(err)
	}
	spec, values, err := b.Spec(t.Context(), b.get(env).Environment, environment.SecretUse{Purpose: environment.ForRun})
	if err != nil {
		t.Fatal(err)
	}
	for field, code := range map[string]string{
		"password": environment.CodeSecretDisabled, "privateKey": environment.CodeSecretMissing, "envVars.API_TOKEN": environment.CodeSecretDisabled,
	} {
		if spec.SecretProblems[field] != code {
			t.Errorf("%s: %q, want %s", field, spec.SecretProblems[field], code)
		}
	}
	if len(spec.Secrets) != 0 || len(values) != 1 || values[0].Name != "PLACE" || values[0].Masked {
		t.Errorf("secrets %v, values %v", spec.Secrets, values)
	}
	// Other fields can still be edited.
	b.update(env, environment.Patch{Name: new("Renamed"), Config: config("port", 2222)})
}

// C29: a draft's blank secrets are the stored ones, its own values are used as
// they are, and nothing of it is kept.
func TestC29_DraftUsesTheFormsValues(t *testing.T) {
	b := newBench(t)
	saved := sshDraft("Build box", "port", 22, "password", "canary-1", "privateKey", "canary-2")
	saved.EnvVars = vars("API_TOKEN", secret("canary-3"))
	env := b.create(saved)
	form := sshDraft("", "port", 2222, "password", "", "privateKey", "canary-new")
	form.EnvVars = vars("API_TOKEN", secret(""))
	spec, err := b.DraftSpec(t.Context(), b.actor, nil, &env.ID, form)
	if err != nil {
		t.Fatal(err)
	}
	if spec.Secrets["password"].Reveal() != "canary-1" || spec.Secrets["privateKey"].Reveal() != "canary-new" {
		t.Errorf("secrets %d, problems %v", len(spec.Secrets), spec.SecretProblems)
	}
	if spec.EnvironmentID != uuid.Nil {
		t.Error("a draft goes by the saved row's id")
	}
	var c environment.SSHConfig
	if err := json.Unmarshal(spec.Config, &c); err != nil || c.Port != 2222 || c.Username != "runner" {
		t.Errorf("config %s, %v", spec.Config, err)
	}
	if v := b.get(env); v.Revision != env.Revision || string(v.Config) != string(env.Config) || len(b.entries(env)) != 1 {
		t.Error("the draft changed the saved row")
	}
	form.EnvVars = vars("NEW_TOKEN", secret(""))
	_, err = b.DraftSpec(t.Context(), b.actor, nil, &env.ID, form)
	if e := refusal(t, err, environment.KindInvalid, "validation_failed"); fields(e) != "envVars.NEW_TOKEN" {
		t.Errorf("wrong at %q", fields(e))
	}
	bare, err := b.DraftSpec(t.Context(), b.actor, nil, nil, sshDraft(""))
	if err != nil || len(bare.Secrets) != 0 || len(bare.SecretProblems) != 0 {
		t.Errorf("a draft without a row: %v, %v", bare.SecretProblems, err)
	}
}

func TestCheckStoresNothing(t *testing.T) {
	b := newBench(t)
	env := b.create(sshDraft("Build box", "password", "canary-1"))
	out, err := b.Check(t.Context(), b.actor, &env.ID, sshDraft("Build box", "port", 2222, "password", "canary-2"))
	if err != nil || len(out.Secrets) != 0 || len(out.Warnings) != 1 {
		t.Fatalf("%v, %v", out, err)
	}
	var c environment.SSHConfig
	if err := json.Unmarshal(out.Config, &c); err != nil || c.Port != 2222 {
		t.Errorf("config %s, %v", out.Config, err)
	}
	if v := b.get(env); v.Revision != 1 || b.spec(v.Environment).Secrets["password"].Reveal() != "canary-1" {
		t.Error("Check changed the row")
	}
	_, err = b.Check(t.Context(), b.actor, nil, environment.Draft{Name: "Second", Driver: environment.DriverLocal})
	if e := refusal(t, err, environment.KindInvalid, "validation_failed"); fields(e) != "driver" {
		t.Errorf("a second Local is wrong at %q", fields(e))
	}
}
