package environmenttest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"berth/environment"
	"berth/environment/catalogue"
	"berth/environment/secrets"

	"github.com/google/uuid"
)

// sharedSecret is a company's secret that is not stored yet.
func sharedSecret(c environment.Company, name string) environment.SealedSecret {
	id := environment.NewID()
	return environment.SealedSecret{Ciphertext: []byte("sealed " + name), StoredSecret: environment.StoredSecret{ID: id, CompanyID: &c.ID,
		Name: name, LatestVersion: 1, CreatedBy: "Ada", CreatedAt: moment(0), UpdatedAt: moment(0)}}
}

// shared stores a company's secret.
func (s suite) shared(c environment.Company, name string) environment.SealedSecret {
	s.t.Helper()
	secret := sharedSecret(c, name)
	s.must(s.CreateSecret(s.t.Context(), secret, by("secret.created", "secret", secret.ID)))
	return secret
}

// bound stores an environment with a reference to a company's secret.
func (s suite) bound(name string, secret environment.SealedSecret, version string) environment.Environment {
	s.t.Helper()
	w := write(name)
	w.Bindings = []environment.SecretBinding{{ConfigPath: "config.password", SecretID: secret.ID, CompanyID: *secret.CompanyID, Version: version}}
	e, err := s.CreateEnvironment(s.t.Context(), w)
	s.must(err)
	return e
}

func testSharedSecrets(t *testing.T, s suite) {
	ctx := t.Context()
	acme, globex := s.company("acme"), s.company("globex")
	beta, alpha := s.shared(acme, "beta"), s.shared(acme, "Alpha")
	s.shared(globex, "beta")
	page, err := s.Secrets(ctx, acme.ID, "", 1, "")
	s.must(err)
	same(t, "first page by name", page.Items, []environment.StoredSecret{alpha.StoredSecret})
	page, err = s.Secrets(ctx, acme.ID, "", 1, page.Next)
	s.must(err)
	same(t, "second page by name", page.Items, []environment.StoredSecret{beta.StoredSecret})
	same(t, "cursor of the last page", page.Next, "")
	for query, want := range map[string]int{"ALP": 1, "a": 2, "%": 0} {
		page, err = s.Secrets(ctx, acme.ID, query, 9, "")
		s.must(err)
		same(t, "secrets with "+query, len(page.Items), want)
	}
	err = s.CreateSecret(ctx, sharedSecret(acme, "ALPHA"), environment.Activity{})
	s.code("create a name in another case", err, environment.KindConflict, environment.CodeNameTaken)
	name := "BETA"
	_, err = s.UpdateSecret(ctx, alpha.ID, secrets.Patch{Name: &name}, environment.Activity{})
	s.code("rename to a name that is taken", err, environment.KindConflict, environment.CodeNameTaken)
	name, text := "alpha", "of the builders"
	next, err := s.UpdateSecret(ctx, alpha.ID, secrets.Patch{Name: &name, SetDescription: true, Description: &text}, environment.Activity{CreatedAt: moment(5)})
	s.must(err)
	if next.Name != "alpha" || next.Description == nil || *next.Description != text || !next.UpdatedAt.Equal(moment(5)) || next.Disabled {
		t.Errorf("changed secret: got %+v", next)
	}
	w := write("box")
	owned := environment.SealedSecret{StoredSecret: environment.StoredSecret{ID: environment.NewID(), EnvironmentID: &w.Environment.ID, Name: "password"}, Ciphertext: []byte("x")}
	w.NewSecrets = []environment.SealedSecret{owned}
	_, err = s.CreateEnvironment(ctx, w)
	s.must(err)
	for what, id := range map[string]uuid.UUID{"an environment's own": owned.ID, "one that is not there": environment.NewID()} {
		_, err = s.SharedSecret(ctx, id)
		s.code("read "+what+" as a company's secret", err, environment.KindNotFound, "secret_not_found")
		_, err = s.UpdateSecret(ctx, id, secrets.Patch{Name: &name}, environment.Activity{})
		s.code("change "+what, err, environment.KindNotFound, "secret_not_found")
		s.code("delete "+what, s.DeleteSecret(ctx, id, environment.Activity{}), environment.KindNotFound, "secret_not_found")
	}
	s.must(s.DeleteSecret(ctx, alpha.ID, by("secret.deleted", "secret", alpha.ID)))
	_, err = s.SharedSecret(ctx, alpha.ID)
	s.code("read a deleted secret", err, environment.KindNotFound, "secret_not_found")
	found, err := s.StoredSecrets(ctx, alpha.ID, beta.ID)
	s.must(err)
	same(t, "rows that are there", found, []environment.StoredSecret{beta.StoredSecret})
}

