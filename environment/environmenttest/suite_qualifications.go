package environmenttest

import (
	"testing"

	"berth/environment"
	"berth/environment/catalogue"
	"berth/environment/secrets"

	"github.com/google/uuid"
)

// record is proof that is not stored yet.
func record(fingerprint string) *environment.Qualification {
	return &environment.Qualification{Provider: environment.ProviderDocker, ProviderVersion: "24.0", Fingerprint: fingerprint,
		Image:    environment.ImageIdentity{Kind: environment.ImageDigest, Reference: "app@sha256:a", Digest: "sha256:a", ImageID: "sha256:b"},
		Platform: environment.Platform{OS: "linux", Arch: "x64", Libc: "musl", LibcVersion: "1.2"}, LeaseID: environment.NewID(),
		ProviderID: "abc", Receipt: []byte(`{"outcome":"destroyed"}`), MeasuredAt: moment(3)}
}

// finished ends a probe of an environment for a company with what it does to the
// qualification.
func (s suite) finished(e environment.Environment, company *uuid.UUID, end func(*environment.Probe), change environment.QualificationChange) environment.Probe {
	s.t.Helper()
	p := s.probe(e)
	p.CompanyID = company
	p = verdict(s.begun(p), "")
	p.Qualification = &environment.QualificationResult{Recorded: change.Record != nil, Code: environment.QualRecorded, Message: "Recorded."}
	if end != nil {
		end(&p)
	}
	got, err := s.FinishProbe(s.t.Context(), p, change, environment.Activity{ActorName: "Ada"})
	s.must(err)
	return got
}

// qualified stores a valid qualification.
func (s suite) qualified(e environment.Environment, c environment.Company) {
	s.t.Helper()
	s.finished(e, &c.ID, nil, environment.QualificationChange{Record: record("one")})
	s.standing("a new record", e, c, environment.QualificationValid, "")
}

// standing wants what is recorded to be so.
func (s suite) standing(what string, e environment.Environment, c environment.Company, status environment.QualificationStatus, reason string) {
	s.t.Helper()
	q, err := s.Qualification(s.t.Context(), e.ID, c.ID)
	s.must(err)
	switch {
	case q == nil && status != "":
		s.t.Errorf("%s: nothing is recorded, want %s", what, status)
	case q != nil && (q.Status != status || q.RevokedFor != reason || (q.RevokedAt != nil) != (reason != "") || (q.RevokedBy != "") != (reason != "")):
		s.t.Errorf("%s: got %s for %q by %q at %v, want %s for %q", what, q.Status, q.RevokedFor, q.RevokedBy, q.RevokedAt, status, reason)
	}
}

func testQualification(t *testing.T, s suite) {
	ctx := t.Context()
	acme, globex, e := s.company("acme"), s.company("globex"), s.environment("box")
	s.standing("before any", e, acme, "", "")
	want := record("one")
	p := s.finished(e, &acme.ID, func(p *environment.Probe) {
		p.Image, p.LeaseID, p.Proves = &want.Image, &want.LeaseID, "It runs."
	}, environment.QualificationChange{Record: want})
	read, err := s.Probe(ctx, p.ID)
	s.must(err)
	same(t, "the probe as it is read", read, p)
	if p.Image == nil || *p.Image != want.Image || p.LeaseID == nil || *p.LeaseID != want.LeaseID || p.Proves != "It runs." ||
		p.Qualification == nil || !p.Qualification.Recorded {
		t.Errorf("what the probe found: got %+v", p)
	}
	same(t, "the environment's last probe", s.view(e.ID).Last, &p)
	got, err := s.Qualification(ctx, e.ID, acme.ID)
	s.must(err)
	want.EnvironmentID, want.CompanyID, want.ProbeID, want.Status = e.ID, acme.ID, p.ID, environment.QualificationValid
	sameJSON(t, "receipt", got.Receipt, want.Receipt)
	got.Receipt = want.Receipt
	same(t, "what is recorded", got, want)
	s.standing("for another company", e, globex, "", "")

	s.must(s.RevokeQualification(ctx, e.ID, acme.ID, environment.RevokedDeleted, "Bob"))
	s.standing("revoked", e, acme, environment.QualificationRevoked, environment.RevokedDeleted)
	s.must(s.RevokeQualification(ctx, e.ID, acme.ID, environment.RevokedTarget, "Ada"))
	s.standing("revoked again", e, acme, environment.QualificationRevoked, environment.RevokedDeleted)
	s.must(s.RevokeQualification(ctx, e.ID, globex.ID, environment.RevokedTarget, "Ada"))
	s.standing("revoked where nothing is", e, globex, "", "")
	s.finished(e, &acme.ID, nil, environment.QualificationChange{Record: record("two")})
	s.standing("recorded again", e, acme, environment.QualificationValid, "")
}

