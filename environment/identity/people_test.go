package identity_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"berth/environment"
	"berth/environment/identity"

	"github.com/google/uuid"
)

func TestUpdatePerson(t *testing.T) {
	d := newDeskWithAdmin(t)
	bob := d.join("bob@example.com", d.as(environment.RoleMember))
	person, err := d.UpdatePerson(t.Context(), d.admin, bob.ID, identity.PersonPatch{
		Name: pointer(" Robert "), Email: pointer(" Rob@example.com"), InstanceAdmin: pointer(true),
	})
	d.must(err)
	if person.Name != "Robert" || person.Email != "Rob@example.com" || !person.InstanceAdmin || person.Roles[d.home] != environment.RoleMember {
		t.Errorf("the person is %+v", person)
	}
	entry := d.one("person.updated", 1)
	if got := fmt.Sprint(entry.Details["changedFields"]); got != "[email isInstanceAdmin name]" || *entry.ActorID != d.admin.ID {
		t.Errorf("the log says %+v", entry)
	}
	if _, err := d.UpdatePerson(t.Context(), d.admin, bob.ID, identity.PersonPatch{Name: pointer("Robert")}); err != nil || len(d.done("person.updated")) != 1 {
		t.Errorf("a patch that changes nothing: %v", err)
	}
	for name, tc := range map[string]struct {
		patch identity.PersonPatch
		field string
	}{
		"no name":    {identity.PersonPatch{Name: pointer("")}, "name"},
		"no address": {identity.PersonPatch{Email: pointer("rob")}, "email"},
		"taken":      {identity.PersonPatch{Email: pointer("ADA@example.com")}, "email"},
	} {
		_, err := d.UpdatePerson(t.Context(), d.admin, bob.ID, tc.patch)
		d.at(name, err, tc.field)
	}
	_, err = d.UpdatePerson(t.Context(), d.admin, uuid.New(), identity.PersonPatch{Name: pointer("X")})
	d.refused("nobody", err, environment.KindNotFound, "person_not_found")
}

// TestDisable: whoever is disabled is out at once, with sessions and tokens.
func TestDisable(t *testing.T) {
	d := newDeskWithAdmin(t)
	bob := d.join("bob@example.com", d.as(environment.RoleOwner))
	_, token, err := d.CreateToken(t.Context(), bob, "laptop", 0)
	d.must(err)
	_, err = d.UpdatePerson(t.Context(), d.admin, bob.ID, identity.PersonPatch{Disabled: pointer(true)})
	d.must(err)
	_, err = d.Again(t.Context(), bob)
	d.refused("the session", err, environment.KindUnauthenticated, "session_ended")
	_, err = d.ByBearer(t.Context(), token.Reveal())
	d.refused("the token", err, environment.KindUnauthenticated, "invalid_key")
	person, err := d.UpdatePerson(t.Context(), d.admin, bob.ID, identity.PersonPatch{Disabled: pointer(false)})
	d.must(err)
	if person.DisabledAt != nil {
		t.Errorf("enabled again: %+v", person)
	}
	_, err = d.Again(t.Context(), bob)
	d.refused("the session of before", err, environment.KindUnauthenticated, "session_ended")
	_, _, err = d.SignIn(t.Context(), "bob@example.com", secret("password of bob@example.com"), here)
	d.must(err)
}

func TestSignOutPerson(t *testing.T) {
	d := newDeskWithAdmin(t)
	bob := d.join("bob@example.com", identity.Invitation{})
	_, token, err := d.CreateToken(t.Context(), bob, "laptop", 0)
	d.must(err)
	if n, err := d.SignOutPerson(t.Context(), d.admin, bob.ID, false); err != nil || n != 1 {
		t.Errorf("ended %d, %v; want 1", n, err)
	}
	_, err = d.Again(t.Context(), bob)
	d.refused("the session", err, environment.KindUnauthenticated, "session_ended")
	byToken, err := d.ByBearer(t.Context(), token.Reveal())
	d.must(err)
	if n, err := d.SignOutPerson(t.Context(), d.admin, bob.ID, true); err != nil || n != 0 {
		t.Errorf("ended %d, %v; want 0", n, err)
	}
	_, err = d.Again(t.Context(), byToken)
	d.refused("the token", err, environment.KindUnauthenticated, "invalid_key")
	_, err = d.SignOutPerson(t.Context(), d.admin, uuid.New(), true)
	d.refused("nobody", err, environment.KindNotFound, "person_not_found")
}

