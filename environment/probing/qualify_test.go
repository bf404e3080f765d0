package probing_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"berth/environment"
	"berth/environment/catalogue"
)

type identity = environment.ImageIdentity

// TestQualification walks every reason for which a probe that passed records
// nothing, and those for which it does.
func TestQualification(t *testing.T) {
	receipt := func(outcome, id string) func(*sandboxDriver) {
		return func(d *sandboxDriver) {
			d.release = func(_ context.Context, ref environment.Ref) (environment.Receipt, error) {
				d.set(func(d *sandboxDriver) { delete(d.live, ref.ProviderID) })
				return environment.Receipt{Outcome: outcome, ProviderID: id}, nil
			}
		}
	}
	named := func(code string) func(*sandboxDriver) {
		return func(d *sandboxDriver) {
			d.choice = func(identity) (identity, string, bool) { return identity{}, code, false }
		}
	}
	live := func(change func(*identity)) func(*sandboxDriver) {
		return func(d *sandboxDriver) {
			d.identity = func(i identity) (identity, error) { change(&i); return i, nil }
		}
	}
	says := func(from, to string) func(*sandboxDriver) {
		return func(d *sandboxDriver) { d.says = strings.ReplaceAll(musl, from, to) }
	}
	during := func(change func(*bed, environment.Environment)) func(*bed, environment.Environment) {
		return func(b *bed, env environment.Environment) {
			b.boxes.set(func(d *sandboxDriver) {
				d.exec = func(_ context.Context, x environment.Exec) (environment.ExecResult, error) {
					change(b, env)
					return environment.ExecResult{Ended: "exit"}, x.Output(environment.Stdout, 0, []byte(musl))
				}
			})
		}
	}
	const archived = `{"provider":"docker","image":"r.example/app@sha256:aa","archiveOnRelease":true}`
	const cleanup = "cleanup"
	tests := map[string]struct {
		config  string
		with    func(*sandboxDriver)
		before  func(*bed, environment.Environment)
		code    string
		warning string // the stage that warns; "" for none
	}{
		"by digest":               {code: environment.QualRecorded},
		"glibc":                   {with: says("berth:ldd=musl libc (x86_64)", "berth:getconf=glibc 2.36"), code: environment.QualRecorded},
		"by tag":                  {with: named(environment.QualMutableImage), code: environment.QualMutableImage},
		"by nothing":              {with: named(environment.QualDefaultImage), code: environment.QualDefaultImage},
		"by a word of its own":    {with: named("odd"), code: environment.QualMutableImage},
		"made from another":       {with: live(func(i *identity) { i.Digest = "sha256:cc" }), code: environment.QualMismatch},
		"made from another kind":  {with: live(func(i *identity) { i.Kind, i.Digest = environment.ImageLocal, "" }), code: environment.QualMismatch},
		"made from nobody knows":  {with: live(func(i *identity) { *i = identity{Kind: environment.ImageDigest} }), code: environment.QualMismatch},
		"nobody says from what":   {with: func(d *sandboxDriver) { d.identity = func(identity) (identity, error) { return identity{}, errBroken } }, code: environment.QualUnverified},
		"the provider cannot say": {config: `{"provider":"blind"}`, code: environment.QualUnsupported},
		"a pretended provider":    {config: `{"provider":"fake"}`, code: environment.QualUnsupported},
		"no libc":                 {with: says("berth:ldd=musl libc (x86_64)", "berth:ldd=sh: ldd: not found"), code: environment.QualUnmeasured, warning: "platform"},
		"another machine":         {with: says("x86_64", "s390x"), code: environment.QualUnmeasured, warning: "platform"},
		"no uname":                {with: says("berth:system=Linux", "noise"), code: environment.QualUnmeasured, warning: "platform"},
		"gone by itself":          {with: receipt("gone", "box-1"), code: environment.QualCleanup, warning: cleanup},
		"another one destroyed":   {with: receipt("destroyed", "box-2"), code: environment.QualCleanup, warning: cleanup},
		"destroyed, no id":        {with: receipt("destroyed", ""), code: environment.QualCleanup, warning: cleanup},
		"stopped, not archived":   {with: receipt("stopped", "box-1"), code: environment.QualCleanup, warning: cleanup},
		"stopped and archived":    {config: archived, with: receipt("stopped", "box-1"), code: environment.QualRecorded},
		"no receipt": {with: func(d *sandboxDriver) {
			d.release = func(context.Context, environment.Ref) (environment.Receipt, error) {
				return environment.Receipt{}, errBroken
			}
		}, code: environment.QualCleanup, warning: cleanup},
		"edited during the test": {before: during(func(b *bed, env environment.Environment) {
			b.edit(env, `{"provider":"docker","image":"r.example/other@sha256:aa"}`)
		}), code: environment.QualConfigChanged},
		"a secret turned over during the test": {before: during(func(b *bed, _ environment.Environment) { b.specs.set(func(s *fakeSpecs) { s.secrets = "v2" }) }), code: environment.QualConfigChanged},
		"captured during the test": {before: during(func(b *bed, _ environment.Environment) {
			id := environment.NewID()
			b.specs.set(func(s *fakeSpecs) { s.template = &id })
		}), code: environment.QualTemplateChanged},
		"captured anew during the test": {before: func(b *bed, env environment.Environment) {
			b.specs.set(func(s *fakeSpecs) { s.template = new(environment.NewID()) })
			during(func(b *bed, _ environment.Environment) {
				b.specs.set(func(s *fakeSpecs) { s.template = new(environment.NewID()) })
			})(b, env)
		}, code: environment.QualTemplateChanged},
		"discarded during the test": {before: func(b *bed, env environment.Environment) {
			id := environment.NewID()
			b.specs.set(func(s *fakeSpecs) { s.template = &id })
			during(func(b *bed, _ environment.Environment) { b.specs.set(func(s *fakeSpecs) { s.template = nil }) })(b, env)
		}, code: environment.QualTemplateChanged},
		"managed": {before: func(b *bed, _ environment.Environment) {
			b.specs.set(func(s *fakeSpecs) { s.admission.State = environment.QualificationNotRequired })
		}, code: environment.QualManagedNotNeeded},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBed(t, 1)
				if test.config == "" {
					test.config = docker
				}
				env := b.box(test.config)
				if test.with != nil {
					b.boxes.set(test.with)
				}
				if test.before != nil {
					test.before(b, env)
				}
				end := b.ended(b.test(env, b.acme()).ID)
				p := end.probe
				recorded := test.code == environment.QualRecorded
				if q := p.Qualification; q == nil || q.Code != test.code || q.Recorded != recorded || (end.change.Record != nil) != recorded || end.change.Revoke != "" {
					t.Fatalf("got %+v, %+v; want %s", q, end.change, test.code)
				}
				if !p.OK || p.State != environment.ProbeDone {
					t.Errorf("got %+v, want the connection's result as it is", p)
				}
				for _, s := range p.Stages {
					if s.Status != environment.StageOK && (s.Name != test.warning || s.Status != environment.StageWarning || s.Code == "" || s.Remediation == "") {
						t.Errorf("stage %+v", s)
					}
				}
				if text := p.Qualification.Message; !strings.Contains(text, env.Name) || strings.Contains(text, "box-1") || strings.Contains(text, "0123456789ab") {
					t.Errorf("message %q names no environment, or too much", text)
				}
				if want := map[bool]environment.Health{true: environment.HealthReady, false: environment.HealthWarning}[test.warning == ""]; p.Health() != want {
					t.Errorf("health %s, want %s", p.Health(), want)
				}
			})
		})
	}
}

