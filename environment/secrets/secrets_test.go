package secrets_test

import (
	"reflect"
	"strings"
	"testing"

	"berth/environment"
	"berth/environment/secrets"

	"github.com/google/uuid"
)

func TestALifeOfASecret(t *testing.T) {
	b, ctx := newBed(t), t.Context()
	ada := admin(b.acme)
	about := " of the builders "
	s, err := b.Create(ctx, ada, b.acme, secrets.New{Name: " Token ", Description: &about, Value: environment.NewSecret("canary-1")})
	if err != nil || s.Name != "Token" || *s.Description != "of the builders" || s.LatestVersion != 1 || s.CreatedBy != "Ada" {
		t.Fatalf("made %+v, %v", s, err)
	}
	if s, err = b.Rotate(ctx, ada, s.ID, environment.NewSecret("canary-2")); err != nil || s.LatestVersion != 2 {
		t.Fatalf("rotated %+v, %v", s, err)
	}
	if one, two := b.value(s.ID, "1"), b.value(s.ID, "latest"); one != "canary-1" || two != "canary-2" {
		t.Errorf("values %q and %q", one, two)
	}
	for _, p := range []secrets.Patch{
		{Name: new("Key"), SetDescription: true}, {Disabled: new(true)}, {Disabled: new(true)}, {Disabled: new(false)}, {},
	} {
		if s, err = b.Update(ctx, ada, s.ID, p); err != nil {
			t.Fatalf("update %+v: %v", p, err)
		}
	}
	got, uses, err := b.Get(ctx, ada, s.ID)
	if err != nil || got.Name != "Key" || got.Disabled || got.Description != nil || len(uses.Versions) != 2 || len(uses.Bindings) != 0 || uses.Versions[0].Ciphertext != nil {
		t.Errorf("got %+v, %+v, %v", got, uses, err)
	}
	if page, err := b.List(ctx, ada, b.acme, "", 0, ""); err != nil || len(page.Items) != 1 {
		t.Errorf("list %+v, %v", page, err)
	}
	if err := b.Delete(ctx, ada, s.ID); err != nil {
		t.Fatal(err)
	}
	_, _, err = b.Get(ctx, ada, s.ID)
	want(t, "read a deleted one", err, environment.KindNotFound, "secret_not_found")
	log := b.entries(s.ID.String())
	wanted := []string{
		`secret.created of acme {"name":"Token"}`,
		`secret.rotated of acme {"name":"Token","version":2}`,
		`secret.updated of acme {"changedFields":["description","name"],"changes":{"description":{"after":"","before":"of the builders"},"name":{"after":"Key","before":"Token"}},"name":"Key"}`,
		`secret.disabled of acme {"changedFields":["disabled"],"changes":{"disabled":{"after":true,"before":false}},"name":"Key"}`,
		`secret.enabled of acme {"changedFields":["disabled"],"changes":{"disabled":{"after":false,"before":true}},"name":"Key"}`,
		`secret.deleted of acme {"name":"Key"}`,
	}
	if !reflect.DeepEqual(log, wanted) {
		t.Errorf("log:\n%s\nwant\n%s", strings.Join(log, "\n"), strings.Join(wanted, "\n"))
	}
}

func TestLimits(t *testing.T) {
	b := newBed(t)
	ada := admin(b.acme)
	b.create("taken", "x")
	for _, c := range []struct {
		what, name, value, about, code string
		fields                         []string
	}{
		{"one byte", "a", "x", "", "", nil},
		{"64 KiB", "b", strings.Repeat("x", environment.MaxSecret), "", "", nil},
		{"one byte more", "c", strings.Repeat("x", environment.MaxSecret+1), "", "validation_failed", []string{"value"}},
		{"nothing", "c", "", "", "validation_failed", []string{"value"}},
		{"a NUL", "c", "a\x00b", "", "validation_failed", []string{"value"}},
		{"120 characters of name", strings.Repeat("é", 120), "x", "", "", nil},
		{"121 characters of name", strings.Repeat("é", 121), "x", "", "validation_failed", []string{"name"}},
		{"2000 characters of description", "d", "x", strings.Repeat("é", 2000), "", nil},
		{"2001 characters of description", "e", "x", strings.Repeat("é", 2001), "validation_failed", []string{"description"}},
		{"all wrong", " ", "", "\x00", "validation_failed", []string{"name", "description", "value"}},
		{"a name in another case", "TAKEN", "x", "", environment.CodeNameTaken, []string{"name"}},
	} {
		t.Run(c.what, func(t *testing.T) {
			_, err := b.Create(t.Context(), ada, b.acme, secrets.New{Name: c.name, Description: &c.about, Value: environment.NewSecret(c.value)})
			if c.code == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			kind := environment.KindInvalid
			if c.code == environment.CodeNameTaken {
				kind = environment.KindConflict
			}
			want(t, c.what, err, kind, c.code, c.fields...)
		})
	}
	s := b.create("rotated", "x")
	_, err := b.Rotate(t.Context(), ada, s.ID, environment.NewSecret(strings.Repeat("x", environment.MaxSecret+1)))
	want(t, "rotate to one byte too many", err, environment.KindInvalid, "validation_failed", "value")
}

