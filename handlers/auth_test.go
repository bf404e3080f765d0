package handlers

import (
	"net/http"
	"strings"
	"testing"

	"berth/environment"
	"berth/handlers/api"
)

func TestSignInByJSON(t *testing.T) {
	o := newOffice(t)
	v := o.visitor()
	v.refused("before", v.ask("GET", "/api/cli-auth/me", nil), 401, "unauthenticated")
	a := v.ask("POST", "/api/auth/sign-in", api.SignIn{Email: "ADA@example.com", Password: officePassword})
	var me api.Me
	v.want(a, 200, &me)
	if me.User == nil || me.User.Email != "ada@example.com" || !me.IsInstanceAdmin || me.Source != "session" || me.KeyID != nil || me.ActorType != "person" {
		t.Errorf("signed in as %s", a.Body)
	}
	set := a.Header.Get("Set-Cookie")
	for _, part := range []string{"berth_session=", "HttpOnly", "SameSite=Lax", "Path=/"} {
		if !strings.Contains(set, part) {
			t.Errorf("Set-Cookie is %q, without %s", set, part)
		}
	}
	v.want(v.ask("GET", "/api/people", nil), 200, nil)

	a = v.ask("POST", "/api/auth/sign-out", nil)
	v.want(a, 204, nil)
	if !strings.Contains(a.Header.Get("Set-Cookie"), "Max-Age=0") || v.cookie() != "" {
		t.Errorf("the cookie stays: %q", a.Header.Get("Set-Cookie"))
	}
	v.refused("after", v.ask("GET", "/api/people", nil), 401, "unauthenticated")
}

// TestStolenCookieEnds: a cookie that somebody kept a copy of is worth nothing
// once its session was signed out.
func TestStolenCookieEnds(t *testing.T) {
	o := newOffice(t)
	stolen := o.admin.cookie()
	o.admin.want(o.admin.ask("POST", "/api/auth/sign-out", "{}"), 204, nil)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, o.url+"/api/people", nil)
	o.must(err)
	req.AddCookie(&http.Cookie{Name: "berth_session", Value: stolen})
	resp, err := o.admin.client.Transport.RoundTrip(req)
	o.must(err)
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != 401 {
		t.Errorf("with the cookie of a session that was ended: %d", resp.StatusCode)
	}
}

func TestSignInIsRefused(t *testing.T) {
	o := newOffice(t)
	v := o.visitor()
	for name, tc := range map[string]struct {
		body   any
		status int
		code   string
		fields []string
	}{
		"wrong password":   {api.SignIn{Email: "ada@example.com", Password: "wrong"}, 401, "sign_in_failed", nil},
		"nobody":           {api.SignIn{Email: "nobody@example.com", Password: "wrong"}, 401, "sign_in_failed", nil},
		"nothing":          {"{}", 401, "sign_in_failed", nil},
		"no body":          {nil, 400, "body_missing", nil},
		"not JSON":         {"email=ada", 400, "invalid_json", nil},
		"a list":           {"[]", 400, "invalid_body", []string{""}},
		"an unknown key":   {`{"email":"ada@example.com","password":"x","remember":true}`, 400, "unknown_key", []string{"remember"}},
		"null":             {`{"email":"ada@example.com","password":null}`, 400, "invalid_body", []string{"password"}},
		"a number":         {`{"email":"ada@example.com","password":12}`, 400, "invalid_body", []string{"password"}},
		"an object":        {`{"email":{"$ne":""},"password":"x"}`, 400, "invalid_body", []string{"email"}},
		"twice":            {`{"email":"a@example.com","email":"ada@example.com","password":"x"}`, 400, "repeated_key", []string{"email"}},
		"NUL":              {`{"email":"ada@example.com\u0000","password":"x"}`, 400, "invalid_body", []string{"email"}},
		"another key case": {`{"Email":"ada@example.com","password":"x"}`, 400, "unknown_key", []string{"Email"}},
	} {
		a := v.ask("POST", "/api/auth/sign-in", tc.body)
		v.refused(name, a, tc.status, tc.code, tc.fields...)
		if a.Header.Get("Set-Cookie") != "" {
			t.Errorf("%s: sets the cookie %q", name, a.Header.Get("Set-Cookie"))
		}
	}
}