// edit saves another config.
func (b *bed) edit(env environment.Environment, config string) {
	b.t.Helper()
	env.Config = json.RawMessage(config)
	if _, err := b.store.UpdateEnvironment(b.t.Context(), catalogue.Write{Environment: env, ConfigChanged: true}, env.Revision); err != nil {
		b.t.Error(err)
	}
}

// TestQualification_comesAndGoes stores what probes decide: a failed one revokes,
// one that was cut short does not, and one that passes records again.
func TestQualification_comesAndGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, 1)
		env, company, other := b.box(docker), b.acme(), b.acme()
		state := func(want environment.QualificationStatus, after string) {
			t.Helper()
			q, err := b.store.Qualification(t.Context(), env.ID, *company)
			if err != nil || want == "" && q != nil || want != "" && (q == nil || q.Status != want) {
				t.Errorf("after %s: %+v, %v; want %q", after, q, err, want)
			}
		}
		fail := func(with error) {
			b.boxes.set(func(d *sandboxDriver) {
				if d.acquire = nil; with != nil {
					d.acquire = func(context.Context, environment.Spec) error { return with }
				}
			})
		}
		broken := environment.Unavailable(environment.CodeImageDenied, "No.")
		fail(broken)
		b.ended(b.test(env, company).ID)
		state("", "a failure with nothing to revoke")
		fail(nil)
		b.ended(b.test(env, company).ID)
		state(environment.QualificationValid, "a pass")
		fail(environment.Conflict(environment.CodeBudgetExhausted, "No room."))
		b.ended(b.test(env, company).ID)
		state(environment.QualificationValid, "no room")
		fail(broken)
		b.ended(b.test(env, other).ID)
		state(environment.QualificationValid, "a failure for another company")
		b.ended(b.test(env, company).ID)
		state(environment.QualificationRevoked, "a failure")
		fail(nil)
		b.boxes.set(func(d *sandboxDriver) {
			d.choice = func(identity) (identity, string, bool) { return identity{}, environment.QualMutableImage, false }
		})
		b.ended(b.test(env, company).ID)
		state(environment.QualificationRevoked, "a pass that records nothing")
		b.boxes.set(func(d *sandboxDriver) { d.choice = nil })
		b.ended(b.test(env, company).ID)
		state(environment.QualificationValid, "another pass")
	})
}

// TestQualification_editedAndBack edits during the test and sets it back: the
// fingerprint is the same, the row is not.
func TestQualification_editedAndBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, 1)
		env, company := b.box(docker), b.acme()
		b.boxes.set(func(d *sandboxDriver) {
			d.exec = func(_ context.Context, x environment.Exec) (environment.ExecResult, error) {
				b.edit(env, `{"provider":"docker"}`)
				view, err := b.store.Environment(context.Background(), env.ID)
				if err != nil {
					return environment.ExecResult{}, err
				}
				b.edit(view.Environment, docker)
				return environment.ExecResult{Ended: "exit"}, x.Output(environment.Stdout, 0, []byte(musl))
			}
		})
		p := b.wait(b.test(env, company).ID)
		q, err := b.store.Qualification(t.Context(), env.ID, *company)
		if err != nil || q != nil || p.Qualification == nil || p.Qualification.Recorded || p.Qualification.Code != environment.QualConfigChanged {
			t.Errorf("recorded %+v, %v; the probe says %+v", q, err, p.Qualification)
		}
	})
}
