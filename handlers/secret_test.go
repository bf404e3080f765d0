package handlers

import (
	"strings"
	"testing"

	"berth/environment"
	"berth/handlers/api"
)

// C67: no answer about a secret holds a value.
func TestC67_SecretsLifeOverTheAPI(t *testing.T) {
	f := newFront(t)
	f.driver.open()
	if err := f.store.BindKeyset(t.Context(), "key-1"); err != nil {
		t.Fatal(err)
	}
	list := "/api/companies/" + f.company.String() + "/secrets"
	var answers []string
	call := func(method, path, body string, status int, into any) {
		t.Helper()
		answers = append(answers, f.want(f.call(method, path, body), status, into).Body)
	}
	var made, got api.Secret
	call("POST", list, `{"name":" Token ","description":"of the builders","value":"canary-1"}`, 201, &made)
	if made.Name != "Token" || made.LatestVersion != 1 || made.CompanyID != f.company {
		t.Errorf("made %+v", made)
	}
	one := "/api/secrets/" + made.ID.String()
	call("POST", list, `{"name":"TOKEN","value":"canary-2"}`, 409, nil)
	call("POST", list, `{"name":"","value":""}`, 422, nil)
	call("POST", one+"/rotate", `{"value":"canary-3"}`, 200, &got)
	if got.LatestVersion != 2 {
		t.Errorf("rotated %+v", got)
	}
	call("POST", one+"/rotate", `{"value":"`+strings.Repeat("canary", environment.MaxSecret)+`"}`, 422, nil)
	call("PATCH", one, `{"name":"Key","description":null,"disabled":true}`, 200, &got)
	if got.Name != "Key" || got.Description != nil || !got.Disabled {
		t.Errorf("changed %+v", got)
	}
	call("PATCH", one, `{"disabled":false}`, 200, nil)
	var env api.Environment
	call("POST", f.environments(), `{"name":"box","driver":"ssh","config":{"host":"h","username":"u","passwordSecretRef":{"type":"secret_ref","secretId":"`+made.ID.String()+`","version":1}},
		"newSecrets":{"envVars.TOKEN":{"name":"inline","value":"canary-4"}}}`, 201, &env)
	call("POST", "/api/environments/"+env.ID.String()+"/probe", "", 200, nil)
	var refs []api.SecretRef
	call("GET", "/api/environments/"+env.ID.String()+"/secret-refs", "", 200, &refs)
	if len(refs) != 2 || refs[0].ConfigPath != "config.password" || refs[0].Version != "1" || refs[0].Name != "Key" || refs[0].Owned || refs[0].Missing || refs[1].Name != "inline" {
		t.Errorf("references %+v", refs)
	}
	call("GET", one, "", 200, &got)
	if len(got.Versions) != 2 || got.Versions[0].Version != 2 || len(got.Uses) != 1 || got.Uses[0].EnvironmentName != "box" {
		t.Errorf("got %+v", got)
	}
	var opened []api.SecretAccess
	call("GET", one+"/accesses", "", 200, &opened)
	if len(opened) != 1 || opened[0].Purpose != "probe" || opened[0].Outcome != "opened" || opened[0].Version != 1 || opened[0].ProbeID == nil {
		t.Errorf("accesses %+v", opened)
	}
	var all []api.Secret
	call("GET", list, "", 200, &all)
	if len(all) != 2 || all[0].Name != "inline" || all[1].Name != "Key" {
		t.Errorf("list %+v", all)
	}
	var refused api.Error
	call("DELETE", one, "", 409, &refused)
	if refused.Code != environment.CodeSecretInUse || !strings.Contains(answers[len(answers)-1], `"environmentName":"box"`) {
		t.Errorf("refused %+v", refused)
	}
	var turned api.KeyRotation
	call("POST", "/api/instance/rotate-key", "", 200, &turned)
	if turned.From == turned.To || turned.Resealed != 3 {
		t.Errorf("turned %+v", turned)
	}
	call("DELETE", "/api/environments/"+env.ID.String(), "", 200, nil)
	call("DELETE", one, "", 204, nil)
	call("GET", one, "", 404, &refused)
	if refused.Code != "secret_not_found" {
		t.Errorf("refused %+v", refused)
	}
	call("GET", "/api/activity", "", 200, nil)
	for _, body := range answers {
		if strings.Contains(body, "canary") {
			t.Errorf("an answer holds a value: %.300s", body)
		}
	}
	if strings.Contains(f.log.String(), "canary") {
		t.Error("the log holds a value")
	}
}

