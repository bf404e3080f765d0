package handlers

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"berth/environment"
	"berth/environment/identity"
	"berth/views"
)

// PersonByEmail is away with the rest of the database.
func (f *flaky) PersonByEmail(ctx context.Context, email string) (environment.Person, string, error) {
	if err := f.err(); err != nil {
		return environment.Person{}, "", err
	}
	return f.Store.PersonByEmail(ctx, email)
}

func signInForm(email, password, next string) url.Values {
	return url.Values{"email": {email}, "password": {password}, "next": {next}}
}

func TestSignInPage(t *testing.T) {
	f := newAuthFront(t)
	f.person("ada", true, "")
	f.person("eve", false, "")
	gone := f.person("gone", false, "")
	disabled := true
	if _, err := f.server.Identity.UpdatePerson(t.Context(), environment.LocalOperator(), gone.ID, identity.PersonPatch{Disabled: &disabled}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		form   url.Values
		status int
		to     string
		state  string
	}{
		"right, without a role": {signInForm("eve@berth.test", frontPassword, ""), 303, views.AccountPath, ""},
		"right":                 {signInForm("ada@berth.test", frontPassword, "/companies"), 303, "/companies", ""},
		"next elsewhere":        {signInForm("ada@berth.test", frontPassword, "//evil.test/x"), 303, views.Environments, ""},
		"next with a backslash": {signInForm("ada@berth.test", frontPassword, `/\evil.test`), 303, views.Environments, ""},
		"wrong password":        {signInForm("ada@berth.test", "not the password of ada", "/"), 422, "", "wrong"},
		"nobody":                {signInForm("nobody@berth.test", "not the password of ada", "/"), 422, "", "wrong"},
		"disabled":              {signInForm(gone.Email, frontPassword, "/"), 422, "", "wrong"},
		"nothing typed":         {signInForm("", "", "/"), 422, "", "wrong"},
	} {
		t.Run(name, func(t *testing.T) {
			a := f.stay("POST", "/signin", c.form.Encode(), asForm)
			doc := f.page(a)
			if a.Status != c.status || a.Header.Get("Location") != c.to || state(doc, "#sign-in") != c.state {
				t.Fatalf("%d to %q in state %q, want %d to %q in state %q", a.Status, a.Header.Get("Location"), state(doc, "#sign-in"), c.status, c.to, c.state)
			}
			if got := len(a.Header.Values("Set-Cookie")); (got == 1) != (c.status == 303) {
				t.Errorf("%d cookies", got)
			}
			if kept, _ := doc.Find("[name=email]").Attr("value"); c.state != "" && kept != c.form.Get("email") {
				t.Errorf("the address is kept as %q", kept)
			}
			if p := c.form.Get("password"); p != "" && strings.Contains(a.Body, p) {
				t.Error("the password is in the page")
			}
			if c.state == "wrong" && doc.Find(".note").Text() != "The e-mail address or the password is wrong." {
				t.Errorf("it says %q", doc.Find(".note").Text())
			}
		})
	}
}

// A cookie that names no session any more is answered by what happened to it.
func TestSignInSaysThatASessionEnded(t *testing.T) {
	f := newAuthFront(t)
	ada := f.person("ada", true, "")
	cookie := f.signIn(ada)
	if a := f.stay("GET", "/signin?next=/companies", "", cookie); a.Status != 303 || a.Header.Get("Location") != "/companies" {
		t.Errorf("whoever is signed in gets %d to %q", a.Status, a.Header.Get("Location"))
	}
	if _, err := f.server.Identity.SignOutPerson(t.Context(), environment.LocalOperator(), ada.ID, false); err != nil {
		t.Fatal(err)
	}
	if s := state(f.page(f.call("GET", "/signin", "", cookie)), "#sign-in"); s != "ended" {
		t.Errorf("state %q, want ended", s)
	}
	if s := state(f.page(f.call("GET", "/signin", "")), "#sign-in"); s != "shown" {
		t.Errorf("state %q for somebody new, want shown", s)
	}
	if a := f.stay("GET", views.RightsPath, "", cookie); a.Status != 303 || !strings.HasPrefix(a.Header.Get("Location"), "/signin") {
		t.Errorf("an open page is answered %d to %q", a.Status, a.Header.Get("Location"))
	}
}

