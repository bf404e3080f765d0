package identity_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"berth/environment"
	"berth/environment/identity"

	"github.com/google/uuid"
)

func TestFirstAdmin(t *testing.T) {
	d := newDesk(t)
	old, err := d.FirstAdminLink(t.Context())
	d.must(err)
	link, err := d.FirstAdminLink(t.Context())
	d.must(err)
	_, err = d.OpenLink(t.Context(), old.Reveal())
	if e := d.refusal("the link of an earlier start", err, environment.KindConflict, "link_used"); e.Details["why"] != "revoked" {
		t.Errorf("why: %v", e.Details["why"])
	}
	open, err := d.OpenLink(t.Context(), link.Reveal())
	d.must(err)
	if open.Kind != environment.LinkFirstAdmin || !open.ExpiresAt.Equal(d.clock.now().Add(24*time.Hour)) {
		t.Errorf("the link is %+v", open)
	}
	for name, tc := range map[string]struct {
		in     identity.Redemption
		fields string
	}{
		"nothing":          {identity.Redemption{}, "email name password"},
		"a short password": {identity.Redemption{Email: adminEmail, Name: "Ada", Password: secret("elevenchars")}, "password"},
		"no address":       {identity.Redemption{Email: "ada", Name: "Ada", Password: secret(adminPassword)}, "email"},
	} {
		_, _, err := d.Redeem(t.Context(), link.Reveal(), tc.in, here)
		var fields []string
		for _, f := range environment.AsError(err).Fields {
			fields = append(fields, f.Field)
		}
		if got := strings.Join(fields, " "); got != tc.fields {
			t.Errorf("%s: errors at %q, want %q", name, got, tc.fields)
		}
	}
	session, admin, err := d.Redeem(t.Context(), link.Reveal(), identity.Redemption{Email: " " + adminEmail, Name: " Ada ", Password: secret(adminPassword)}, here)
	d.must(err)
	if !admin.InstanceAdmin || admin.Name != "Ada" || admin.Credential.ID != session.ID {
		t.Errorf("the admin is %+v", admin)
	}
	_, _, err = d.SignIn(t.Context(), adminEmail, secret(adminPassword), here)
	d.must(err)
	if none, err := d.FirstAdminLink(t.Context()); err != nil || !none.Empty() {
		t.Errorf("with an admin there is another link: %v", err)
	}
	if entry := d.one("person.joined", 1); entry.ActorID == nil || *entry.ActorID != admin.ID || entry.EntityID != admin.ID.String() {
		t.Errorf("the log says %+v", entry)
	}
}

// TestFirstAdminLinkIsWorthlessWithAnAdmin: one that was not used, when an admin
// came to be otherwise.
func TestFirstAdminLinkIsWorthlessWithAnAdmin(t *testing.T) {
	d := newDesk(t)
	link, err := d.FirstAdminLink(t.Context())
	d.must(err)
	_, err = d.store.Redeem(t.Context(), hashOf(t, link), environment.Person{ID: uuid.New(), Email: "x@example.com", Name: "X", InstanceAdmin: true}, "2x", environment.Activity{})
	d.must(err)
	_, err = d.OpenLink(t.Context(), link.Reveal())
	d.refused("used", err, environment.KindConflict, "link_used")

	d = newDeskWithAdmin(t)
	text, token, err := environment.NewToken(environment.TokenLink, strings.NewReader(strings.Repeat("y", 32)))
	d.must(err)
	d.must(d.store.CreateLink(t.Context(), environment.Link{ID: uuid.New(), Kind: environment.LinkFirstAdmin, InstanceAdmin: true,
		CreatedAt: d.clock.now(), ExpiresAt: d.clock.now().Add(time.Hour)}, token.Hash[:], environment.Activity{}))
	_, err = d.OpenLink(t.Context(), text.Reveal())
	d.refused("open", err, environment.KindConflict, "admin_exists")
	before := d.hasher.work()
	_, _, err = d.Redeem(t.Context(), text.Reveal(), identity.Redemption{Email: "eve@example.com", Name: "Eve", Password: secret("a long enough secret")}, here)
	d.refused("redeemed", err, environment.KindConflict, "admin_exists")
	if d.hasher.work() != before {
		t.Error("a password was hashed for a link that does not count")
	}
}

