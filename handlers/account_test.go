package handlers

import (
	"strings"
	"testing"

	"berth/environment"
	"berth/handlers/api"

	"github.com/google/uuid"
)

func TestAccountByJSON(t *testing.T) {
	o := newOffice(t)
	bob := o.join("bob@example.com", environment.RoleMember)
	other := o.signIn("bob@example.com")
	var account api.Account
	a := bob.ask("GET", "/api/account", nil)
	bob.want(a, 200, &account)
	if account.Person.Email != "bob@example.com" || len(account.Tokens) != 0 || !strings.Contains(a.Body, `"tokens":[]`) {
		t.Errorf("the account is %s", a.Body)
	}
	current := 0
	for _, s := range account.Sessions {
		if s.Current {
			current++
		}
	}
	if len(account.Sessions) < 2 || current != 1 {
		t.Errorf("%d sessions, %d of them this one", len(account.Sessions), current)
	}

	var person api.Person
	bob.want(bob.ask("PATCH", "/api/account", `{"name":" Bob  Builder "}`), 200, &person)
	if person.Name != "Bob Builder" {
		t.Errorf("renamed to %q", person.Name)
	}
	bob.want(bob.ask("PATCH", "/api/account", `{}`), 200, &person)
	bob.refused("no name", bob.ask("PATCH", "/api/account", `{"name":""}`), 422, "validation_failed", "name")
	bob.refused("null", bob.ask("PATCH", "/api/account", `{"name":null}`), 400, "invalid_body", "name")
	bob.refused("what is not one's own to change", bob.ask("PATCH", "/api/account", `{"isInstanceAdmin":true}`), 400, "unknown_key", "isInstanceAdmin")
	bob.refused("one's address", bob.ask("PATCH", "/api/account", `{"email":"x@example.com"}`), 400, "unknown_key", "email")

	for _, s := range account.Sessions {
		if !s.Current {
			bob.want(bob.ask("DELETE", "/api/account/sessions/"+s.ID.String(), nil), 204, nil)
			bob.refused("twice", bob.ask("DELETE", "/api/account/sessions/"+s.ID.String(), nil), 404, "session_not_found")
		}
	}
	other.refused("the other browser", other.ask("GET", "/api/account", nil), 401, "unauthenticated")
	bob.want(bob.ask("GET", "/api/account", nil), 200, nil)
}

// TestC71_SessionsAndTokensOfOthers: the ids of others are as ids that never were.
func TestC71_SessionsAndTokensOfOthers(t *testing.T) {
	o := newOffice(t)
	bob := o.join("bob@example.com", environment.RoleOwner)
	var key api.MadeKey
	o.admin.want(o.admin.ask("POST", "/api/account/tokens", api.NewKey{Name: "laptop"}), 201, &key)
	var account api.Account
	o.admin.want(o.admin.ask("GET", "/api/account", nil), 200, &account)
	for _, path := range []string{"/api/account/sessions/" + account.Sessions[0].ID.String(), "/api/account/tokens/" + key.ID.String()} {
		real := bob.ask("DELETE", path, nil)
		never := bob.ask("DELETE", path[:strings.LastIndex(path, "/")+1]+uuid.NewString(), nil)
		if real.Status != 404 || real.Body != never.Body || never.Status != 404 {
			t.Errorf("%s: %d %s for a real id, %d %s for another", path, real.Status, real.Body, never.Status, never.Body)
		}
		bob.refused("no id", bob.ask("DELETE", path[:strings.LastIndex(path, "/")+1]+"x", nil), 400, "invalid_id")
	}
	o.admin.want(o.admin.ask("GET", "/api/account", nil), 200, nil)
	p := o.program(key.Token)
	p.want(p.ask("GET", "/api/account", nil), 200, nil)
}

func TestSignOutEverywhereByJSON(t *testing.T) {
	o := newOffice(t)
	other := o.signIn("ada@example.com")
	var ended api.Ended
	o.admin.want(o.admin.ask("DELETE", "/api/account/sessions", nil), 200, &ended)
	if ended.Ended < 2 || o.admin.cookie() != "" {
		t.Errorf("ended %d, the cookie is %q", ended.Ended, o.admin.cookie())
	}
	other.refused("the other browser", other.ask("GET", "/api/account", nil), 401, "unauthenticated")
	o.admin.refused("this browser", o.admin.ask("GET", "/api/account", nil), 401, "unauthenticated")
}

