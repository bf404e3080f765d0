package handlers

import (
	"strings"
	"testing"

	"berth/environment"
	"berth/handlers/api"

	"github.com/google/uuid"
)

func TestAgentsByJSON(t *testing.T) {
	o := newOffice(t)
	keeper := o.join("keeper@example.com", environment.RoleAdmin)
	list := "/api/companies/" + o.company + "/agents"
	var agent api.Agent
	a := keeper.ask("POST", list, `{"name":" The  Builder "}`)
	keeper.want(a, 201, &agent)
	if agent.Name != "The Builder" || agent.AdapterType != "process" || agent.Status != "active" || agent.CompanyID.String() != o.company ||
		a.Header.Get("Location") != "/api/agents/"+agent.ID.String() || !strings.Contains(a.Body, `"defaultEnvironmentId":null`) {
		t.Errorf("made %s at %q", a.Body, a.Header.Get("Location"))
	}
	path := "/api/agents/" + agent.ID.String()
	for name, tc := range map[string]struct {
		method, path, body string
		status             int
		code               string
		fields             []string
	}{
		"no name":         {"POST", list, `{}`, 422, "validation_failed", []string{"name"}},
		"taken":           {"POST", list, `{"name":"THE BUILDER"}`, 409, "name_taken", []string{"name"}},
		"an odd adapter":  {"POST", list, `{"name":"x","adapterType":"a b"}`, 422, "validation_failed", []string{"adapterType"}},
		"no environment":  {"POST", list, `{"name":"x","defaultEnvironmentId":"` + uuid.NewString() + `"}`, 422, "environment_not_found", []string{"defaultEnvironmentId"}},
		"no id":           {"POST", list, `{"name":"x","defaultEnvironmentId":"x"}`, 400, "invalid_body", []string{"defaultEnvironmentId"}},
		"an unknown key":  {"POST", list, `{"name":"x","companyId":"` + uuid.NewString() + `"}`, 400, "unknown_key", []string{"companyId"}},
		"an odd status":   {"PATCH", path, `{"status":"asleep"}`, 422, "validation_failed", []string{"status"}},
		"null as status":  {"PATCH", path, `{"status":null}`, 400, "invalid_body", []string{"status"}},
		"another company": {"PATCH", path, `{"companyId":"` + uuid.NewString() + `"}`, 400, "unknown_key", []string{"companyId"}},
		"nobody":          {"PATCH", "/api/agents/" + uuid.NewString(), `{"name":"x"}`, 404, "agent_not_found", nil},
		"not an id":       {"PATCH", "/api/agents/x", `{"name":"x"}`, 400, "invalid_id", nil},
		"another's list":  {"GET", "/api/companies/" + uuid.NewString() + "/agents", "", 404, "company_not_found", nil},
	} {
		var body any
		if tc.body != "" {
			body = tc.body
		}
		keeper.refused(name, keeper.ask(tc.method, tc.path, body), tc.status, tc.code, tc.fields...)
	}

	local, err := o.store.EnsureLocal(t.Context(), environment.Environment{ID: environment.NewID(), Name: "Local", Driver: "local", Status: environment.StatusActive}, false)
	o.must(err)
	keeper.want(keeper.ask("PATCH", path, `{"name":"painter","defaultEnvironmentId":"`+local.ID.String()+`"}`), 200, &agent)
	if agent.Name != "painter" || agent.DefaultEnvironmentID == nil || *agent.DefaultEnvironmentID != local.ID {
		t.Errorf("changed to %+v", agent)
	}
	keeper.want(keeper.ask("PATCH", path, `{"adapterType":"codex_local"}`), 200, &agent)
	if agent.DefaultEnvironmentID == nil || agent.AdapterType != "codex_local" {
		t.Errorf("a patch without the default changes it: %+v", agent)
	}
	a = keeper.ask("PATCH", path, `{"defaultEnvironmentId":null}`)
	keeper.want(a, 200, nil)
	if !strings.Contains(a.Body, `"defaultEnvironmentId":null`) {
		t.Errorf("cleared to %s", a.Body)
	}
	keeper.want(keeper.ask("POST", list, `{"name":"other","adapterType":"claude_local"}`), 201, nil)
	var agents []api.Agent
	keeper.want(keeper.ask("GET", list+"?q=OTH", nil), 200, &agents)
	if len(agents) != 1 || agents[0].Name != "other" {
		t.Errorf("found %+v", agents)
	}
	a = keeper.ask("GET", list+"?limit=1", nil)
	keeper.want(a, 200, &agents)
	next, _, _ := strings.Cut(strings.TrimPrefix(a.Header.Get("Link"), "<"), ">")
	a = keeper.ask("GET", next, nil)
	keeper.want(a, 200, &agents)
	if len(agents) != 1 || agents[0].Name != "other" || a.Header.Get("Link") != "" {
		t.Errorf("the second page is %+v, then %q", agents, a.Header.Get("Link"))
	}
	keeper.refused("a wrong cursor", keeper.ask("GET", list+"?cursor=x", nil), 400, "invalid_cursor", "cursor")
}