func TestCompaniesOfSecretsInPlace(t *testing.T) {
	f := newFront(t)
	var globex api.Company
	f.want(f.call("POST", "/api/companies", `{"name":"Globex"}`), 201, &globex)
	id := f.create("box")
	body := func(company string) string {
		return `{"newSecrets":{"envVars.TOKEN":{` + company + `"name":"inline","value":"x"}}}`
	}
	for _, c := range []struct {
		name, path, body string
		status           int
		code             string
	}{
		{"no company, and several", "", body(""), 422, "company_required"},
		{"no company that is one", "?companyId=x", body(""), 400, "invalid_id"},
		{"one that is not there", "", body(`"companyId":"018f4e9c-0000-7000-8000-000000000000",`), 404, "company_not_found"},
		{"that of the query", "?companyId=" + globex.ID.String(), body(""), 200, ""},
		{"that which it names", "", body(`"companyId":"` + f.company.String() + `",`), 200, ""},
		{"a key too many", "", `{"newSecrets":{"envVars.A":{"name":"a","value":"x","more":1}}}`, 400, "unknown_key"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var e api.Error
			f.want(f.call("PATCH", "/api/environments/"+id+c.path, c.body), c.status, &e)
			if e.Code != c.code {
				t.Errorf("code %q, want %q", e.Code, c.code)
			}
		})
	}
}

// TestAnotherCompanysSecretStopsWork: before anything is queued.
func TestAnotherCompanysSecretStopsWork(t *testing.T) {
	f := newFront(t)
	f.driver.open()
	var globex api.Company
	f.want(f.call("POST", "/api/companies", `{"name":"Globex"}`), 201, &globex)
	var env api.Environment
	f.want(f.call("POST", f.environments(), `{"name":"box","driver":"ssh","config":{"host":"h","username":"u"},
		"newSecrets":{"config.password":{"name":"inline","value":"canary"}}}`), 201, &env)
	for name, a := range map[string]answer{
		"probe": f.call("POST", "/api/environments/"+env.ID.String()+"/probe?companyId="+globex.ID.String(), ""),
		"run":   f.call("POST", "/api/companies/"+globex.ID.String()+"/runs", `{"environmentId":"`+env.ID.String()+`","command":["true"]}`),
		"draft": f.call("POST", "/api/companies/"+globex.ID.String()+"/environments/probe-config", `{"environmentId":"`+env.ID.String()+`","name":"","driver":"ssh","config":{"host":"h","username":"u"}}`),
	} {
		t.Run(name, func(t *testing.T) {
			var e api.Error
			f.want(a, 409, &e)
			if e.Code != environment.CodeCompanyMismatch || e.Remediation == "" {
				t.Errorf("refused %+v", e)
			}
		})
	}
	var runs []api.Run
	f.want(f.call("GET", "/api/companies/"+globex.ID.String()+"/runs", ""), 200, &runs)
	if len(runs) != 0 {
		t.Errorf("a run was queued: %+v", runs)
	}
	var probe api.ProbeResult
	f.want(f.call("POST", "/api/environments/"+env.ID.String()+"/probe", ""), 200, &probe)
	if probe.Details.CompanyID == nil || *probe.Details.CompanyID != f.company {
		t.Errorf("a probe without a company is of %v, want that whose secret it uses", probe.Details.CompanyID)
	}
}