func TestPasswordByJSON(t *testing.T) {
	o := newOffice(t)
	other := o.signIn("ada@example.com")
	const path = "/api/account/password"
	for name, tc := range map[string]struct {
		body   any
		status int
		code   string
		field  string
	}{
		"wrong":   {api.ChangePassword{CurrentPassword: "wrong", NewPassword: "another long secret"}, 422, "validation_failed", "currentPassword"},
		"short":   {api.ChangePassword{CurrentPassword: officePassword, NewPassword: "short"}, 422, "validation_failed", "newPassword"},
		"a typo":  {`{"currentPassword":"x","newPasword":"y"}`, 400, "unknown_key", "newPasword"},
		"missing": {`{}`, 422, "validation_failed", "newPassword"},
	} {
		o.admin.refused(name, o.admin.ask("POST", path, tc.body), tc.status, tc.code, tc.field)
	}
	o.admin.want(o.admin.ask("POST", path, api.ChangePassword{CurrentPassword: officePassword, NewPassword: "another long secret"}), 204, nil)
	o.admin.want(o.admin.ask("GET", "/api/account", nil), 200, nil)
	other.refused("the other browser", other.ask("GET", "/api/account", nil), 401, "unauthenticated")
	for _, text := range []string{officePassword, "another long secret"} {
		if strings.Contains(o.log.String(), text) {
			t.Errorf("the log holds the password %q", text)
		}
	}
}

func TestTokensByJSON(t *testing.T) {
	o := newOffice(t)
	var made api.MadeKey
	a := o.admin.ask("POST", "/api/account/tokens", `{"name":"laptop","lifeDays":30}`)
	o.admin.want(a, 201, &made)
	if made.ExpiresAt == nil || made.LastUsedAt != nil || !strings.HasSuffix(made.Token, made.Hint) || a.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("made %s with the headers %v", a.Body, a.Header)
	}
	p := o.program(made.Token)
	p.want(p.ask("GET", "/api/people", nil), 200, nil)
	var account api.Account
	a = o.admin.ask("GET", "/api/account", nil)
	o.admin.want(a, 200, &account)
	if len(account.Tokens) != 1 || account.Tokens[0].LastUsedAt == nil || strings.Contains(a.Body, made.Token) {
		t.Errorf("the tokens are %s", a.Body)
	}
	for name, tc := range map[string]struct {
		body   string
		status int
		code   string
		field  string
	}{
		"no name":     {`{}`, 422, "validation_failed", "name"},
		"a long life": {`{"name":"x","lifeDays":3651}`, 422, "validation_failed", "lifeDays"},
		"no life":     {`{"name":"x","lifeDays":-1}`, 422, "validation_failed", "lifeDays"},
		"a fraction":  {`{"name":"x","lifeDays":1.5}`, 400, "invalid_body", "lifeDays"},
		"huge":        {`{"name":"x","lifeDays":99999999999999999999}`, 400, "invalid_body", "lifeDays"},
		"null":        {`{"name":"x","lifeDays":null}`, 400, "invalid_body", "lifeDays"},
		"its text":    {`{"name":"x","token":"berth_pat_mine"}`, 400, "unknown_key", "token"},
	} {
		o.admin.refused(name, o.admin.ask("POST", "/api/account/tokens", tc.body), tc.status, tc.code, tc.field)
	}
	o.admin.want(o.admin.ask("DELETE", "/api/account/tokens/"+made.ID.String(), nil), 204, nil)
	o.admin.want(o.admin.ask("DELETE", "/api/account/tokens/"+made.ID.String(), nil), 204, nil)
	p.refused("revoked", p.ask("GET", "/api/people", nil), 401, "invalid_key")
}

// TestBearerTextsThatDoNotCount: forged, cut and altered tokens are refused before
// anything else of a request is looked at, and leave no trace.
func TestBearerTextsThatDoNotCount(t *testing.T) {
	o := newOffice(t)
	var made api.MadeKey
	o.admin.want(o.admin.ask("POST", "/api/account/tokens", api.NewKey{Name: "laptop"}), 201, &made)
	good := made.Token
	other := "-"
	if good[20:21] == other {
		other = "A"
	}
	for name, bearer := range map[string]string{
		"cut": good[:len(good)-1], "altered": good[:20] + other + good[21:], "in capitals": strings.ToUpper(good), "null": "null",
		"another service's": "ghp_0123456789abcdefghij0123456789abcdef", "very long": strings.Repeat("A", 6000),
	} {
		p := o.program(bearer)
		for _, path := range []string{"/api/people", "/api/people/x", "/api/auth/sign-in"} {
			p.refused(name+", "+path, p.ask("POST", path, "not JSON"), 401, "invalid_key")
		}
		if len(bearer) > 10 && strings.Contains(o.log.String(), bearer) {
			t.Errorf("%s: the log holds it", name)
		}
	}
}