func TestAgentKeysByJSON(t *testing.T) {
	o := newOffice(t)
	keeper := o.join("keeper@example.com", environment.RoleOwner)
	var agent api.Agent
	keeper.want(keeper.ask("POST", "/api/companies/"+o.company+"/agents", api.NewAgent{Name: "builder"}), 201, &agent)
	path := "/api/agents/" + agent.ID.String()
	var made api.MadeKey
	keeper.want(keeper.ask("POST", path+"/keys", `{"name":"ci"}`), 201, &made)
	if !strings.HasPrefix(made.Token, "berth_agent_") || made.ExpiresAt != nil || made.CreatedBy != "keeper" {
		t.Errorf("made %+v", made.Key)
	}
	p := o.program(made.Token)
	p.want(p.ask("GET", "/api/companies/"+o.company+"/runs", nil), 200, nil)
	p.refused("as an agent", p.ask("GET", path, nil), 403, "forbidden")
	p.refused("an account", p.ask("GET", "/api/account", nil), 403, "forbidden")
	a := keeper.ask("GET", path, nil)
	keeper.want(a, 200, &agent)
	if len(agent.Keys) != 1 || agent.Keys[0].Hint != made.Hint || agent.Keys[0].LastUsedAt == nil || strings.Contains(a.Body, made.Token) {
		t.Errorf("the agent is %s", a.Body)
	}
	keeper.want(keeper.ask("PATCH", path, `{"status":"disabled"}`), 200, nil)
	p.refused("disabled", p.ask("GET", "/api/cli-auth/me", nil), 401, "invalid_key")
	keeper.want(keeper.ask("PATCH", path, `{"status":"active"}`), 200, nil)
	p.want(p.ask("GET", "/api/cli-auth/me", nil), 200, nil)
	keeper.refused("no name", keeper.ask("POST", path+"/keys", `{}`), 422, "validation_failed", "name")
	keeper.refused("another's key", keeper.ask("DELETE", path+"/keys/"+uuid.NewString(), nil), 404, "key_not_found")
	keeper.refused("not an id", keeper.ask("DELETE", path+"/keys/x", nil), 400, "invalid_id")
	keeper.want(keeper.ask("DELETE", path+"/keys/"+made.ID.String(), nil), 204, nil)
	p.refused("revoked", p.ask("GET", "/api/cli-auth/me", nil), 401, "invalid_key")
	if strings.Contains(o.log.String(), made.Token) {
		t.Error("the log holds the key")
	}
}

// TestC73_MemberChangesNothing: what a member's page does not offer is refused all
// the same, and each attempt is noted.
func TestC73_MemberChangesNothing(t *testing.T) {
	o := newOffice(t)
	member := o.join("bob@example.com", environment.RoleMember)
	var agent api.Agent
	o.admin.want(o.admin.ask("POST", "/api/companies/"+o.company+"/agents", api.NewAgent{Name: "builder"}), 201, &agent)
	attempts := []struct{ method, path string }{
		{"POST", "/api/companies/" + o.company + "/agents"}, {"GET", "/api/agents/" + agent.ID.String()}, {"PATCH", "/api/agents/" + agent.ID.String()},
		{"POST", "/api/agents/" + agent.ID.String() + "/keys"}, {"GET", "/api/people"}, {"POST", "/api/invitations"},
		{"PUT", "/api/companies/" + o.company + "/members/" + uuid.NewString()}, {"POST", "/api/people/" + uuid.NewString() + "/password-link"},
	}
	for _, tc := range attempts {
		var body any = `{"name":"mine","role":"owner"}`
		if tc.method == "GET" {
			body = nil
		}
		member.refused(tc.method+" "+tc.path, member.ask(tc.method, tc.path, body), 403, "forbidden")
	}
	page, err := o.store.Activity(t.Context(), environment.ActivityFilter{Action: "access.refused", Limit: 100})
	o.must(err)
	if len(page.Items) != len(attempts) {
		t.Errorf("%d attempts are noted, want %d", len(page.Items), len(attempts))
	}
	var agents []api.Agent
	o.admin.want(o.admin.ask("GET", "/api/companies/"+o.company+"/agents", nil), 200, &agents)
	if len(agents) != 1 || agents[0].Name != "builder" {
		t.Errorf("the agents are %+v", agents)
	}
}