func TestPeople(t *testing.T) {
	d := newDeskWithAdmin(t)
	for _, name := range []string{"dan", "bob", "carol"} {
		d.join(name+"@example.com", identity.Invitation{})
	}
	var names []string
	cursor := ""
	for range 3 {
		page, err := d.People(t.Context(), d.admin, "", 2, cursor)
		d.must(err)
		for _, p := range page.Items {
			names = append(names, p.Name)
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	if got := strings.Join(names, " "); got != "Ada bob carol dan" {
		t.Errorf("the people are %q", got)
	}
	if p, err := d.Person(t.Context(), d.admin, d.admin.ID); err != nil || p.Email != adminEmail {
		t.Errorf("one is %+v, %v", p, err)
	}
}

func TestSetRole(t *testing.T) {
	d := newDeskWithAdmin(t)
	bob := d.join("bob@example.com", d.as(environment.RoleMember))
	d.must(d.SetRole(t.Context(), d.admin, bob.ID, d.home, environment.RoleMember))
	if len(d.done("person.role_changed")) != 0 {
		t.Error("the role that one has already was noted")
	}
	d.must(d.SetRole(t.Context(), d.admin, bob.ID, d.home, environment.RoleAdmin))
	entry := d.one("person.role_changed", 1)
	change := entry.Details["changes"].(map[string]any)["role"].(map[string]any)
	if change["before"] != "member" || change["after"] != "admin" || entry.CompanyID == nil || *entry.CompanyID != d.home || entry.EntityID != bob.ID.String() {
		t.Errorf("the log says %+v", entry)
	}
	members, err := d.Members(t.Context(), d.admin, d.home)
	if err != nil || len(members) != 1 || members[0].Roles[d.home] != environment.RoleAdmin {
		t.Errorf("the members are %+v, %v", members, err)
	}
	d.must(d.SetRole(t.Context(), d.admin, bob.ID, d.home, ""))
	now, err := d.Again(t.Context(), bob)
	d.must(err)
	if len(now.Roles) != 0 {
		t.Errorf("without a role the roles are %v", now.Roles)
	}
	d.at("a wrong role", d.SetRole(t.Context(), d.admin, bob.ID, d.home, "king"), "role")
	d.refused("no company", d.SetRole(t.Context(), d.admin, bob.ID, uuid.New(), environment.RoleOwner), environment.KindNotFound, "company_not_found")
	d.refused("nobody", d.SetRole(t.Context(), d.admin, uuid.New(), d.home, environment.RoleOwner), environment.KindNotFound, "person_not_found")
	_, err = d.Members(t.Context(), d.admin, uuid.New())
	d.refused("members of no company", err, environment.KindNotFound, "company_not_found")
}

// TestAnAdminStays: no sequence of changes leaves the instance without an admin
// who can sign in, whoever makes them. The seeds are printed to repeat one.
func TestAnAdminStays(t *testing.T) {
	refusals := 0
	for seed := range uint64(30) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, seed))
			d := newDeskWithAdmin(t)
			people := []environment.Actor{d.admin}
			for n := range 4 {
				people = append(people, d.join(fmt.Sprintf("p%d@example.com", n), identity.Invitation{InstanceAdmin: n%2 == 0}))
			}
			lastRefused := 0
			for step := range 200 {
				n, whom := random.IntN(len(people)), people[random.IntN(len(people))]
				who, in := d.back(people[n], n)
				if !in {
					continue // disabled
				}
				people[n] = who
				what := change(t, d, random, who, whom.ID)
				switch code := environment.CodeOf(what.err); code {
				case "last_admin":
					lastRefused++
				case "", "forbidden":
				default:
					t.Fatalf("step %d: %s: %v", step, what.name, what.err)
				}
				if there, err := d.store.HasAdmin(t.Context()); err != nil || !there {
					t.Fatalf("step %d: after %s of %s by %s there is no admin (%v)", step, what.name, whom.Name, who.Name, err)
				}
			}
			refusals += lastRefused
		})
	}
	if refusals == 0 {
		t.Error("in no sequence was the last admin asked to go")
	}
	t.Logf("%d changes were refused for the last admin's sake", refusals)
}

