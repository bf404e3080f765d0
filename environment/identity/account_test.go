package identity_test

import (
	"strings"
	"testing"

	"berth/environment"
	"berth/environment/identity"

	"github.com/google/uuid"
)

func TestAccount(t *testing.T) {
	d := newDeskWithAdmin(t)
	bob := d.join("bob@example.com", d.as(environment.RoleMember))
	second, _, err := d.SignIn(t.Context(), "bob@example.com", secret("password of bob@example.com"), here)
	d.must(err)
	_, _, err = d.CreateToken(t.Context(), bob, "laptop", 0)
	d.must(err)
	account, err := d.Account(t.Context(), bob)
	d.must(err)
	if account.Person.ID != bob.ID || len(account.Sessions) != 2 || len(account.Tokens) != 1 {
		t.Fatalf("the account is %+v", account)
	}
	n, err := d.EndSessions(t.Context(), bob, second.ID)
	if err != nil || n != 1 {
		t.Errorf("ended %d, %v; want 1", n, err)
	}
	if _, err := d.Again(t.Context(), bob); err != nil {
		t.Errorf("the session that was kept: %v", err)
	}
	// The sessions of others are not one's own to end.
	if n, err := d.EndSessions(t.Context(), bob, d.admin.Credential.ID); err != nil || n != 0 {
		t.Errorf("ended %d sessions of somebody else, %v", n, err)
	}
	if _, err := d.Again(t.Context(), d.admin); err != nil {
		t.Errorf("the session of somebody else: %v", err)
	}
}

func TestSignOut(t *testing.T) {
	d := newDeskWithAdmin(t)
	_, other, err := d.SignIn(t.Context(), adminEmail, secret(adminPassword), here)
	d.must(err)
	d.must(d.SignOut(t.Context(), d.admin))
	_, err = d.BySession(t.Context(), d.admin.Credential.ID)
	d.refused("the session", err, environment.KindUnauthenticated, "session_ended")
	if _, err := d.Again(t.Context(), other); err != nil {
		t.Errorf("the other session: %v", err)
	}
	d.one("person.signed_out", 1)

	_, text, err := d.CreateToken(t.Context(), other, "laptop", 0)
	d.must(err)
	byToken, err := d.ByBearer(t.Context(), text.Reveal())
	d.must(err)
	d.must(d.SignOut(t.Context(), byToken))
	_, err = d.ByBearer(t.Context(), text.Reveal())
	d.refused("the token", err, environment.KindUnauthenticated, "invalid_key")
}

func TestSignOutEverywhere(t *testing.T) {
	d := newDeskWithAdmin(t)
	_, other, err := d.SignIn(t.Context(), adminEmail, secret(adminPassword), here)
	d.must(err)
	bob := d.join("bob@example.com", identity.Invitation{})
	if n, err := d.EndSessions(t.Context(), other); err != nil || n != 2 {
		t.Errorf("ended %d, %v; want 2", n, err)
	}
	for name, actor := range map[string]environment.Actor{"this": other, "the first": d.admin} {
		_, err := d.Again(t.Context(), actor)
		d.refused(name, err, environment.KindUnauthenticated, "session_ended")
	}
	if _, err := d.Again(t.Context(), bob); err != nil {
		t.Errorf("somebody else: %v", err)
	}
}

func TestRename(t *testing.T) {
	d := newDeskWithAdmin(t)
	bob := d.join("bob@example.com", d.as(environment.RoleMember))
	person, err := d.Rename(t.Context(), bob, "  Bob   the Builder ")
	d.must(err)
	if person.Name != "Bob the Builder" || person.Roles[d.home] != environment.RoleMember {
		t.Errorf("renamed to %+v", person)
	}
	entry := d.one("person.updated", 1)
	want := map[string]any{"before": "bob", "after": "Bob the Builder"}
	if got := entry.Details["changes"].(map[string]any)["name"].(map[string]any); got["before"] != want["before"] || got["after"] != want["after"] {
		t.Errorf("the log says %+v", entry.Details)
	}
	_, err = d.Rename(t.Context(), bob, "Bob the Builder")
	d.must(err)
	d.one("person.updated", 1) // nothing changed, nothing is noted
	for name, wrong := range map[string]string{"empty": " ", "121 characters": strings.Repeat("x", 121), "NUL": "a\x00b", "not UTF-8": "\xff"} {
		_, err := d.Rename(t.Context(), bob, wrong)
		d.at(name, err, "name")
	}
	_, err = d.Rename(t.Context(), bob, strings.Repeat("é", 120))
	d.must(err)
}

