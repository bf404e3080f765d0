package catalogue_test

import (
	"testing"

	"berth/environment"
)

func TestDeleteTakesItsSecretsAlong(t *testing.T) {
	b := newBench(t)
	d := sshDraft("Build box", "password", "canary-1")
	d.EnvVars = vars("API_TOKEN", plain("canary-2"))
	env := b.create(d)
	impact, err := b.Impact(t.Context(), b.actor, env.ID)
	if err != nil || impact.SecretCount != 2 || !impact.CanDelete() {
		t.Fatalf("impact %+v, %v", impact, err)
	}
	gone, err := b.Delete(t.Context(), b.actor, env.ID, environment.DeleteOptions{})
	if err != nil || gone.ID != env.ID {
		t.Fatal(gone.ID, err)
	}
	for _, id := range secretsOf(t, env) {
		if _, _, err := b.store.Secret(t.Context(), id, "latest"); err == nil {
			t.Error("a secret outlives its environment")
		}
	}
	_, err = b.Delete(t.Context(), b.actor, env.ID, environment.DeleteOptions{})
	want(t, err, environment.KindNotFound, environment.CodeEnvironmentNotFound)
	if entry := b.entries(env)[0]; entry.Action != "environment.deleted" || entry.Details["name"] != "Build box" {
		t.Errorf("activity %+v", entry)
	}
}

func TestDeleteOfTheDefaultNeedsAnother(t *testing.T) {
	b := newBench(t)
	env, other, archived := b.create(sshDraft("Build box")), b.create(sshDraft("Other")), b.create(sshDraft("Old"))
	b.update(archived, environment.Patch{Status: new(environment.StatusArchived)})
	if _, err := b.UpdateSettings(t.Context(), b.actor, environment.SettingsPatch{DefaultEnvironmentID: &env.ID}); err != nil {
		t.Fatal(err)
	}
	_, err := b.Delete(t.Context(), b.actor, env.ID, environment.DeleteOptions{})
	want(t, err, environment.KindConflict, "environment_in_use")
	nobody := environment.NewID()
	_, err = b.Delete(t.Context(), b.actor, env.ID, environment.DeleteOptions{ReassignTo: &nobody})
	want(t, err, environment.KindInvalid, environment.CodeEnvironmentNotFound)
	_, err = b.Delete(t.Context(), b.actor, env.ID, environment.DeleteOptions{ReassignTo: &archived.ID})
	want(t, err, environment.KindInvalid, environment.CodeEnvironmentInactive)
	_, err = b.Delete(t.Context(), b.actor, env.ID, environment.DeleteOptions{ReassignTo: &env.ID})
	if e := refusal(t, err, environment.KindInvalid, "validation_failed"); fields(e) != "reassignTo" {
		t.Errorf("wrong at %q", fields(e))
	}
	if _, err := b.Delete(t.Context(), b.actor, env.ID, environment.DeleteOptions{ReassignTo: &other.ID}); err != nil {
		t.Fatal(err)
	}
	settings, err := b.Settings(t.Context(), b.actor)
	if err != nil || settings.DefaultEnvironmentID == nil || *settings.DefaultEnvironmentID != other.ID {
		t.Errorf("the default is %v, %v", settings.DefaultEnvironmentID, err)
	}
}