func hashOf(t *testing.T, link environment.Secret) []byte {
	t.Helper()
	token, ok := environment.ParseToken(link.Reveal())
	if !ok {
		t.Fatal("that is no token")
	}
	return token.Hash[:]
}

func TestInvitation(t *testing.T) {
	d := newDeskWithAdmin(t)
	roles := map[uuid.UUID]environment.Role{d.home: environment.RoleOwner, d.abroad: environment.RoleMember}
	made, token, err := d.Invite(t.Context(), d.admin, identity.Invitation{Email: " Bob@Example.com ", Roles: roles})
	d.must(err)
	if made.Email != "Bob@Example.com" || made.Kind != environment.LinkInvitation || made.CreatedBy != "Ada" || !made.ExpiresAt.Equal(d.clock.now().Add(7*24*time.Hour)) {
		t.Errorf("the invitation is %+v", made)
	}
	open, err := d.OpenLink(t.Context(), token.Reveal())
	d.must(err)
	companies, err := d.LinkCompanies(t.Context(), open)
	if err != nil || len(companies) != 2 || companies[0].Name != "Abroad" || companies[1].Name != "Home" {
		t.Errorf("the companies are %+v, %v", companies, err)
	}
	// What somebody enters as the address does not count: the invitation is for one.
	_, bob, err := d.Redeem(t.Context(), token.Reveal(), identity.Redemption{Email: adminEmail, Name: "Bob", Password: secret("a long enough secret")}, here)
	d.must(err)
	if bob.InstanceAdmin || bob.Roles[d.home] != environment.RoleOwner || bob.Roles[d.abroad] != environment.RoleMember {
		t.Errorf("joined as %+v", bob)
	}
	_, _, err = d.SignIn(t.Context(), "bob@example.com", secret("a long enough secret"), here)
	d.must(err)
	_, _, err = d.Redeem(t.Context(), token.Reveal(), identity.Redemption{Name: "Eve", Password: secret("a long enough secret")}, here)
	if e := d.refusal("used twice", err, environment.KindConflict, "link_used"); e.Details["why"] != "used" {
		t.Errorf("why: %v", e.Details["why"])
	}
	_, _, err = d.Invite(t.Context(), d.admin, identity.Invitation{Email: "BOB@example.com"})
	if e := d.refusal("somebody who is here", err, environment.KindConflict, "email_taken"); len(e.Fields) != 1 || e.Fields[0].Field != "email" {
		t.Errorf("the error is at %+v", e.Fields)
	}
	entry := d.one("person.invited", 1)
	for key, value := range entry.Details {
		if s, ok := value.(string); ok && strings.Contains(token.Reveal(), s) {
			t.Errorf("the log holds a part of the token in %s", key)
		}
	}
}

func TestInvitationIsChecked(t *testing.T) {
	d := newDeskWithAdmin(t)
	for name, tc := range map[string]struct {
		in    identity.Invitation
		field string
	}{
		"no address":   {identity.Invitation{}, "email"},
		"two":          {identity.Invitation{Email: "a@example.com, b@example.com"}, "email"},
		"with a name":  {identity.Invitation{Email: "Bob <bob@example.com>"}, "email"},
		"line break":   {identity.Invitation{Email: "bob@example.com\r\nBcc: x@example.com"}, "email"},
		"a wrong role": {identity.Invitation{Email: "bob@example.com", Roles: map[uuid.UUID]environment.Role{d.home: "king"}}, "memberships"},
		"no role":      {identity.Invitation{Email: "bob@example.com", Roles: map[uuid.UUID]environment.Role{d.home: ""}}, "memberships"},
		"no company":   {identity.Invitation{Email: "bob@example.com", Roles: map[uuid.UUID]environment.Role{uuid.New(): "member"}}, "memberships"},
	} {
		_, _, err := d.Invite(t.Context(), d.admin, tc.in)
		d.at(name, err, tc.field)
	}
	if open, err := d.Links(t.Context(), d.admin); err != nil || len(open) != 0 {
		t.Errorf("refused invitations left %+v, %v", open, err)
	}
}

