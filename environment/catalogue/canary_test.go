package catalogue_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"berth/environment"
)

// C67: canaries in every secret place, among them variables that were sent as
// plain, are in nothing that the catalogue returns, logs or notes.
func TestC67_NoReadPathShowsASecret(t *testing.T) {
	b := newBench(t)
	d := sshDraft("Build box", "privateKey", "encrypted canary-pass", "passphrase", "canary-pass", "password", "canary-2")
	d.EnvVars = map[string]environment.EnvVarDraft{
		"SERVICE_TOKEN": plain("canary-3"), "PLACE": plain("http://u:canary-5@127.0.0.1/"), "COOKIE": plain("sid=canary-6"),
		"QUIET": secret("canary-7"), "VISIBLE": plain("cellar"),
	}
	var seen []any
	note := func(values ...any) { seen = append(seen, values...) }
	env := b.create(d)
	note(env, b.get(env))
	note(b.update(env, environment.Patch{Config: config("password", "canary-8"), EnvVars: vars("QUIET", secret("canary-9"))}))
	note(b.update(env, environment.Patch{EnvVars: vars("VISIBLE", secret("canary-10"))}))
	note(b.update(env, environment.Patch{EnvVars: vars("QUIET", plain("no secret any more"))}))
	page, err := b.List(t.Context(), b.actor, environment.ListFilter{Query: "build"})
	note(page, err)
	found, err := b.List(t.Context(), b.actor, environment.ListFilter{Query: "canary"})
	note(found, err)
	if len(page.Items) != 1 || len(found.Items) != 0 {
		t.Errorf("found %d by name, %d by a secret", len(page.Items), len(found.Items))
	}
	spec, values, err := b.Spec(t.Context(), b.get(env).Environment, environment.SecretUse{Purpose: environment.ForRun})
	note(spec, values, err)
	draft, err := b.DraftSpec(t.Context(), b.actor, nil, &env.ID, sshDraft("", "password", "canary-11"))
	note(draft, err)
	out, err := b.Check(t.Context(), b.actor, &env.ID, sshDraft("Build box", "password", "canary-12"))
	note(out, err)
	_, err = b.Update(t.Context(), b.actor, env.ID, new(1), environment.Patch{Config: config("password", "canary-13")})
	note(err, environment.AsError(err))
	_, err = b.Update(t.Context(), b.actor, env.ID, nil, environment.Patch{Config: config("passphrase", "canary-14"), EnvVars: vars("A", secret("canary-15\x00"))})
	note(err, environment.AsError(err))
	key, facts, err := b.GenerateKey(t.Context(), b.actor, "berth")
	note(key, facts, err)
	gone, err := b.Delete(t.Context(), b.actor, env.ID, environment.DeleteOptions{})
	note(gone, err, b.entries(env), b.log.String())

	for i, v := range seen {
		text := fmt.Sprintf("%+v %#v", v, v)
		if j, err := json.Marshal(v); err == nil {
			text += string(j)
		}
		if strings.Contains(text, "canary-") {
			t.Errorf("value %d (%T) shows a secret: %s", i, v, text)
		}
	}
	whole := fmt.Sprintf("%+v", b.entries(env))
	if strings.Contains(whole, "cellar") || strings.Contains(whole, "no secret any more") {
		t.Errorf("the log holds a variable's value: %s", whole)
	}
	if !strings.Contains(whole, "envVars.VISIBLE") || !strings.Contains(whole, "config.passwordSecretRef") {
		t.Errorf("the log does not say what changed: %s", whole)
	}
}

func TestPlainThatLooksSecretIsStoredAsOne(t *testing.T) {
	b := newBench(t)
	d := sshDraft("Build box")
	d.EnvVars = map[string]environment.EnvVarDraft{"SERVICE_TOKEN": plain("canary-1"), "EMPTY_TOKEN": plain(""), "PLACE": plain("cellar")}
	env := b.create(d)
	if v := env.EnvVars["SERVICE_TOKEN"]; v.Type != "secret_ref" || v.Ref == nil || v.Value != "" {
		t.Errorf("a token is kept as %+v", v)
	}
	if env.EnvVars["PLACE"].Type != "plain" || env.EnvVars["EMPTY_TOKEN"].Type != "plain" {
		t.Errorf("variables %+v", env.EnvVars)
	}
	_, values, err := b.Spec(t.Context(), env, environment.SecretUse{Purpose: environment.ForRun})
	if err != nil || len(values) != 3 || values[2].Value.Reveal() != "canary-1" || !values[2].Masked {
		t.Errorf("values %v, %v", values, err)
	}
}