func testSecretVersions(t *testing.T, s suite) {
	ctx := t.Context()
	secret := s.shared(s.company("acme"), "token")
	latest, pinned := s.bound("latest", secret, "latest"), s.bound("pinned", secret, "1")
	s.probed(latest, "")
	s.probed(pinned, "")
	second := environment.SecretVersion{ID: environment.NewID(), SecretID: secret.ID, Version: 2, Ciphertext: []byte("two"), CreatedAt: moment(7), CreatedBy: "Bob"}
	next, err := s.AddSecretVersion(ctx, second, by("secret.rotated", "secret", secret.ID))
	s.must(err)
	same(t, "latest version", next.LatestVersion, 2)
	_, err = s.AddSecretVersion(ctx, second, environment.Activity{})
	s.code("add the same version again", err, environment.KindConflict, "secret_changed")
	for version, want := range map[string]string{"latest": "two", "1": "sealed token", "2": "two"} {
		_, v, err := s.Secret(ctx, secret.ID, version)
		s.must(err)
		same(t, "value of version "+version, string(v.Ciphertext), want)
	}
	_, _, err = s.Secret(ctx, secret.ID, "3")
	s.code("a version that is not there", err, environment.KindNotFound, environment.CodeSecretMissing)
	versions, err := s.SecretVersions(ctx, secret.ID)
	s.must(err)
	second.Ciphertext = nil
	if len(versions) != 2 {
		t.Fatalf("versions: got %+v, want two", versions)
	}
	same(t, "newest version", versions[0], second)
	same(t, "id of the first version", versions[1].ID, secret.ID)
	same(t, "health of what uses the latest", s.view(latest.ID).Health(), environment.HealthChanged)
	same(t, "health of what uses another", s.view(pinned.ID).Health(), environment.HealthReady)
	same(t, "config revision of what uses the latest", s.view(latest.ID).ConfigRevision, latest.ConfigRevision)
	off := true
	_, err = s.UpdateSecret(ctx, secret.ID, secrets.Patch{Disabled: &off}, environment.Activity{})
	s.must(err)
	same(t, "health of what uses a disabled secret", s.view(pinned.ID).Health(), environment.HealthChanged)
}

func testSecretLimit(t *testing.T, s suite) {
	acme := s.company("acme")
	for i := range environment.MaxCompanySecrets {
		s.must(s.CreateSecret(t.Context(), sharedSecret(acme, fmt.Sprint("secret ", i)), environment.Activity{}))
	}
	err := s.CreateSecret(t.Context(), sharedSecret(acme, "one more"), environment.Activity{})
	s.code("one secret too many", err, environment.KindConflict, environment.CodeTooManySecrets)
	s.must(s.CreateSecret(t.Context(), sharedSecret(s.company("globex"), "another's"), environment.Activity{}))
}

