package environmenttest

import (
	"testing"

	"berth/environment"
	"berth/environment/catalogue"

	"github.com/google/uuid"
)

// testKeptOfDeleted deletes an environment that keeps sandboxes: they wait for
// their clean-up, with what it needs.
func testKeptOfDeleted(t *testing.T, s suite) {
	ctx := t.Context()
	c, w := s.company("acme"), write("box")
	owned := environment.SealedSecret{StoredSecret: environment.StoredSecret{ID: environment.NewID(), EnvironmentID: &w.Environment.ID, Name: "config.tlsKey"}, Ciphertext: []byte("x")}
	idle := environment.SealedSecret{StoredSecret: environment.StoredSecret{ID: environment.NewID(), EnvironmentID: &w.Environment.ID, Name: "envVars.A"}, Ciphertext: []byte("x")}
	w.NewSecrets = []environment.SealedSecret{owned, idle}
	e, err := s.CreateEnvironment(ctx, w)
	s.must(err)
	kept := s.retained(c, e, func(l *environment.Lease) {
		l.Ref = []byte(`{"config":{"tlsKeySecretRef":"` + owned.ID.String() + `"}}`)
	})
	impact, err := s.Impact(ctx, e.ID)
	s.must(err)
	same(t, "impact of what is kept", impact, environment.Impact{EnvironmentID: e.ID, Blocked: []string{}, Uses: environment.Uses{Retained: 1}, SecretCount: 2})
	same(t, "uses", s.view(e.ID).Uses, environment.Uses{Retained: 1})
	active := s.made(c, e, nil)
	_, err = s.DeleteEnvironment(ctx, e.ID, environment.DeleteOptions{}, environment.Activity{})
	s.code("delete what is in use", err, environment.KindConflict, "environment_in_use")
	same(t, "what is kept after a refusal", s.status(kept.ID), environment.LeaseRetained)
	s.hold(active.ID, environment.LeaseFailed)
	_, err = s.DeleteEnvironment(ctx, e.ID, environment.DeleteOptions{}, environment.Activity{})
	s.must(err)
	got, err := s.Lease(ctx, kept.ID)
	s.must(err)
	if got.Status != environment.LeasePendingCleanup || got.EnvironmentID != nil || got.EnvironmentName != "box" || got.CleanupOutcome != environment.LeaseExpired ||
		got.FailureReason == nil || *got.FailureReason != environment.ReasonEnvironmentDeleted || got.CleanupNextAt == nil {
		t.Errorf("what was kept: got %+v", got)
	}
	claimed, err := s.ClaimCleanups(ctx, s.server, 5, 1)
	s.must(err)
	same(t, "clean-ups that are due", leaseIDs(claimed), setOf(kept))
	_, err = s.SweepSecrets(ctx)
	s.must(err)
	if _, _, err = s.Secret(ctx, owned.ID, "latest"); err != nil {
		t.Errorf("the secret of what is to be cleaned up: %v", err)
	}
	_, _, err = s.Secret(ctx, idle.ID, "latest")
	s.code("a secret that no clean-up needs", err, environment.KindNotFound, environment.CodeSecretMissing)
	s.hold(kept.ID, environment.LeaseExpired)
	_, err = s.SweepSecrets(ctx)
	s.must(err)
	_, _, err = s.Secret(ctx, owned.ID, "latest")
	s.code("the secret after the clean-up", err, environment.KindNotFound, environment.CodeSecretMissing)
}

// testIntentsKeepSecrets changes the secret of an environment while a lease is
// being acquired with it that says nothing of it yet.
func testIntentsKeepSecrets(t *testing.T, s suite) {
	ctx := t.Context()
	c, w := s.company("acme"), write("box")
	owned := environment.SealedSecret{StoredSecret: environment.StoredSecret{ID: environment.NewID(), EnvironmentID: &w.Environment.ID, Name: "config.password"}, Ciphertext: []byte("x")}
	w.NewSecrets = []environment.SealedSecret{owned}
	e, err := s.CreateEnvironment(ctx, w)
	s.must(err)
	intent := s.made(c, e, nil)
	_, err = s.UpdateEnvironment(ctx, catalogue.Write{Environment: e, DropSecrets: []uuid.UUID{owned.ID}}, e.Revision)
	s.must(err)
	_, err = s.SweepSecrets(ctx)
	s.must(err)
	if _, _, err = s.Secret(ctx, owned.ID, "latest"); err != nil {
		t.Errorf("the secret of what is being acquired: %v", err)
	}
	s.hold(intent.ID, environment.LeaseFailed)
	_, err = s.SweepSecrets(ctx)
	s.must(err)
	_, _, err = s.Secret(ctx, owned.ID, "latest")
	s.code("the secret when nothing came of it", err, environment.KindNotFound, environment.CodeSecretMissing)
}