// TestLinksThatDoNotCount: expired, revoked, replaced, cut, of another sort.
func TestLinksThatDoNotCount(t *testing.T) {
	d := newDeskWithAdmin(t)
	_, replaced, err := d.Invite(t.Context(), d.admin, identity.Invitation{Email: "bob@example.com"})
	d.must(err)
	_, _, err = d.Invite(t.Context(), d.admin, identity.Invitation{Email: "carol@example.com"})
	d.must(err)
	_, kept, err := d.Invite(t.Context(), d.admin, identity.Invitation{Email: "BOB@example.com"})
	d.must(err)
	open, err := d.Links(t.Context(), d.admin)
	if err != nil || len(open) != 2 {
		t.Fatalf("open are %+v, %v; want two", open, err)
	}
	for name, tc := range map[string]struct{ text, code, why string }{
		"replaced":                {replaced.Reveal(), "link_used", "revoked"},
		"cut":                     {kept.Reveal()[:59], "link_not_found", ""},
		"empty":                   {"", "link_not_found", ""},
		"a token that nobody has": {forgedLink(t), "link_not_found", ""},
	} {
		_, err := d.OpenLink(t.Context(), tc.text)
		if e := environment.AsError(err); err == nil || e.Code != tc.code || tc.why != "" && e.Details["why"] != tc.why {
			t.Errorf("%s: got %v, want %s %s", name, err, tc.code, tc.why)
		}
	}
	_, token, err := d.CreateToken(t.Context(), d.admin, "laptop", 0)
	d.must(err)
	_, err = d.OpenLink(t.Context(), token.Reveal())
	d.refused("a personal token", err, environment.KindNotFound, "link_not_found")

	d.clock.pass(7*24*time.Hour - time.Second)
	_, err = d.OpenLink(t.Context(), kept.Reveal())
	d.must(err)
	d.clock.pass(time.Second)
	_, _, err = d.Redeem(t.Context(), kept.Reveal(), identity.Redemption{Name: "Bob", Password: secret("a long enough secret")}, here)
	if e := d.refusal("expired", err, environment.KindConflict, "link_used"); e.Details["why"] != "expired" {
		t.Errorf("why: %v", e.Details["why"])
	}
	d.refused("no such link", d.RevokeLink(t.Context(), d.admin, uuid.New()), environment.KindNotFound, "link_not_found")
}

func forgedLink(t *testing.T) string {
	t.Helper()
	text, _, err := environment.NewToken(environment.TokenLink, strings.NewReader(strings.Repeat("z", 32)))
	if err != nil {
		t.Fatal(err)
	}
	return text.Reveal()
}

func TestRevokeLink(t *testing.T) {
	d := newDeskWithAdmin(t)
	link, token, err := d.Invite(t.Context(), d.admin, identity.Invitation{Email: "bob@example.com", InstanceAdmin: true})
	d.must(err)
	d.must(d.RevokeLink(t.Context(), d.admin, link.ID))
	_, _, err = d.Redeem(t.Context(), token.Reveal(), identity.Redemption{Name: "Bob", Password: secret("a long enough secret")}, here)
	if e := d.refusal("revoked", err, environment.KindConflict, "link_used"); e.Details["why"] != "revoked" {
		t.Errorf("why: %v", e.Details["why"])
	}
	d.one("person.link_revoked", 1)
}