func testProbesThatDoNotQualify(t *testing.T, s suite) {
	acme, e := s.company("acme"), s.environment("box")
	fail := func(p *environment.Probe) { p.OK, p.Code = false, environment.CodeTimedOut }
	revoke := environment.QualificationChange{Revoke: environment.RevokedProbe}
	end := func(state environment.ProbeState) func(*environment.Probe) {
		return func(p *environment.Probe) { p.State, p.OK = state, false }
	}
	s.finished(e, &acme.ID, fail, revoke)
	s.standing("a failure before any record", e, acme, "", "")
	s.qualified(e, acme)
	s.finished(e, nil, fail, revoke)
	s.standing("a failure for no company", e, acme, environment.QualificationValid, "")
	s.finished(e, &acme.ID, end(environment.ProbeCancelled), revoke)
	s.finished(e, &acme.ID, end(environment.ProbeInterrupted), revoke)
	s.standing("probes that were cut short", e, acme, environment.QualificationValid, "")
	s.finished(e, &acme.ID, nil, environment.QualificationChange{})
	s.standing("a probe that changes nothing", e, acme, environment.QualificationValid, "")
	s.finished(e, &acme.ID, fail, revoke)
	s.standing("a failure", e, acme, environment.QualificationRevoked, environment.RevokedProbe)
	s.finished(e, &acme.ID, end(environment.ProbeCancelled), environment.QualificationChange{Record: record("x")})
	s.standing("a record of what was cut short", e, acme, environment.QualificationRevoked, environment.RevokedProbe)
	other := s.environment("other")
	s.finished(other, nil, nil, environment.QualificationChange{Record: record("x")})
	draft := s.probe(other)
	draft.Draft, draft.CompanyID = true, &acme.ID
	_, err := s.FinishProbe(t.Context(), verdict(s.begun(draft), ""), environment.QualificationChange{Record: record("x")}, environment.Activity{})
	s.must(err)
	s.standing("a draft, and a probe for no company", other, acme, "", "")
}

// testConfigChangedDuringProbe lets a write of the config come in between the
// begin of a probe and its end.
func testConfigChangedDuringProbe(t *testing.T, s suite) {
	ctx := t.Context()
	acme := s.company("acme")
	secret := s.shared(acme, "token")
	for name, x := range map[string]struct {
		change  func(environment.Environment) error
		records bool
	}{
		"config": {func(e environment.Environment) error {
			_, err := s.UpdateEnvironment(ctx, catalogue.Write{Environment: e, ConfigChanged: true}, e.Revision)
			return err
		}, false},
		"name": {func(e environment.Environment) error {
			e.Name += " renamed"
			_, err := s.UpdateEnvironment(ctx, catalogue.Write{Environment: e}, e.Revision)
			return err
		}, true},
		"status": {func(e environment.Environment) error {
			e.Status = environment.StatusArchived
			_, err := s.UpdateEnvironment(ctx, catalogue.Write{Environment: e}, e.Revision)
			return err
		}, false},
		"secret": {func(environment.Environment) error {
			_, err := s.AddSecretVersion(ctx, environment.SecretVersion{ID: environment.NewID(), SecretID: secret.ID, Version: 2, Ciphertext: []byte("two")}, environment.Activity{})
			return err
		}, false},
		"nothing": {func(environment.Environment) error { return nil }, true},
	} {
		e := s.bound(name, secret, "latest")
		p := s.probe(e)
		p.CompanyID = &acme.ID
		p = s.begun(p)
		s.must(x.change(e))
		v := verdict(p, "")
		v.Qualification = &environment.QualificationResult{Recorded: true, Code: environment.QualRecorded, Message: "Recorded."}
		got, err := s.FinishProbe(ctx, v, environment.QualificationChange{Record: record("one")}, environment.Activity{})
		s.must(err)
		q, err := s.Qualification(ctx, e.ID, acme.ID)
		s.must(err)
		same(t, name+" changed during the probe: something is recorded", q != nil, x.records)
		if got.Qualification == nil {
			t.Errorf("%s changed during the probe: it says nothing", name)
			continue
		}
		same(t, name+" changed during the probe: it says that it recorded", got.Qualification.Recorded, x.records)
		if !x.records {
			same(t, name+" changed during the probe: code", got.Qualification.Code, environment.QualConfigChanged)
		}
	}
}

// testRecordRaces ends probes while the config is written: what was measured of the
// old one never stands.
func testRecordRaces(t *testing.T, s suite) {
	ctx := t.Context()
	acme, e := s.company("acme"), s.environment("box")
	for range 10 {
		p := s.probe(e)
		p.CompanyID = &acme.ID
		p = s.begun(p)
		var next environment.Environment
		through := s.atOnce(2, "", func(i int) (err error) {
			if i == 0 {
				_, err = s.FinishProbe(ctx, verdict(p, ""), environment.QualificationChange{Record: record("one")}, environment.Activity{})
				return err
			}
			next, err = s.UpdateEnvironment(ctx, catalogue.Write{Environment: e, ConfigChanged: true, RevokeFor: environment.RevokedTarget,
				Activity: environment.Activity{ActorName: "Ada"}}, e.Revision)
			return err
		})
		same(t, "of a verdict and a write", through, 2)
		q, err := s.Qualification(ctx, e.ID, acme.ID)
		s.must(err)
		if q != nil && q.Status == environment.QualificationValid {
			t.Fatal("what was measured of another config stands")
		}
		e = next
	}
}