func testManaged(t *testing.T, s suite) {
	ctx := t.Context()
	_, err := s.ManagedEnvironment(ctx)
	s.code("read the managed sandbox when there is none", err, environment.KindNotFound, environment.CodeEnvironmentNotFound)
	w := write("managed")
	w.Environment.Managed = true
	e, err := s.CreateEnvironment(ctx, w)
	s.must(err)
	second := write("second")
	second.Environment.Managed = true
	_, err = s.CreateEnvironment(ctx, second)
	s.code("a second managed sandbox", err, environment.KindConflict, environment.CodeEnvironmentManaged)
	plain := s.environment("plain")
	got, err := s.ManagedEnvironment(ctx)
	s.must(err)
	if got.ID != e.ID || !got.Managed || got.Provisioned {
		t.Errorf("a managed sandbox that nothing provisions: got %+v", got)
	}
	before, err := s.Settings(ctx)
	s.must(err)
	revision, err := s.CatalogueRevision(ctx)
	s.must(err)
	entry := by("settings.managed_sandbox", "instance", uuid.Nil)
	for range 2 {
		s.must(s.SetManagedProvider(ctx, environment.ProviderDocker, entry))
	}
	after, err := s.Settings(ctx)
	s.must(err)
	same(t, "provider in the settings", after.ManagedProvider, environment.ProviderDocker)
	same(t, "revision of the settings", after.Revision, before.Revision)
	if next, err := s.CatalogueRevision(ctx); err != nil || next <= revision {
		t.Errorf("catalogue's revision: got %d, %v, want more than %d", next, err, revision)
	}
	log, err := s.Activity(ctx, environment.ActivityFilter{Action: "settings.managed_sandbox"})
	s.must(err)
	same(t, "entries of the log of a change and none", len(log.Items), 1)
	on := true
	changed, err := s.UpdateSettings(ctx, environment.SettingsPatch{EnableManagedSandboxOnly: &on}, environment.Activity{})
	s.must(err)
	same(t, "provider after another change", changed.ManagedProvider, environment.ProviderDocker)
	page, err := s.ListEnvironments(ctx, environment.ListFilter{})
	s.must(err)
	for _, v := range page.Items {
		same(t, v.Name+" is provisioned", v.Provisioned, v.ID != plain.ID)
	}
	s.must(s.SetManagedProvider(ctx, "", entry))
	same(t, "provisioned when nothing does", s.view(e.ID).Provisioned, false)
	e.Managed = false
	e, err = s.UpdateEnvironment(ctx, catalogue.Write{Environment: e}, e.Revision)
	s.must(err)
	same(t, "managed after a write without it", e.Managed, false)
}

func testReferredVersions(t *testing.T, s suite) {
	ctx := t.Context()
	secret := s.shared(s.company("acme"), "token")
	second := environment.SecretVersion{ID: environment.NewID(), SecretID: secret.ID, Version: 2, Ciphertext: []byte("two")}
	_, err := s.AddSecretVersion(ctx, second, environment.Activity{})
	s.must(err)
	ref := func(id uuid.UUID, version string) environment.SecretRef {
		return environment.SecretRef{Type: "secret_ref", SecretID: id, Version: version}
	}
	got, err := s.ReferredVersions(ctx, ref(secret.ID, "latest"), ref(secret.ID, "1"), ref(secret.ID, "2"), ref(secret.ID, "3"),
		ref(secret.ID, "no number"), ref(environment.NewID(), "latest"))
	s.must(err)
	same(t, "versions", got, map[environment.SecretRef]uuid.UUID{
		ref(secret.ID, "latest"): second.ID, ref(secret.ID, "1"): secret.ID, ref(secret.ID, "2"): second.ID})
	got, err = s.ReferredVersions(ctx)
	s.must(err)
	same(t, "versions of nothing", len(got), 0)
}

func testRunsOfSandboxes(t *testing.T, s suite) {
	ctx := t.Context()
	c, e := s.company("acme"), s.environment("box")
	r := environment.Run{ID: environment.NewID(), CompanyID: c.ID, EnvironmentID: &e.ID, EnvironmentName: e.Name, Driver: environment.DriverSandbox,
		Provider: environment.ProviderDocker, Native: true, Kind: environment.KindCommand, Command: []string{"true"}, TimeoutSec: 60,
		Status: environment.RunQueued, Owner: s.server, CreatedAt: moment(3)}
	s.must(s.CreateRun(ctx, r, environment.Activity{}))
	got := s.move(r.ID, environment.RunAcquiring)
	same(t, "driver of a run", got.Key(), environment.KeyOf(environment.DriverSandbox, environment.ProviderDocker))
	got, err := s.Run(ctx, r.ID)
	s.must(err)
	if !got.Native || got.Provider != environment.ProviderDocker {
		t.Errorf("a native run in a sandbox: got %+v", got)
	}
}