// back is somebody with the roles of now, signed in anew if need be; false for
// one who is disabled. The first is the desk's admin.
func (d *desk) back(actor environment.Actor, n int) (environment.Actor, bool) {
	d.t.Helper()
	if now, err := d.Again(d.t.Context(), actor); err == nil {
		return now, true
	}
	email, password := adminEmail, adminPassword
	if n > 0 {
		email = fmt.Sprintf("p%d@example.com", n-1)
		password = "password of " + email
	}
	d.clock.pass(2 * time.Hour) // earlier failures are forgiven
	_, now, err := d.SignIn(d.t.Context(), email, secret(password), here)
	return now, err == nil
}

type attempt struct {
	name string
	err  error
}

// change does one of the things that could take the last admin away.
func change(t *testing.T, d *desk, random *rand.Rand, who environment.Actor, whom uuid.UUID) attempt {
	t.Helper()
	yes := random.IntN(3) == 0
	switch random.IntN(5) {
	case 0:
		_, err := d.UpdatePerson(t.Context(), who, whom, identity.PersonPatch{InstanceAdmin: &yes})
		return attempt{fmt.Sprint("instance admin ", yes), err}
	case 1:
		no := !yes
		_, err := d.UpdatePerson(t.Context(), who, whom, identity.PersonPatch{Disabled: &no})
		return attempt{fmt.Sprint("disabled ", no), err}
	case 2:
		no := !yes
		_, err := d.UpdatePerson(t.Context(), who, whom, identity.PersonPatch{Disabled: &no, InstanceAdmin: &yes})
		return attempt{fmt.Sprint("both ", no, yes), err}
	case 3:
		roles := append(environment.Roles(), "")
		return attempt{"role", d.SetRole(t.Context(), who, whom, d.home, roles[random.IntN(len(roles))])}
	}
	_, err := d.Rename(t.Context(), who, "Name")
	return attempt{"rename", err}
}

// fertile is the store while somebody is signed out who defends themselves: when
// a token is about to be revoked, another is made with whatever still counts.
type fertile struct {
	identity.Store
	make func()
}

func (f *fertile) RevokeKey(ctx context.Context, holder, id uuid.UUID, a environment.Activity) error {
	f.make()
	return f.Store.RevokeKey(ctx, holder, id, a)
}

// TestSignOutOfSomebodyWhoMakesTokens: whoever took an account over and sees that
// it is being taken back must not come through with a token made in between, be it
// by the session or by a token that goes later.
func TestSignOutOfSomebodyWhoMakesTokens(t *testing.T) {
	d := newDeskWithAdmin(t)
	bob := d.join("bob@example.com", identity.Invitation{})
	_, text, err := d.CreateToken(t.Context(), bob, "first", 0)
	d.must(err)
	byToken, err := d.ByBearer(t.Context(), text.Reveal())
	d.must(err)
	left := 3
	store := &fertile{Store: d.store, make: func() {
		for _, with := range []environment.Actor{bob, byToken} {
			if _, err := d.Again(t.Context(), with); err == nil && left > 0 {
				left--
				_, _, err := d.CreateToken(t.Context(), with, "in between", 0)
				d.must(err)
			}
		}
	}}
	n, err := d.service(store).SignOutPerson(t.Context(), d.admin, bob.ID, true)
	if err != nil || n != 1 {
		t.Errorf("ended %d, %v; want 1", n, err)
	}
	keys, err := d.store.KeysOfPerson(t.Context(), bob.ID)
	d.must(err)
	if len(keys) != 2 {
		t.Errorf("%d tokens were made, want the first and one by it", len(keys))
	}
	for _, key := range keys {
		if key.RevokedAt == nil {
			t.Errorf("the token %q still counts", key.Name)
		}
	}
}
