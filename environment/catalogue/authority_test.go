package catalogue_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"berth/environment"
	"berth/environment/access"

	"github.com/google/uuid"
)

func member(of uuid.UUID) environment.Actor {
	return environment.Actor{Kind: environment.ActorPerson, ID: environment.NewID(), Name: "Mo", Roles: map[uuid.UUID]environment.Role{of: environment.RoleMember}}
}

func (b *bench) newCompany(name string) environment.Company {
	b.t.Helper()
	company, err := b.CreateCompany(b.t.Context(), b.actor, name)
	if err != nil {
		b.t.Fatal(err)
	}
	return company
}

// TestMembersReadReduced: and whatever the search, they find by nothing hidden.
func TestMembersReadReduced(t *testing.T) {
	b := newBench(t)
	mo := member(b.newCompany("Acme").ID)
	d := sshDraft("Build box", "host", "hidden.example")
	d.EnvVars = vars("PLACE", plain("hidden-value"))
	d.Metadata = json.RawMessage(`{"rack":"hidden-rack"}`)
	env := b.create(d)
	whole, err := b.Get(t.Context(), b.actor, env.ID)
	if err != nil || !strings.Contains(string(whole.Config), "hidden.example") || len(whole.EnvVars) != 1 {
		t.Fatalf("an admin reads %s, %v", whole.Config, err)
	}
	got, err := b.Get(t.Context(), mo, env.ID)
	if err != nil {
		t.Fatal(err)
	}
	if string(got.Config) != "{}" || got.EnvVars == nil || len(got.EnvVars) != 0 || got.Metadata != nil || got.Name != "Build box" {
		t.Errorf("a member reads config %s, variables %v, metadata %s", got.Config, got.EnvVars, got.Metadata)
	}
	for query, want := range map[string][]int{"build": {1, 1}, "hidden.example": {1, 0}, "hidden": {1, 0}, "ssh": {1, 0}, "": {2, 2}} {
		for i, actor := range []environment.Actor{b.actor, mo} {
			page, err := b.List(t.Context(), actor, environment.ListFilter{Query: query})
			if err != nil || len(page.Items) != want[i] {
				t.Errorf("%s finds %d by %q, want %d: %v", actor.Name, len(page.Items), query, want[i], err)
			}
			for _, v := range page.Items {
				if i == 1 && (string(v.Config) != "{}" || len(v.EnvVars) > 0) {
					t.Errorf("a member's list holds %s", v.Config)
				}
			}
		}
	}
}

func TestCompaniesAreOnesOwn(t *testing.T) {
	b := newBench(t)
	acme, globex := b.newCompany("Acme"), b.newCompany("Globex")
	mo := member(acme.ID)
	agent := environment.Actor{Kind: environment.ActorAgent, ID: environment.NewID(), CompanyID: globex.ID}
	for _, tc := range []struct {
		actor environment.Actor
		want  []uuid.UUID
	}{{b.actor, []uuid.UUID{acme.ID, globex.ID}}, {mo, []uuid.UUID{acme.ID}}, {agent, []uuid.UUID{globex.ID}}} {
		all, err := b.Companies(t.Context(), tc.actor)
		if err != nil || len(all) != len(tc.want) {
			t.Fatalf("%s sees %v, %v", tc.actor.Kind, all, err)
		}
		for _, c := range all {
			if !slices.Contains(tc.want, c.ID) {
				t.Errorf("%s sees %s", tc.actor.Kind, c.Name)
			}
		}
	}
	_, foreign := b.Company(t.Context(), mo, globex.ID)
	_, random := b.Company(t.Context(), mo, environment.NewID())
	for _, err := range []error{foreign, random} {
		want(t, err, environment.KindNotFound, "company_not_found")
		if !errors.Is(err, access.ErrForeign) {
			t.Errorf("%v is not marked as of another company", err)
		}
	}
	if foreign.Error() != random.Error() {
		t.Errorf("%q is not %q", foreign, random)
	}
}

// TestNothingIsUsedWhileEnvironmentsAreOff: but reading goes on, and a refusal by
// role comes first.
func TestNothingIsUsedWhileEnvironmentsAreOff(t *testing.T) {
	b := newBench(t)
	env := b.create(sshDraft("Build box"))
	if _, err := b.UpdateSettings(t.Context(), b.actor, environment.SettingsPatch{EnableEnvironments: new(false)}); err != nil {
		t.Fatal(err)
	}
	archived := environment.StatusArchived
	uses := map[string]func(environment.Actor) error{
		"create": func(a environment.Actor) error { _, err := b.Create(t.Context(), a, sshDraft("Other")); return err },
		"change": func(a environment.Actor) error {
			_, err := b.Update(t.Context(), a, env.ID, nil, environment.Patch{Name: new("X")})
			return err
		},
		"archive": func(a environment.Actor) error {
			_, err := b.Update(t.Context(), a, env.ID, nil, environment.Patch{Status: &archived})
			return err
		},
		"delete": func(a environment.Actor) error {
			_, err := b.Delete(t.Context(), a, env.ID, environment.DeleteOptions{})
			return err
		},
		"scan": func(a environment.Actor) error {
			_, err := b.ScanHostKeys(t.Context(), a, nil, "h", 22, "")
			return err
		},
		"trust": func(a environment.Actor) error {
			_, err := b.TrustHostKey(t.Context(), a, env.ID, "SHA256:x", false)
			return err
		},
		"draft": func(a environment.Actor) error {
			_, err := b.DraftSpec(t.Context(), a, nil, nil, sshDraft("Other"))
			return err
		},
	}
	for name, use := range uses {
		e := refusal(t, use(b.actor), environment.KindConflict, environment.CodeEnvironmentsDisabled)
		if e.Remediation == "" {
			t.Errorf("%s: no way out is named", name)
		}
		if err := use(member(environment.NewID())); environment.KindOf(err) != environment.KindForbidden {
			t.Errorf("%s by a member: %v", name, err)
		}
	}
	if _, err := b.Get(t.Context(), b.actor, env.ID); err != nil {
		t.Errorf("read: %v", err)
	}
	if _, err := b.Impact(t.Context(), b.actor, env.ID); err != nil {
		t.Errorf("impact: %v", err)
	}
}

// TestLocalIsNotThereForManagedSandboxes: not by its id either, nor as a default.
func TestLocalIsNotThereForManagedSandboxes(t *testing.T) {
	b := newBench(t)
	if _, err := b.UpdateSettings(t.Context(), b.actor, environment.SettingsPatch{EnableManagedSandboxOnly: new(true), ClearDefault: true}); err != nil {
		t.Fatal(err)
	}
	_, get := b.Get(t.Context(), b.actor, b.local.ID)
	_, impact := b.Impact(t.Context(), b.actor, b.local.ID)
	_, update := b.Update(t.Context(), b.actor, b.local.ID, nil, environment.Patch{Name: new("Mine")})
	_, gone := b.Delete(t.Context(), b.actor, b.local.ID, environment.DeleteOptions{})
	_, check := b.Check(t.Context(), b.actor, &b.local.ID, environment.Draft{Name: "Mine"})
	for name, err := range map[string]error{"get": get, "impact": impact, "update": update, "delete": gone, "check": check} {
		if environment.CodeOf(err) != environment.CodeEnvironmentNotFound {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := b.UpdateSettings(t.Context(), b.actor, environment.SettingsPatch{DefaultEnvironmentID: &b.local.ID})
	want(t, err, environment.KindConflict, environment.CodeManagedSandboxOnly)
}
