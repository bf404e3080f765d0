package catalogue_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"berth/environment"

	"github.com/google/uuid"
)

// C65: a blank password keeps the reference to a company's secret; a typed one takes
// its place; removing the reference is an act of its own. The secret itself stays.
func TestC65_BlankKeepsTheCompanysSecret(t *testing.T) {
	b := newBench(t)
	id := b.share("canary-1")
	env := b.create(sshDraft("Build box", "passwordSecretRef", at(id, "latest")))
	for name, p := range map[string]environment.Patch{
		"not sent":          {SetDescription: true, Description: new("a")},
		"blank":             {SetDescription: true, Description: new("b"), Config: config("password", "")},
		"sent back as read": {SetDescription: true, Description: new("c"), Config: map[string]json.RawMessage{"password": raw(nil), "passwordSecretRef": raw(at(id, "latest"))}},
		"the same value":    {SetDescription: true, Description: new("d"), Config: config("password", "canary-1")},
	} {
		t.Run(name, func(t *testing.T) {
			next := b.update(env, p)
			if refOf(t, next, "password") != id || b.bindingsOf(next) != "config.password latest" || b.spec(next).Secrets["password"].Reveal() != "canary-1" {
				t.Errorf("the reference is gone: %s, bound %q", next.Config, b.bindingsOf(next))
			}
		})
	}
	typed := b.update(env, environment.Patch{Config: config("password", "canary-2")})
	if own := refOf(t, typed, "password"); own == id || b.bindingsOf(typed) != "" || b.spec(typed).Secrets["password"].Reveal() != "canary-2" || !b.stored(id) {
		t.Errorf("a typed value does not take the reference's place: %s", typed.Config)
	}
	b.update(env, environment.Patch{Config: config("passwordSecretRef", at(id, "1"))})
	bare := b.update(env, environment.Patch{Config: config("password", nil)})
	if b.bindingsOf(bare) != "" || len(b.spec(bare).Secrets) != 0 || !b.stored(id) {
		t.Errorf("a removed reference stays, or took the secret along: %s", bare.Config)
	}
}

// C67: what is planted in a company's secret shows in no read of the environment, of
// its references, of its log or of the server's.
func TestC67_SharedSecretsShowNowhere(t *testing.T) {
	b := newBench(t)
	acme := b.company("Acme")
	d := sshDraft("Build box", "passwordSecretRef", at(b.shareIn(acme, "token", "canary-1"), "latest"))
	d.NewSecrets = inPlaces(acme, "config.privateKey", "canary-2", "envVars.A", "canary-3")
	env := b.create(d)
	_, _, err := b.Spec(t.Context(), env, environment.SecretUse{Purpose: environment.ForRun, CompanyID: &acme})
	if err != nil {
		t.Fatal(err)
	}
	refs, err := b.References(t.Context(), b.actor, env)
	if err != nil || len(refs) != 3 {
		t.Fatalf("references %v, %v", refs, err)
	}
	log, err := b.store.Activity(t.Context(), environment.ActivityFilter{})
	if err != nil {
		t.Fatal(err)
	}
	for what, v := range map[string]any{"the row": b.get(env), "the references": refs, "the activity": log.Items, "the draft": d} {
		if text := fmt.Sprintf("%v %+v %#v", v, v, v); strings.Contains(text, "canary") {
			t.Errorf("%s shows a value: %s", what, text)
		}
		if text, err := json.Marshal(v); err != nil || strings.Contains(string(text), "canary") {
			t.Errorf("%s as JSON shows a value: %s, %v", what, text, err)
		}
	}
	if strings.Contains(b.log.String(), "canary") {
		t.Errorf("the log shows a value: %s", b.log)
	}
}

func inPlaces(company uuid.UUID, pairs ...string) map[string]environment.NewCompanySecret {
	made := map[string]environment.NewCompanySecret{}
	for i := 0; i < len(pairs); i += 2 {
		made[pairs[i]] = inPlace(company, "for "+pairs[i], pairs[i+1])
	}
	return made
}

// C70: a company's secret arrives byte for byte as a variable, and what cannot be one
// is refused when it is made.
func TestC70_SharedValuesArriveByteForByte(t *testing.T) {
	b := newBench(t)
	acme := b.company("Acme")
	for i, value := range []string{"a; touch /tmp/pwn", "$(touch /tmp/pwn)", `it's "x"`, "two\nlines\n", `\`, "é", " spaces "} {
		d := sshDraft(fmt.Sprint("Build box ", i))
		d.NewSecrets = map[string]environment.NewCompanySecret{"envVars.GOOD_1": inPlace(acme, fmt.Sprint("secret ", i), value)}
		_, vars, err := b.Spec(t.Context(), b.create(d), environment.SecretUse{Purpose: environment.ForRun, CompanyID: &acme})
		if err != nil || len(vars) != 1 || vars[0].Value.Reveal() != value {
			t.Errorf("%q arrives as %v, %v", value, vars, err)
		}
	}
	for _, name := range []string{"BAD-NAME", "1X", "A B", "X;touch /tmp/pwn"} {
		d := sshDraft("Bad")
		d.NewSecrets = inPlaces(acme, "envVars."+name, "x")
		_, err := b.Create(t.Context(), b.actor, d)
		if e := refusal(t, err, environment.KindInvalid, "validation_failed"); fields(e) != "envVars."+name {
			t.Errorf("%q: wrong at %q", name, fields(e))
		}
	}
	d := sshDraft("Bad")
	d.NewSecrets = inPlaces(acme, "envVars.A", "a\x00b")
	_, err := b.Create(t.Context(), b.actor, d)
	if e := refusal(t, err, environment.KindInvalid, "validation_failed"); fields(e) != "newSecrets.envVars.A.value" {
		t.Errorf("a NUL: wrong at %q", fields(e))
	}
}