func testBindings(t *testing.T, s suite) {
	ctx := t.Context()
	secret := s.shared(s.company("acme"), "token")
	e := s.bound("box", secret, "latest")
	want := []environment.SecretBinding{{EnvironmentID: e.ID, EnvironmentName: "box", ConfigPath: "config.password", SecretID: secret.ID,
		CompanyID: *secret.CompanyID, Version: "latest"}}
	for what, read := range map[string]func() ([]environment.SecretBinding, error){
		"of the environment": func() ([]environment.SecretBinding, error) { return s.EnvironmentBindings(ctx, e.ID) },
		"of the secret":      func() ([]environment.SecretBinding, error) { return s.SecretBindings(ctx, secret.ID) },
	} {
		got, err := read()
		s.must(err)
		same(t, "bindings "+what, got, want)
	}
	err := s.DeleteSecret(ctx, secret.ID, environment.Activity{})
	s.code("delete a secret in use", err, environment.KindConflict, environment.CodeSecretInUse)
	if uses, _ := environment.AsError(err).Details["uses"].([]map[string]any); len(uses) != 1 || uses[0]["environmentName"] != "box" {
		t.Errorf("uses in the refusal: got %v", environment.AsError(err).Details)
	}
	_, err = s.UpdateEnvironment(ctx, catalogue.Write{Environment: e, Activity: by("x", "environment", e.ID)}, 1)
	s.must(err)
	got, err := s.EnvironmentBindings(ctx, e.ID)
	s.must(err)
	same(t, "bindings after a write that says nothing of them", got, want)
	gone := want[0]
	gone.SecretID = environment.NewID()
	_, err = s.UpdateEnvironment(ctx, catalogue.Write{Environment: e, Bindings: []environment.SecretBinding{gone}}, 2)
	s.code("bind to a secret that is gone", err, environment.KindInvalid, environment.CodeSecretMissing)
	same(t, "revision after a refused write", s.view(e.ID).Revision, 2)
	_, err = s.DeleteEnvironment(ctx, e.ID, environment.DeleteOptions{}, environment.Activity{})
	s.must(err)
	got, err = s.SecretBindings(ctx, secret.ID)
	s.must(err)
	same(t, "bindings of an environment that is gone", got, []environment.SecretBinding{})
	s.must(s.DeleteSecret(ctx, secret.ID, environment.Activity{}))
}

// testSecretsInPlace: nothing of a refused write stays.
func testSecretsInPlace(t *testing.T, s suite) {
	ctx := t.Context()
	acme := s.company("acme")
	taken := s.shared(acme, "taken")
	e := s.environment("box")
	for _, c := range []struct {
		what   string
		spoil  func(*catalogue.Write)
		expect int
		code   string
	}{
		{"a stale write", func(*catalogue.Write) {}, 7, environment.CodeStaleRevision},
		{"a secret's name that is taken", func(w *catalogue.Write) { w.NewSecrets = append(w.NewSecrets, sharedSecret(acme, "TAKEN")) }, 1, environment.CodeNameTaken},
		{"two secrets of one name", func(w *catalogue.Write) { w.NewSecrets = append(w.NewSecrets, sharedSecret(acme, "new")) }, 1, environment.CodeNameTaken},
		{"a binding to nothing", func(w *catalogue.Write) { w.Bindings[0].SecretID = environment.NewID() }, 1, environment.CodeSecretMissing},
	} {
		secret := sharedSecret(acme, "new")
		w := catalogue.Write{Environment: e, NewSecrets: []environment.SealedSecret{secret}, Activity: by("environment.updated", "environment", e.ID),
			Bindings:     []environment.SecretBinding{{ConfigPath: "config.password", SecretID: secret.ID, CompanyID: acme.ID, Version: "latest"}},
			MoreActivity: []environment.Activity{by("secret.created", "secret", secret.ID)}}
		c.spoil(&w)
		_, err := s.UpdateEnvironment(ctx, w, c.expect)
		same(t, "code of "+c.what, environment.CodeOf(err), c.code)
		page, err := s.Secrets(ctx, acme.ID, "", 0, "")
		s.must(err)
		same(t, "secrets after "+c.what, page.Items, []environment.StoredSecret{taken.StoredSecret})
		log, err := s.Activity(ctx, environment.ActivityFilter{EntityType: "secret", EntityID: secret.ID.String()})
		s.must(err)
		same(t, "activity after "+c.what, len(log.Items), 0)
		bindings, err := s.EnvironmentBindings(ctx, e.ID)
		s.must(err)
		same(t, "bindings after "+c.what, len(bindings), 0)
	}
}

