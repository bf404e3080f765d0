package environmenttest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"berth/environment"
	"berth/environment/identity"

	"github.com/google/uuid"
)

// link stores an open link and returns its hash.
func (s suite) link(l environment.Link) []byte {
	s.t.Helper()
	l.ID, l.CreatedBy = environment.NewID(), "local operator"
	if l.ExpiresAt.IsZero() {
		l.ExpiresAt = time.Now().Add(time.Hour)
	}
	hash := []byte("hash of " + l.ID.String())
	s.must(s.CreateLink(s.t.Context(), l, hash, by("invitation.created", "invitation", l.ID)))
	return hash
}

// invited stores somebody who came by an invitation.
func (s suite) invited(email string, admin bool, roles map[uuid.UUID]environment.Role) environment.Person {
	s.t.Helper()
	hash := s.link(environment.Link{Kind: environment.LinkInvitation, Email: email, InstanceAdmin: admin, Roles: roles})
	p, err := s.Redeem(s.t.Context(), hash, environment.Person{ID: environment.NewID(), Name: "Name of " + email}, "password of "+email,
		by("person.created", "person", uuid.Nil))
	s.must(err)
	return p
}

func testPeople(t *testing.T, s suite) {
	ctx := t.Context()
	c := s.company("Acme")
	zoe := s.invited("Zoe@example.com", true, nil)
	ada := s.invited("ada@example.com", false, map[uuid.UUID]environment.Role{c.ID: environment.RoleOwner})
	same(t, "roles of an invitation", ada.Roles, map[uuid.UUID]environment.Role{c.ID: environment.RoleOwner})
	same(t, "rights of an invitation", []bool{zoe.InstanceAdmin, ada.InstanceAdmin}, []bool{true, false})

	got, hash, err := s.PersonByEmail(ctx, "zOE@EXAMPLE.COM")
	s.must(err)
	same(t, "somebody by e-mail", got, zoe)
	same(t, "hash", hash, "password of Zoe@example.com")
	hash, err = s.PasswordHash(ctx, ada.ID)
	s.must(err)
	same(t, "hash by id", hash, "password of ada@example.com")
	got, err = s.Person(ctx, ada.ID)
	s.must(err)
	same(t, "somebody by id", got, ada)

	var names []string
	for cursor := ""; ; {
		page, err := s.People(ctx, "", 1, cursor)
		s.must(err)
		for _, p := range page.Items {
			names = append(names, p.Name)
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	same(t, "people by name over pages", names, []string{"Name of ada@example.com", "Name of Zoe@example.com"})
	for query, want := range map[string]int{"OF ADA": 1, "zoe@EXAMPLE": 1, "name of": 2, "%": 0, "_": 0} {
		page, err := s.People(ctx, query, 9, "")
		s.must(err)
		same(t, "people with "+query, len(page.Items), want)
	}
	_, err = s.People(ctx, "", 1, "*")
	s.code("a cursor of no list", err, environment.KindUnreadable, "invalid_cursor")

	_, _, err = s.PersonByEmail(ctx, "nobody@example.com")
	s.code("nobody by e-mail", err, environment.KindNotFound, "person_not_found")
	_, err = s.Person(ctx, environment.NewID())
	s.code("nobody by id", err, environment.KindNotFound, "person_not_found")
	_, err = s.PasswordHash(ctx, environment.NewID())
	s.code("the hash of nobody", err, environment.KindNotFound, "person_not_found")
	_, err = s.UpdatePerson(ctx, environment.NewID(), identity.PersonPatch{}, environment.Activity{})
	s.code("change nobody", err, environment.KindNotFound, "person_not_found")
	taken := "ADA@example.com"
	_, err = s.UpdatePerson(ctx, zoe.ID, identity.PersonPatch{Email: &taken}, environment.Activity{})
	s.code("take another's address", err, environment.KindConflict, "email_taken")
	name, email := "Zoë", "zoe@example.org"
	got, err = s.UpdatePerson(ctx, zoe.ID, identity.PersonPatch{Name: &name, Email: &email}, by("person.updated", "person", zoe.ID))
	s.must(err)
	same(t, "changed", []any{got.Name, got.Email, got.InstanceAdmin}, []any{name, email, true})
}

func testRoles(t *testing.T, s suite) {
	ctx := t.Context()
	a, b := s.company("Acme"), s.company("Beta")
	p := s.invited("ada@example.com", false, map[uuid.UUID]environment.Role{a.ID: environment.RoleMember, environment.NewID(): environment.RoleOwner})
	same(t, "a company that is gone gives no role", p.Roles, map[uuid.UUID]environment.Role{a.ID: environment.RoleMember})
	s.must(s.SetRole(ctx, p.ID, b.ID, environment.RoleAdmin, by("member.added", "company", b.ID)))
	s.must(s.SetRole(ctx, p.ID, a.ID, environment.RoleOwner, by("member.changed", "company", a.ID)))
	got, err := s.Person(ctx, p.ID)
	s.must(err)
	same(t, "roles", got.Roles, map[uuid.UUID]environment.Role{a.ID: environment.RoleOwner, b.ID: environment.RoleAdmin})
	members, err := s.Members(ctx, a.ID)
	s.must(err)
	if len(members) != 1 || members[0].ID != p.ID {
		t.Fatalf("members: got %+v, want one", members)
	}
	same(t, "a member's roles are those here", members[0].Roles, map[uuid.UUID]environment.Role{a.ID: environment.RoleOwner})
	s.must(s.SetRole(ctx, p.ID, a.ID, "", by("member.removed", "company", a.ID)))
	s.must(s.SetRole(ctx, p.ID, a.ID, "", environment.Activity{}))
	members, err = s.Members(ctx, a.ID)
	s.must(err)
	same(t, "members after the last left", members, []environment.Person{})
	err = s.SetRole(ctx, environment.NewID(), a.ID, environment.RoleOwner, environment.Activity{})
	s.code("a role for nobody", err, environment.KindNotFound, "person_not_found")
	for _, role := range []environment.Role{environment.RoleOwner, ""} {
		err = s.SetRole(ctx, p.ID, environment.NewID(), role, environment.Activity{})
		s.code("a role in no company", err, environment.KindNotFound, "company_not_found")
	}
}

func testLastAdmin(t *testing.T, s suite) {
	ctx := t.Context()
	has, err := s.HasAdmin(ctx)
	s.must(err)
	same(t, "an admin in an empty instance", has, false)
	yes, no := true, false
	only := s.invited("only@example.com", true, nil)
	s.invited("plain@example.com", false, nil)
	for _, patch := range []identity.PersonPatch{{InstanceAdmin: &no}, {Disabled: &yes}} {
		_, err := s.UpdatePerson(ctx, only.ID, patch, environment.Activity{})
		s.code("take the last admin away", err, environment.KindConflict, "last_admin")
	}
	// All are taken away at once: one must stay.
	admins := []uuid.UUID{only.ID}
	for i := range 9 {
		admins = append(admins, s.invited(fmt.Sprintf("admin%d@example.com", i), true, nil).ID)
	}
	gone := s.race(len(admins), func(i int) error {
		patch := identity.PersonPatch{Disabled: &yes}
		if i%2 == 1 {
			patch = identity.PersonPatch{InstanceAdmin: &no}
		}
		_, err := s.UpdatePerson(ctx, admins[i], patch, environment.Activity{})
		return err
	}, "last_admin")
	same(t, "admins taken away", gone, len(admins)-1)
	has, err = s.HasAdmin(ctx)
	s.must(err)
	same(t, "an admin is left", has, true)
	_, err = s.UpdatePerson(ctx, only.ID, identity.PersonPatch{Disabled: &no}, environment.Activity{})
	s.must(err)
}

func testMembersOfMany(t *testing.T, s suite) {
	c := s.company("Acme")
	var want []string
	for i := range 5 {
		email := fmt.Sprintf("p%d@example.com", i)
		s.invited(email, false, map[uuid.UUID]environment.Role{c.ID: environment.RoleMember})
		want = append(want, email)
	}
	members, err := s.Members(t.Context(), c.ID)
	s.must(err)
	var got []string
	for _, m := range members {
		got = append(got, m.Email)
	}
	same(t, "members by name", got, want)
	some, err := s.CompaniesOf(t.Context(), []uuid.UUID{c.ID, environment.NewID()})
	s.must(err)
	same(t, "companies of an actor", some, []environment.Company{c})
	none, err := s.CompaniesOf(t.Context(), nil)
	s.must(err)
	same(t, "companies of nobody", slices.Clone(none), []environment.Company{})
}

func testActivityFilters(t *testing.T, s suite) {
	who := environment.NewID()
	for i, a := range []environment.Activity{
		{ActorKind: environment.ActorPerson, ActorID: &who, ActorName: "Ada Löwe", Action: "run.created"},
		{ActorKind: environment.ActorSystem, ActorName: "berth", Action: "run.timed_out"},
		{ActorKind: environment.ActorPerson, ActorName: "bob", Action: "running.late"},
		{ActorKind: environment.ActorPerson, ActorName: "100%_sure", Action: "lease.released"},
	} {
		a.EntityType, a.EntityID, a.CreatedAt = "thing", "x", moment(i)
		s.must(s.Record(t.Context(), a))
	}
	at := func(n int) *time.Time {
		m := moment(n)
		return &m
	}
	for _, c := range []struct {
		name   string
		filter environment.ActivityFilter
		want   []string
	}{
		{"exact", environment.ActivityFilter{Action: "run.created"}, []string{"run.created"}},
		{"a part is not exact", environment.ActivityFilter{Action: "run"}, nil},
		{"prefix", environment.ActivityFilter{Action: "run."}, []string{"run.timed_out", "run.created"}},
		{"prefix within", environment.ActivityFilter{Action: "run.timed_"}, []string{"run.timed_out"}},
		{"actor", environment.ActivityFilter{Actor: "LÖW"}, []string{"run.created"}},
		{"no pattern", environment.ActivityFilter{Actor: "%_"}, []string{"lease.released"}},
		{"nobody", environment.ActivityFilter{Actor: "\x00"}, nil},
		{"since", environment.ActivityFilter{Since: at(2)}, []string{"lease.released", "running.late"}},
		{"until", environment.ActivityFilter{Until: at(1)}, []string{"run.created"}},
		{"all at once", environment.ActivityFilter{Action: "run.", Actor: "berth", Since: at(1), Until: at(2), EntityType: "thing"}, []string{"run.timed_out"}},
	} {
		page, err := s.Activity(t.Context(), c.filter)
		s.must(err)
		var got []string
		for _, a := range page.Items {
			got = append(got, a.Action)
			if a.Action == "run.created" && (a.ActorID == nil || *a.ActorID != who) {
				t.Errorf("%s: actor's id: got %v, want %s", c.name, a.ActorID, who)
			}
		}
		same(t, c.name, got, c.want)
	}
}
