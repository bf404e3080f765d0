package handlers

import (
	"net/url"
	"strings"
	"testing"

	"berth/environment"
	"berth/views"

	"github.com/PuerkitoBio/goquery"
)

func TestAccountPage(t *testing.T) {
	f := newAuthFront(t)
	ada := f.person("ada", true, "")
	cookie := f.signIn(ada)
	for name, c := range map[string]struct {
		path  string
		form  url.Values
		field string
	}{
		"no name":            {views.AccountPath, url.Values{"name": {" "}}, "name"},
		"wrong password":     {views.AccountPath + "/password", url.Values{"currentPassword": {"a wrong password"}, "newPassword": {"another long password"}}, "currentPassword"},
		"short password":     {views.AccountPath + "/password", url.Values{"currentPassword": {frontPassword}, "newPassword": {"eleven char"}}, "newPassword"},
		"token without name": {views.AccountPath + "/tokens", url.Values{"keyName": {""}, "lifeDays": {"30"}}, "keyName"},
		"token for a word":   {views.AccountPath + "/tokens", url.Values{"keyName": {"x"}, "lifeDays": {"ever"}}, "lifeDays"},
		"token for too long": {views.AccountPath + "/tokens", url.Values{"keyName": {"x"}, "lifeDays": {"3651"}}, "lifeDays"},
	} {
		t.Run(name, func(t *testing.T) {
			a := f.post(c.path, c.form, cookie)
			doc := f.page(a)
			if a.Status != 422 {
				t.Errorf("status %d, want 422", a.Status)
			}
			if bad, _ := doc.Find("[aria-invalid]").Attr("name"); bad != c.field || doc.Find("[aria-invalid]").Length() != 1 || state(doc, "#account") != "invalid" {
				t.Errorf("the error is at %q, in state %q", bad, state(doc, "#account"))
			}
			for _, typed := range []string{c.form.Get("currentPassword"), c.form.Get("newPassword")} {
				if typed != "" && strings.Contains(a.Body, typed) {
					t.Errorf("the page holds %q", typed)
				}
			}
		})
	}
	a := f.want(f.post(views.AccountPath+"/tokens", url.Values{"keyName": {"script"}, "lifeDays": {"30"}}, cookie), 201, nil)
	token := strings.TrimSpace(f.page(a).Find("#new-token .copy code").First().Text())
	if s := state(f.page(a), "#account"); s != "token-made" || !strings.HasPrefix(token, "berth_pat_") {
		t.Fatalf("state %q, token %q", s, token)
	}
	f.want(f.call("GET", "/api/people", "", bearer(token)), 200, nil)
	a = f.want(f.call("GET", views.AccountPath, "", cookie), 200, nil)
	without(t, "the page", a.Body, token)
	without(t, "the log", f.log.String(), token)
	revoke, _ := f.page(a).Find("#keys tbody form").Attr("action")
	for range 2 { // a second time does no harm
		if a := f.stay("POST", revoke, "x=y", asForm, cookie); a.Status != 303 {
			t.Errorf("revoking is answered %d: %s", a.Status, a.Body)
		}
	}
	f.want(f.call("GET", "/api/people", "", bearer(token)), 401, nil)
}

// A form that makes a key and is sent twice, by a double click without scripts or
// by loading its answer again, makes one.
func TestKeyFormsSentTwiceMakeOneKey(t *testing.T) {
	f := newAuthFront(t)
	cookie := f.signIn(f.person("ben", false, environment.RoleOwner))
	agent := f.agent("reviewer")
	for _, page := range []string{views.AccountPath, views.AgentPath(f.company, agent.ID)} {
		for _, name := range []string{"first", "second"} {
			form := f.page(f.want(f.call("GET", page, "", cookie), 200, nil)).Find("#keys form.foot")
			action, _ := form.Attr("action")
			values := url.Values{"keyName": {name}, "lifeDays": {"30"}}
			form.Find("input[type=hidden]").Each(func(_ int, s *goquery.Selection) { values.Set(s.AttrOr("name", ""), s.AttrOr("value", "")) })
			f.want(f.post(action, values, cookie), 201, nil)
			a := f.want(f.post(action, values, cookie), 422, nil)
			doc := f.page(a)
			if text := doc.Find("[role=alert]").Text(); !strings.Contains(text, "was made since") {
				t.Errorf("%s: the second answer says %q", action, text)
			}
			if kept := doc.Find("#f-keyName").AttrOr("value", ""); kept != name {
				t.Errorf("%s: what was typed is %q", action, kept)
			}
			made := 0
			doc.Find("#keys tbody b").Each(func(_ int, s *goquery.Selection) {
				if s.Text() == name {
					made++
				}
			})
			if made != 1 {
				t.Errorf("%s: %d keys were made", action, made)
			}
		}
	}
}