// testRetiredSecrets: what cleanup may need stays until the last lease is clean.
func testRetiredSecrets(t *testing.T, s suite) {
	ctx := t.Context()
	c := s.company("acme")
	w := write("box")
	owned := environment.SealedSecret{StoredSecret: environment.StoredSecret{ID: environment.NewID(), EnvironmentID: &w.Environment.ID, Name: "password"}, Ciphertext: []byte("x")}
	w.NewSecrets = []environment.SealedSecret{owned}
	e, err := s.CreateEnvironment(ctx, w)
	s.must(err)
	l := s.lease(c, e, nil)
	_, err = s.UpdateLease(ctx, l.ID, func(l *environment.Lease) error {
		l.Status, l.Ref = environment.LeaseActive, json.RawMessage(`{"config":{"passwordSecretRef":{"secretId":"`+owned.ID.String()+`"}}}`)
		return nil
	}, nil)
	s.must(err)
	_, err = s.UpdateEnvironment(ctx, catalogue.Write{Environment: e, DropSecrets: []uuid.UUID{owned.ID}}, 1)
	s.must(err)
	sweep := func(what string, want int) {
		t.Helper()
		n, err := s.SweepSecrets(ctx)
		s.must(err)
		same(t, "secrets swept "+what, n, want)
	}
	sweep("while a lease was made with one", 0)
	row, _, err := s.Secret(ctx, owned.ID, "latest")
	s.must(err)
	if row.RetiredAt == nil {
		t.Error("a secret that nothing refers to is not retired")
	}
	impact, err := s.Impact(ctx, e.ID)
	s.must(err)
	same(t, "secrets that a delete takes along", impact.SecretCount, 0)
	s.hold(l.ID, environment.LeaseReleasing, environment.LeasePendingCleanup)
	sweep("while its cleanup waits", 0)
	r := s.run(c, s.environment("other"))
	s.must(s.KeepRemains(ctx, r.ID, l.ID))
	s.move(r.ID, environment.RunCancelled)
	s.hold(l.ID, environment.LeaseReleased)
	sweep("while a run's folder is to be removed with it", 0)
	_, err = s.ClaimRemains(ctx, s.server, 1, time.Minute)
	s.must(err)
	s.must(s.DropRemains(ctx, r.ID, s.server))
	sweep("when the lease is clean", 1)
	_, _, err = s.Secret(ctx, owned.ID, "latest")
	s.code("read a swept secret", err, environment.KindNotFound, environment.CodeSecretMissing)
}

// testSecretOfWork: a run that reads its secrets now keeps them, and a lease keeps
// a company's.
func testSecretOfWork(t *testing.T, s suite) {
	ctx := t.Context()
	c := s.company("acme")
	w := write("box")
	owned := environment.SealedSecret{StoredSecret: environment.StoredSecret{ID: environment.NewID(), EnvironmentID: &w.Environment.ID, Name: "password"}, Ciphertext: []byte("x")}
	w.NewSecrets = []environment.SealedSecret{owned}
	e, err := s.CreateEnvironment(ctx, w)
	s.must(err)
	r := s.run(c, e)
	_, err = s.UpdateEnvironment(ctx, catalogue.Write{Environment: e, DropSecrets: []uuid.UUID{owned.ID}}, 1)
	s.must(err)
	if _, _, err := s.Secret(ctx, owned.ID, "latest"); err != nil {
		t.Errorf("the secret of a queued run went: %v", err)
	}
	s.move(r.ID, environment.RunCancelled)
	n, err := s.SweepSecrets(ctx)
	s.must(err)
	same(t, "secrets swept after the run", n, 1)
	secret := s.shared(c, "token")
	bound := s.bound("bound", secret, "latest")
	l := s.lease(c, bound, nil)
	_, err = s.UpdateEnvironment(ctx, catalogue.Write{Environment: bound, Bindings: []environment.SecretBinding{}}, 1)
	s.must(err)
	s.must(s.holdRef(l.ID, secret.ID))
	s.code("delete what a lease was made with", s.DeleteSecret(ctx, secret.ID, environment.Activity{}), environment.KindConflict, environment.CodeSecretInUse)
	s.hold(l.ID, environment.LeaseReleasing, environment.LeaseReleased)
	s.must(s.DeleteSecret(ctx, secret.ID, environment.Activity{}))
}