func TestSignInIsSlowedDown(t *testing.T) {
	o := newOffice(t)
	v := o.visitor()
	for range 6 {
		v.refused("a guess", v.ask("POST", "/api/auth/token", api.SignInForToken{Email: "ada@example.com", Password: "wrong", Name: "x"}), 401, "sign_in_failed")
	}
	a := v.ask("POST", "/api/auth/sign-in", api.SignIn{Email: "ada@example.com", Password: officePassword})
	v.refused("the next", a, 429, environment.CodeRateLimited)
	if a.Header.Get("Retry-After") != "1" {
		t.Errorf("Retry-After is %q, want 1", a.Header.Get("Retry-After"))
	}
}

func TestTokenForAPassword(t *testing.T) {
	o := newOffice(t)
	v := o.visitor()
	var made api.MadeKey
	v.want(v.ask("POST", "/api/auth/token", api.SignInForToken{Email: "ada@example.com", Password: officePassword, Name: "laptop"}), 201, &made)
	if v.cookie() != "" || !strings.HasPrefix(made.Token, "berth_pat_") || made.Name != "laptop" {
		t.Errorf("made %+v with the cookie %q", made.Key, v.cookie())
	}
	p := o.program(made.Token)
	var me api.Me
	p.want(p.ask("GET", "/api/cli-auth/me", nil), 200, &me)
	if me.Source != "token" || me.KeyID == nil || *me.KeyID != made.ID || me.UserID == nil {
		t.Errorf("the program is %+v", me)
	}
	v.refused("no name", v.ask("POST", "/api/auth/token", api.SignInForToken{Email: "ada@example.com", Password: officePassword}), 422, "validation_failed", "name")
	p.want(p.ask("POST", "/api/auth/sign-out", nil), 204, nil)
	p.refused("signed out", p.ask("GET", "/api/cli-auth/me", nil), 401, "invalid_key")
	if strings.Contains(o.log.String(), made.Token) {
		t.Error("the log holds the token")
	}
}

func TestMe(t *testing.T) {
	f := newFront(t)
	var me api.Me
	f.want(f.call("GET", "/api/cli-auth/me", ""), 200, &me)
	if me.ActorType != "local_operator" || !me.IsInstanceAdmin || me.Source != "local_implicit" || me.User != nil || len(me.CompanyIDs) != 1 ||
		!me.Capabilities.Features.EnableEnvironments || me.Capabilities.Features.ExecutionMode != "any" || me.Capabilities.Features.DefaultEnvironmentID == nil {
		t.Errorf("the local operator is %+v", me)
	}
	if a := f.call("POST", "/api/auth/sign-in", `{"email":"ada@example.com","password":"x"}`); a.Status != 422 || !strings.Contains(a.Body, "sign_in_not_needed") {
		t.Errorf("signing in to local_trusted: %d %s", a.Status, a.Body)
	}

	o := newOffice(t)
	member := o.join("bob@example.com", environment.RoleMember)
	member.want(member.ask("GET", "/api/cli-auth/me", nil), 200, &me)
	if me.IsInstanceAdmin || len(me.CompanyIDs) != 1 || me.CompanyIDs[0].String() != o.company || me.User.Memberships[0].Role != "member" {
		t.Errorf("the member is %+v", me)
	}
	homeless := o.join("carol@example.com", "")
	a := homeless.ask("GET", "/api/cli-auth/me", nil)
	homeless.want(a, 200, nil)
	if !strings.Contains(a.Body, `"companyIds":[]`) || !strings.Contains(a.Body, `"memberships":[]`) {
		t.Errorf("somebody of no company is %s", a.Body)
	}
	var agent api.Agent
	o.admin.want(o.admin.ask("POST", "/api/companies/"+o.company+"/agents", api.NewAgent{Name: "builder"}), 201, &agent)
	var key api.MadeKey
	o.admin.want(o.admin.ask("POST", "/api/agents/"+agent.ID.String()+"/keys", api.NewKey{Name: "ci"}), 201, &key)
	p := o.program(key.Token)
	p.want(p.ask("GET", "/api/cli-auth/me", nil), 200, &me)
	if me.ActorType != "agent" || me.Agent == nil || me.Agent.ID != agent.ID || me.User != nil || me.Source != "agent_key" || *me.KeyID != key.ID ||
		len(me.CompanyIDs) != 1 || me.IsInstanceAdmin {
		t.Errorf("the agent is %+v", me)
	}
}