func TestBusySignInKeepsTheAddress(t *testing.T) {
	f := newAuthFront(t)
	f.person("ada", true, "")
	f.store.away.Store(true)
	a := f.post("/signin", signInForm("ada@berth.test", frontPassword, "/"))
	doc := f.page(a)
	if a.Status != http.StatusServiceUnavailable || state(doc, "#sign-in") != "busy" || a.Header.Get("Retry-After") == "" {
		t.Errorf("%d in state %q, Retry-After %q", a.Status, state(doc, "#sign-in"), a.Header.Get("Retry-After"))
	}
	if kept, _ := doc.Find("[name=email]").Attr("value"); kept != "ada@berth.test" {
		t.Errorf("the address is kept as %q", kept)
	}
}

func TestSignInIsLimitedWithItsForm(t *testing.T) {
	f := newAuthFront(t)
	var a answer
	for range signInsAMinute + 1 {
		a = f.post("/signin", signInForm("nobody@berth.test", "x", "/"))
	}
	if s := state(f.page(a), "#sign-in"); a.Status != http.StatusTooManyRequests || s != "limited" || a.Header.Get("Retry-After") == "" {
		t.Errorf("%d in state %q, Retry-After %q", a.Status, s, a.Header.Get("Retry-After"))
	}
}

func TestNobodySignsInLocally(t *testing.T) {
	f := newFront(t)
	for _, path := range []string{"/signin", "/link/berth_link_x"} {
		if s := state(f.page(f.call("GET", path, "")), "#sign-in"); s != "not-needed" {
			t.Errorf("%s: state %q, want not-needed", path, s)
		}
		if s := state(f.page(f.post(path, signInForm("a@b.test", "x", "/"))), "#sign-in"); s != "not-needed" {
			t.Errorf("POST %s: state %q, want not-needed", path, s)
		}
	}
	doc := f.page(f.call("GET", views.Environments, ""))
	if n := doc.Find(".me, [data-rights]").Length(); n != 0 {
		t.Error("there is a menu of an account that nobody has")
	}
}

func TestLinkPage(t *testing.T) {
	f := newAuthFront(t)
	_, token, err := f.server.Identity.Invite(t.Context(), environment.LocalOperator(), identity.Invitation{Email: "ben@berth.test"})
	if err != nil {
		t.Fatal(err)
	}
	path := views.LinkPath(token.Reveal())
	if s := state(f.page(f.want(f.call("GET", path, ""), 200, nil)), "#link"); s != "open" {
		t.Fatalf("state %q, want open", s)
	}
	a := f.want(f.post(path, url.Values{"name": {"Ben"}, "password": {"eleven char"}}), 422, nil)
	doc := f.page(a)
	if name, _ := doc.Find("[name=name]").Attr("value"); state(doc, "#link") != "invalid" || name != "Ben" || strings.Contains(a.Body, "eleven char") {
		t.Errorf("state %q, name %q", state(doc, "#link"), name)
	}
	a = f.stay("POST", path, url.Values{"name": {"Ben"}, "password": {frontPassword}}.Encode(), asForm)
	if a.Status != 303 || a.Header.Get("Location") != views.AccountPath+"?done=welcome" || len(a.Header.Values("Set-Cookie")) != 1 {
		t.Fatalf("%d to %q with cookies %q", a.Status, a.Header.Get("Location"), a.Header.Values("Set-Cookie"))
	}
	a = f.want(f.post(path, url.Values{"name": {"Eve"}, "password": {frontPassword}}), 409, nil)
	if s := state(f.page(a), "#link"); s != "used" || len(a.Header.Values("Set-Cookie")) != 0 {
		t.Errorf("a second use: state %q, cookies %q", s, a.Header.Values("Set-Cookie"))
	}
	for name, text := range map[string]string{"cut": path[:len(path)-4], "no token": "/link/x", "of another kind": "/link/berth_pat_x"} {
		if a := f.call("GET", text, ""); a.Status != 404 || state(f.page(a), "#link") != "unknown" {
			t.Errorf("%s: %d in state %q", name, a.Status, state(f.page(a), "#link"))
		}
	}
	without(t, "the log", f.log.String(), token.Reveal())
}