func (s suite) holdRef(lease, secret uuid.UUID) error {
	_, err := s.UpdateLease(s.t.Context(), lease, func(l *environment.Lease) error {
		l.Status, l.Ref = environment.LeaseActive, json.RawMessage(`{"config":{"passwordSecretRef":{"secretId":"`+secret.String()+`"}}}`)
		return nil
	}, nil)
	return err
}

func testAccesses(t *testing.T, s suite) {
	ctx := t.Context()
	c := s.company("acme")
	secret, e, run := s.shared(c, "token"), environment.NewID(), environment.NewID()
	note := func(minute int, outcome string) environment.SecretAccess {
		return environment.SecretAccess{ID: environment.NewID(), SecretID: secret.ID, Version: 1, EnvironmentID: &e, CompanyID: &c.ID,
			ConfigPath: "config.password", Purpose: environment.ForRun, RunID: &run, ActorName: "Ada", Outcome: outcome, At: moment(minute)}
	}
	first, second := note(1, "opened"), note(2, environment.CodeSecretDisabled)
	lost := note(3, environment.CodeSecretMissing)
	lost.SecretID = environment.NewID()
	s.must(s.RecordAccess(ctx, first, lost, second))
	s.must(s.RecordAccess(ctx))
	page, err := s.SecretAccesses(ctx, secret.ID, 1, "")
	s.must(err)
	same(t, "newest access", page.Items, []environment.SecretAccess{second})
	page, err = s.SecretAccesses(ctx, secret.ID, 1, page.Next)
	s.must(err)
	same(t, "oldest access", page.Items, []environment.SecretAccess{first})
	same(t, "cursor of the last page", page.Next, "")
}

// testKeyset: everything that is sealed is offered once, and what another key sealed
// is refused once the database moved on.
func testKeyset(t *testing.T, s suite) {
	ctx := t.Context()
	acme := s.company("acme")
	old := s.shared(acme, "token")
	s.shared(acme, "other")
	s.run(acme, s.environment("box"))
	met, place := map[string]int{}, ""
	for range 10 {
		next, _, err := s.Reseal(ctx, place, 1, func(_ uuid.UUID, sealed []byte) ([]byte, error) {
			met[string(sealed)]++
			return append([]byte("new-"), sealed...), nil
		})
		s.must(err)
		if place = next; place == "" {
			break
		}
	}
	same(t, "what was offered", met, map[string]int{"sealed token": 1, "sealed other": 1, "sealed": 1})
	_, n, err := s.Reseal(ctx, "", 100, func(_ uuid.UUID, sealed []byte) ([]byte, error) {
		if !bytes.HasPrefix(sealed, []byte("new-")) {
			t.Errorf("a second pass meets %q", sealed)
		}
		return nil, nil
	})
	s.must(err)
	same(t, "values written by a pass that has nothing to do", n, 0)
	wakes, leave := s.Subscribe(environment.KeysetSubject)
	defer leave()
	bound, err := s.KeysetFingerprint(ctx)
	s.must(err)
	s.code("move from a key that is not bound", s.MoveKeyset(ctx, bound+"x", "next", [][]byte{[]byte("old")}, environment.Activity{}), environment.KindConflict, "keyset_mismatch")
	s.must(s.BindKeyset(ctx, "first"))
	s.must(s.MoveKeyset(ctx, "first", "next", [][]byte{[]byte("old")}, by("keyset.rotated", "instance", uuid.Nil)))
	<-wakes
	s.code("start with the key of before", s.BindKeyset(ctx, "first"), environment.KindConflict, "keyset_mismatch")
	s.must(s.BindKeyset(ctx, "another", "next"))
	v := environment.SecretVersion{ID: environment.NewID(), SecretID: old.ID, Version: 2, Ciphertext: []byte("old seal"), CreatedAt: moment(1)}
	_, err = s.AddSecretVersion(ctx, v, environment.Activity{})
	s.code("store what the old key sealed", err, environment.KindConflict, environment.CodeKeysetChanged)
	v.Ciphertext = []byte("new-seal")
	_, err = s.AddSecretVersion(ctx, v, environment.Activity{})
	s.must(err)
}
