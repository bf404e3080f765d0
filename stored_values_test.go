package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"berth/store/storetest"
)

// C63: a stored value that the schema does not take marks its environment alone, and
// one whose provider is gone stays readable, editable and deletable.
func TestC63_StoredValuesBreakNothing(t *testing.T) {
	o := options(t)
	srv, err := startServer(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := srv.Stop(); err != nil {
			t.Error(err)
		}
		http.DefaultClient.CloseIdleConnections()
	})
	environments := sandboxes(t, srv.URL)
	ids := map[string]string{}
	for _, name := range []string{"good", "bad", "gone"} {
		var made struct{ ID string }
		post(t, environments, dockerBody(t, name, "app:1"), &made)
		ids[name] = made.ID
	}
	storetest.Exec(t, o.DatabaseURL, `update environments set config = case name
		when 'bad' then config || '{"network":"","memoryMiB":1,"future":true}'::jsonb
		when 'gone' then '{"provider":"acme","region":"eu"}'::jsonb else config end`)
	for name, want := range map[string]string{"good": "", "bad": "config.future config.memoryMiB config.network", "gone": "config.provider"} {
		status, body := get(t, srv.URL+"/api/environments/"+ids[name])
		var env struct {
			Config         map[string]any
			ConfigProblems []struct{ Field, Message string }
		}
		if err := json.Unmarshal([]byte(body), &env); err != nil || status != 200 {
			t.Fatalf("%s: %d %s", name, status, body)
		}
		var at []string
		for _, p := range env.ConfigProblems {
			at = append(at, p.Field)
		}
		if got := strings.Join(at, " "); got != want {
			t.Errorf("%s: problems at %q, want %q", name, got, want)
		}
		_, overview := get(t, srv.URL+"/company/settings/instance/environments/"+ids[name])
		if says := strings.Contains(overview, "is not valid any more. future: "); says != (name == "bad") {
			t.Errorf("%s: its page says that its settings are invalid: %t", name, says)
		}
		for _, page := range []string{"", "?tab=configuration", "/edit"} {
			if status, _ := get(t, srv.URL+"/company/settings/instance/environments/"+ids[name]+page); status != 200 {
				t.Errorf("%s%s: %d", name, page, status)
			}
		}
	}
	if status, body := get(t, srv.URL+"/company/settings/instance/environments"); status != 200 || !strings.Contains(body, "is not installed") {
		t.Errorf("the list: %d", status)
	}
	if status, body := get(t, environments); status != 200 || !strings.Contains(body, `"region":"eu"`) {
		t.Errorf("the list: %d %s", status, body)
	}
	gone := srv.URL + "/api/environments/" + ids["gone"]
	if status, body := send(t, "PATCH", gone, `{"name":"still here","description":"kept","envVars":{"A":"b"}}`); status != 200 || !strings.Contains(body, `"region":"eu"`) {
		t.Errorf("edit: %d %s", status, body)
	}
	if status, body := send(t, "PATCH", srv.URL+"/api/instance/settings", `{"defaultEnvironmentId":"`+ids["gone"]+`"}`); status != 422 || !strings.Contains(body, "not installed") {
		t.Errorf("as default: %d %s", status, body)
	}
	if status, body := send(t, "DELETE", gone, ""); status != 200 {
		t.Errorf("delete: %d %s", status, body)
	}
}