func testRevokingWrites(t *testing.T, s suite) {
	ctx := t.Context()
	acme, globex, e, other := s.company("acme"), s.company("globex"), s.environment("box"), s.environment("other")
	s.qualified(e, acme)
	s.qualified(e, globex)
	s.qualified(other, acme)
	e.Name = "renamed"
	e, err := s.UpdateEnvironment(ctx, catalogue.Write{Environment: e}, e.Revision)
	s.must(err)
	s.standing("after a rename", e, acme, environment.QualificationValid, "")
	_, err = s.UpdateEnvironment(ctx, catalogue.Write{Environment: e, RevokeFor: environment.RevokedImage}, e.Revision+1)
	s.code("a write that comes too late", err, environment.KindStale, environment.CodeStaleRevision)
	s.standing("after a write that was refused", e, acme, environment.QualificationValid, "")
	by := environment.Activity{ActorName: "Ada", Action: "environment.updated", EntityType: "environment", EntityID: e.ID.String()}
	e, err = s.UpdateEnvironment(ctx, catalogue.Write{Environment: e, RevokeFor: environment.RevokedImage, ConfigChanged: true, Activity: by}, e.Revision)
	s.must(err)
	s.standing("after another image", e, acme, environment.QualificationRevoked, environment.RevokedImage)
	s.standing("after another image, for the other company", e, globex, environment.QualificationRevoked, environment.RevokedImage)
	s.standing("of another environment", other, acme, environment.QualificationValid, "")
	e, err = s.UpdateEnvironment(ctx, catalogue.Write{Environment: e, RevokeFor: environment.RevokedTarget, ConfigChanged: true, Activity: by}, e.Revision)
	s.must(err)
	s.standing("after editing back", e, acme, environment.QualificationRevoked, environment.RevokedImage)
	_, err = s.DeleteEnvironment(ctx, e.ID, environment.DeleteOptions{}, environment.Activity{})
	s.must(err)
	s.standing("when the environment is gone", e, acme, "", "")
}

func testRevokingSecrets(t *testing.T, s suite) {
	ctx := t.Context()
	acme := s.company("acme")
	secret, idle := s.shared(acme, "token"), s.shared(acme, "idle")
	latest, pinned := s.bound("latest", secret, "latest"), s.bound("pinned", secret, "1")
	w := write("variable")
	w.Bindings = []environment.SecretBinding{{ConfigPath: "envVars.TOKEN", SecretID: secret.ID, CompanyID: acme.ID, Version: "latest"}}
	variable, err := s.CreateEnvironment(ctx, w)
	s.must(err)
	for _, e := range []environment.Environment{latest, pinned, variable} {
		s.qualified(e, acme)
	}
	by := environment.Activity{ActorName: "Ada"}
	_, err = s.AddSecretVersion(ctx, environment.SecretVersion{ID: environment.NewID(), SecretID: idle.ID, Version: 2, Ciphertext: []byte("2")}, by)
	s.must(err)
	s.standing("after a secret that nothing refers to", latest, acme, environment.QualificationValid, "")
	_, err = s.AddSecretVersion(ctx, environment.SecretVersion{ID: environment.NewID(), SecretID: secret.ID, Version: 2, Ciphertext: []byte("2")}, by)
	s.must(err)
	s.standing("after a rotation", latest, acme, environment.QualificationRevoked, environment.RevokedAccount)
	s.standing("after a rotation, pinned to a version", pinned, acme, environment.QualificationValid, "")
	s.standing("after a rotation, in a variable", variable, acme, environment.QualificationValid, "")
	name, off, on := "renamed", true, false
	_, err = s.UpdateSecret(ctx, secret.ID, secrets.Patch{Name: &name}, by)
	s.must(err)
	s.standing("after a secret's rename", pinned, acme, environment.QualificationValid, "")
	_, err = s.UpdateSecret(ctx, secret.ID, secrets.Patch{Disabled: &off}, by)
	s.must(err)
	s.standing("after disabling", pinned, acme, environment.QualificationRevoked, environment.RevokedAccount)
	_, err = s.UpdateSecret(ctx, secret.ID, secrets.Patch{Disabled: &on}, by)
	s.must(err)
	s.standing("after enabling again", pinned, acme, environment.QualificationRevoked, environment.RevokedAccount)
}
