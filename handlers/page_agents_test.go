package handlers

import (
	"net/url"
	"strings"
	"testing"

	"berth/environment"
	"berth/views"
)

func TestAgentPages(t *testing.T) {
	f := newAuthFront(t)
	ben := f.person("ben", false, environment.RoleAdmin)
	cookie, path := f.signIn(ben), views.AgentsPath(f.company)
	if s := state(f.page(f.want(f.call("GET", path, "", cookie), 200, nil)), "#agents"); s != "none" {
		t.Errorf("state %q, want none", s)
	}
	agent := f.agent("reviewer")
	a := f.want(f.post(path, url.Values{"name": {"Reviewer"}, "adapterType": {"process"}}, cookie), 422, nil)
	doc := f.page(a)
	if kept, _ := doc.Find("#f-name").Attr("value"); state(doc, "#agents") != "invalid" || kept != "Reviewer" || doc.Find("#f-name-err").Text() == "" {
		t.Errorf("a name that is taken: state %q, kept %q", state(doc, "#agents"), kept)
	}
	page := views.AgentPath(f.company, agent.ID)
	a = f.want(f.post(page+"/keys", url.Values{"keyName": {""}, "lifeDays": {"0"}}, cookie), 422, nil)
	if bad, _ := f.page(a).Find("[aria-invalid]").Attr("name"); bad != "keyName" {
		t.Errorf("the error is at %q", bad)
	}
	a = f.want(f.post(page+"/keys", url.Values{"keyName": {"runner"}, "lifeDays": {"0"}}, cookie), 201, nil)
	key := strings.TrimSpace(f.page(a).Find("#new-key .copy code").First().Text())
	if state(f.page(a), "#agent") != "key-made" || !strings.HasPrefix(key, "berth_agent_") {
		t.Fatalf("state %q, key %q", state(f.page(a), "#agent"), key)
	}
	runs := "/api/companies/" + f.company.String() + "/runs"
	f.want(f.call("GET", runs, "", bearer(key)), 200, nil)
	a = f.want(f.call("GET", page, "", cookie), 200, nil)
	without(t, "the page", a.Body, key)
	without(t, "the log", f.log.String(), key)
	for status, want := range map[string]int{"disabled": 401, "active": 200} {
		if a := f.stay("POST", page, url.Values{"status": {status}}.Encode(), asForm, cookie); a.Status != 303 {
			t.Fatalf("%s: %d: %s", status, a.Status, a.Body)
		}
		f.want(f.call("GET", runs, "", bearer(key)), want, nil)
	}
	revoke, _ := f.page(f.call("GET", page, "", cookie)).Find("#keys tbody form").Attr("action")
	if a := f.stay("POST", revoke, "x=y", asForm, cookie); a.Status != 303 {
		t.Errorf("revoking is answered %d", a.Status)
	}
	f.want(f.call("GET", runs, "", bearer(key)), 401, nil)
}

// An agent is where its company is, and nowhere else.
func TestAgentPagesOfAnotherCompany(t *testing.T) {
	f := newAuthFront(t)
	other, err := f.server.Catalogue.CreateCompany(t.Context(), environment.LocalOperator(), "Globex")
	if err != nil {
		t.Fatal(err)
	}
	agent := f.agent("reviewer")
	admin, owner, member := f.signIn(f.person("ada", true, "")), f.signIn(f.person("ben", false, environment.RoleOwner)), f.signIn(f.person("cleo", false, environment.RoleMember))
	for name, c := range map[string]struct {
		path, cookie string
		status       int
	}{
		"wrong company, admin":      {views.AgentPath(other.ID, agent.ID), admin, 404},
		"wrong company, owner":      {views.AgentPath(other.ID, agent.ID), owner, 404},
		"another company's":         {views.AgentsPath(other.ID), owner, 404},
		"a company that is not":     {views.AgentsPath(environment.NewID()), owner, 404},
		"an agent that is not":      {views.AgentPath(f.company, environment.NewID()), owner, 404},
		"no id":                     {views.AgentsPath(f.company) + "/reviewer", owner, 400},
		"a member":                  {views.AgentsPath(f.company), member, 403},
		"a member of what is not":   {views.AgentsPath(environment.NewID()), member, 403},
		"a member, the agent's own": {views.AgentPath(f.company, agent.ID), member, 403},
	} {
		if got := f.call("GET", c.path, "", c.cookie).Status; got != c.status {
			t.Errorf("%s: %d, want %d", name, got, c.status)
		}
	}
}