// C73: a secret of another company is what a secret that does not exist is.
func TestC73_AnotherCompanysSecretIsNotThere(t *testing.T) {
	b := newBed(t)
	mine := b.create("token", "x")
	member := admin(b.acme)
	member.Roles = map[uuid.UUID]environment.Role{b.acme: environment.RoleMember}
	agent := environment.Actor{Kind: environment.ActorAgent, ID: environment.NewID(), CompanyID: b.acme}
	for _, c := range []struct {
		who   string
		actor environment.Actor
		id    uuid.UUID
		kind  environment.Kind
		code  string
	}{
		{"nobody", environment.Actor{}, mine.ID, environment.KindUnauthenticated, "unauthenticated"},
		{"a member", member, mine.ID, environment.KindForbidden, "forbidden"},
		{"a member, of what is not there", member, environment.NewID(), environment.KindForbidden, "forbidden"},
		{"an agent", agent, mine.ID, environment.KindForbidden, "forbidden"},
		{"another company's admin", admin(b.globex), mine.ID, environment.KindNotFound, "secret_not_found"},
		{"another company's admin, of what is not there", admin(b.globex), environment.NewID(), environment.KindNotFound, "secret_not_found"},
	} {
		t.Run(c.who, func(t *testing.T) {
			ctx := t.Context()
			for what, do := range map[string]func() error{
				"get":      func() error { _, _, err := b.Get(ctx, c.actor, c.id); return err },
				"rotate":   func() error { _, err := b.Rotate(ctx, c.actor, c.id, environment.Secret{}); return err },
				"update":   func() error { _, err := b.Update(ctx, c.actor, c.id, secrets.Patch{Name: new("")}); return err },
				"delete":   func() error { return b.Delete(ctx, c.actor, c.id) },
				"accesses": func() error { _, err := b.Accesses(ctx, c.actor, c.id, 0, "no cursor"); return err },
			} {
				want(t, what, do(), c.kind, c.code)
			}
		})
	}
	_, err := b.List(t.Context(), admin(b.globex), b.acme, "", 0, "")
	want(t, "list another company's", err, environment.KindNotFound, "company_not_found")
	_, err = b.Create(t.Context(), admin(b.globex), b.acme, secrets.New{})
	want(t, "create in another company", err, environment.KindNotFound, "company_not_found")
	_, err = b.RotateKey(t.Context(), admin(b.acme))
	want(t, "turn the key over as a company's admin", err, environment.KindForbidden, "forbidden")
}

func TestRotatorsAtOnceMakeOneVersionEach(t *testing.T) {
	b := newBed(t)
	s := b.create("token", "x")
	done := make(chan error)
	for range 8 {
		go func() {
			_, err := b.Rotate(t.Context(), admin(b.acme), s.ID, environment.NewSecret("y"))
			done <- err
		}()
	}
	made := 0
	for range 8 {
		if err := <-done; err == nil {
			made++
		} else {
			want(t, "a rotation that came second", err, environment.KindConflict, "secret_changed")
		}
	}
	_, uses, err := b.Get(t.Context(), admin(b.acme), s.ID)
	if err != nil || len(uses.Versions) != made+1 || made == 0 {
		t.Errorf("%d versions after %d rotations, %v", len(uses.Versions), made, err)
	}
}