func TestAccountSessions(t *testing.T) {
	f := newAuthFront(t)
	ada, ben := f.person("ada", true, ""), f.person("ben", false, environment.RoleMember)
	here, there, bens := f.signIn(ada), f.signIn(ada), f.signIn(ben)
	doc := f.page(f.want(f.call("GET", views.AccountPath, "", here), 200, nil))
	other, _ := doc.Find("#sessions [name=id]").Attr("value")
	if doc.Find("#sessions li").Length() != 2 || doc.Find("#sessions [name=id]").Length() != 1 || other == "" {
		t.Fatalf("the sessions read %q", doc.Find("#sessions").Text())
	}
	if a := f.stay("POST", views.AccountPath+"/sessions/end", url.Values{"id": {other}}.Encode(), asForm, bens); a.Status != 303 {
		t.Errorf("ending somebody else's session is answered %d", a.Status)
	}
	f.want(f.call("GET", views.RightsPath, "", there), 200, nil)
	if a := f.stay("POST", views.AccountPath+"/sessions/end", url.Values{"id": {other}}.Encode(), asForm, here); a.Header.Get("Location") != views.AccountPath+"?done=ended" {
		t.Errorf("%d to %q", a.Status, a.Header.Get("Location"))
	}
	if a := f.stay("GET", views.RightsPath, "", there); a.Status != 303 {
		t.Errorf("a session that was ended is answered %d", a.Status)
	}
	a := f.stay("POST", views.AccountPath+"/sessions/end", "all=yes", asForm, here)
	if !strings.HasPrefix(a.Header.Get("Location"), views.SignInPath) || cookieOf(t, a).MaxAge >= 0 {
		t.Errorf("signing out everywhere goes to %q with %q", a.Header.Get("Location"), a.Header.Get("Set-Cookie"))
	}
	if a := f.stay("POST", views.SignOutPath, "x=y", asForm, here); a.Status != 303 || !strings.HasPrefix(a.Header.Get("Location"), views.SignInPath) {
		t.Errorf("signing out a second time is answered %d to %q", a.Status, a.Header.Get("Location"))
	}
	f.want(f.call("GET", views.RightsPath, "", bens), 200, nil)
}

// What a page may be is said anew as soon as somebody's rights change.
func TestRightsOfAnOpenPage(t *testing.T) {
	f := newAuthFront(t)
	ben := f.person("ben", false, environment.RoleMember)
	cookie := f.signIn(ben)
	on := func() string {
		rights, _ := f.page(f.want(f.call("GET", views.AccountPath+"?done=name", "", cookie), 200, nil)).Find("body").Attr("data-rights")
		return rights
	}
	before := on()
	if now := f.call("GET", views.RightsPath, "", cookie).Body; now != before || before == "" {
		t.Errorf("the page says %q, the server %q", before, now)
	}
	if err := f.server.Identity.SetRole(t.Context(), environment.LocalOperator(), ben.ID, f.company, environment.RoleAdmin); err != nil {
		t.Fatal(err)
	}
	if now := f.call("GET", views.RightsPath, "", cookie).Body; now == before || now != on() {
		t.Errorf("with another role the server says %q, the old page %q, a new one %q", now, before, on())
	}
	here, _ := f.page(f.call("GET", views.AccountPath+"?done=name", "", cookie)).Find("body").Attr("data-here")
	if here != views.AccountPath {
		t.Errorf("the page is loaded again from %q", here)
	}
}