func TestChangePassword(t *testing.T) {
	d := newDeskWithAdmin(t)
	_, other, err := d.SignIn(t.Context(), adminEmail, secret(adminPassword), here)
	d.must(err)
	for name, tc := range map[string]struct{ old, next, field string }{
		"wrong old one":   {"wrong", "another long secret", "currentPassword"},
		"too short":       {adminPassword, strings.Repeat("é", 11), "newPassword"},
		"too long":        {adminPassword, strings.Repeat("x", 1025), "newPassword"},
		"not UTF-8":       {adminPassword, strings.Repeat("\xff", 20), "newPassword"},
		"empty":           {adminPassword, "", "newPassword"},
		"both are wrong":  {"wrong", "short", "newPassword"},
		"old one missing": {"", "another long secret", "currentPassword"},
	} {
		d.at(name, d.ChangePassword(t.Context(), d.admin, secret(tc.old), secret(tc.next)), tc.field)
	}
	if _, err := d.Again(t.Context(), other); err != nil {
		t.Errorf("a refused change ended a session: %v", err)
	}
	for _, next := range []string{strings.Repeat("é", 12), strings.Repeat("x", 1024)} {
		d.must(d.ChangePassword(t.Context(), d.admin, secret(adminPassword), secret(next)))
		d.must(d.ChangePassword(t.Context(), d.admin, secret(next), secret(adminPassword)))
	}
	if _, err := d.Again(t.Context(), d.admin); err != nil {
		t.Errorf("the session in which it was changed: %v", err)
	}
	_, err = d.Again(t.Context(), other)
	d.refused("the other session", err, environment.KindUnauthenticated, "session_ended")
	if entry := d.one("person.password_changed", 4); len(entry.Details) != 0 {
		t.Errorf("the log says %+v", entry.Details)
	}
}

// TestChangePasswordSlowsDown: an open session must not be a way to guess.
func TestChangePasswordSlowsDown(t *testing.T) {
	d := newDeskWithAdmin(t)
	for range 6 {
		d.at("a guess", d.ChangePassword(t.Context(), d.admin, secret("wrong"), secret("another long secret")), "currentPassword")
	}
	err := d.ChangePassword(t.Context(), d.admin, secret(adminPassword), secret("another long secret"))
	d.refused("the seventh", err, environment.KindLimited, environment.CodeRateLimited)
	// Whoever took a session over cannot keep its owner out with it.
	_, _, err = d.SignIn(t.Context(), adminEmail, secret(adminPassword), here)
	d.must(err)
}

func TestChangePasswordWithAToken(t *testing.T) {
	d := newDeskWithAdmin(t)
	_, text, err := d.CreateToken(t.Context(), d.admin, "laptop", 0)
	d.must(err)
	actor, err := d.ByBearer(t.Context(), text.Reveal())
	d.must(err)
	d.must(d.ChangePassword(t.Context(), actor, secret(adminPassword), secret("another long secret")))
	_, err = d.Again(t.Context(), d.admin)
	d.refused("every session", err, environment.KindUnauthenticated, "session_ended")
}

func TestAgain(t *testing.T) {
	d := newDeskWithAdmin(t)
	bob := d.join("bob@example.com", d.as(environment.RoleMember))
	d.must(d.SetRole(t.Context(), d.admin, bob.ID, d.home, environment.RoleOwner))
	d.must(d.SetRole(t.Context(), d.admin, bob.ID, d.abroad, environment.RoleMember))
	now, err := d.Again(t.Context(), bob)
	d.must(err)
	if now.Roles[d.home] != environment.RoleOwner || now.Roles[d.abroad] != environment.RoleMember {
		t.Errorf("the roles are %v, want those of now", now.Roles)
	}
	if operator, err := d.Again(t.Context(), environment.LocalOperator()); err != nil || operator.Kind != environment.ActorLocalOperator {
		t.Errorf("the local operator: %+v, %v", operator, err)
	}
	for name, actor := range map[string]environment.Actor{
		"nobody":                      {},
		"a person without credential": {Kind: environment.ActorPerson, ID: bob.ID, InstanceAdmin: true},
	} {
		_, err := d.Again(t.Context(), actor)
		d.refused(name, err, environment.KindUnauthenticated, "unauthenticated")
	}
	forged := bob
	forged.Credential.ID = uuid.New()
	_, err = d.Again(t.Context(), forged)
	d.refused("a session that never was", err, environment.KindUnauthenticated, "session_ended")
}