// TestLinkIsUsedOnce: by whoever is first of many at once.
func TestLinkIsUsedOnce(t *testing.T) {
	d := newDeskWithAdmin(t)
	_, token, err := d.Invite(t.Context(), d.admin, identity.Invitation{Email: "bob@example.com"})
	d.must(err)
	var group sync.WaitGroup
	joined := make(chan uuid.UUID, 10)
	for range 10 {
		group.Go(func() {
			_, actor, err := d.Redeem(t.Context(), token.Reveal(), identity.Redemption{Name: "Bob", Password: secret("a long enough secret")}, here)
			switch {
			case err == nil:
				joined <- actor.ID
			case environment.CodeOf(err) != "link_used":
				t.Errorf("one of many: %v", err)
			}
		})
	}
	group.Wait()
	if len(joined) != 1 {
		t.Errorf("%d joined by one link", len(joined))
	}
}

func TestPasswordLink(t *testing.T) {
	d := newDeskWithAdmin(t)
	bob := d.join("bob@example.com", d.as(environment.RoleAdmin))
	link, token, err := d.ResetLink(t.Context(), d.admin, bob.ID)
	d.must(err)
	if link.Kind != environment.LinkPassword || !link.ExpiresAt.Equal(d.clock.now().Add(24*time.Hour)) {
		t.Errorf("the link is %+v", link)
	}
	if _, err := d.Again(t.Context(), bob); err != nil {
		t.Errorf("the link alone ended a session: %v", err)
	}
	_, _, err = d.Redeem(t.Context(), token.Reveal(), identity.Redemption{Password: secret("short")}, here)
	d.at("a short password", err, "password")
	_, again, err := d.Redeem(t.Context(), token.Reveal(), identity.Redemption{Email: adminEmail, Name: "Eve", Password: secret("another long secret")}, here)
	d.must(err)
	if again.ID != bob.ID || again.Name != "bob" || again.Roles[d.home] != environment.RoleAdmin || again.InstanceAdmin {
		t.Errorf("signed in as %+v", again)
	}
	_, err = d.Again(t.Context(), bob)
	d.refused("the session from before", err, environment.KindUnauthenticated, "session_ended")
	_, _, err = d.SignIn(t.Context(), "bob@example.com", secret("password of bob@example.com"), here)
	d.refused("the old password", err, environment.KindUnauthenticated, "sign_in_failed")
	_, _, err = d.ResetLink(t.Context(), d.admin, uuid.New())
	d.refused("nobody", err, environment.KindNotFound, "person_not_found")
}

// TestPasswordLinkOfADisabledPerson is no way back in.
func TestPasswordLinkOfADisabledPerson(t *testing.T) {
	d := newDeskWithAdmin(t)
	bob := d.join("bob@example.com", identity.Invitation{})
	_, token, err := d.ResetLink(t.Context(), d.admin, bob.ID)
	d.must(err)
	_, err = d.UpdatePerson(t.Context(), d.admin, bob.ID, identity.PersonPatch{Disabled: pointer(true)})
	d.must(err)
	_, _, err = d.Redeem(t.Context(), token.Reveal(), identity.Redemption{Password: secret("another long secret")}, here)
	d.refused("a link from before", err, environment.KindConflict, "link_used")
	_, _, err = d.ResetLink(t.Context(), d.admin, bob.ID)
	d.refused("a new one", err, environment.KindConflict, "person_disabled")

	// One that was made while the person was being disabled.
	text, parsed, err := environment.NewToken(environment.TokenLink, strings.NewReader(strings.Repeat("w", 32)))
	d.must(err)
	d.must(d.store.CreateLink(t.Context(), environment.Link{ID: uuid.New(), Kind: environment.LinkPassword, Email: "bob@example.com", PersonID: &bob.ID,
		CreatedAt: d.clock.now(), ExpiresAt: d.clock.now().Add(time.Hour)}, parsed.Hash[:], environment.Activity{}))
	_, err = d.OpenLink(t.Context(), text.Reveal())
	d.refused("one that is open", err, environment.KindConflict, "link_used")
}
