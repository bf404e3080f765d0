package handlers

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"berth/environment"
)

// anyEnvironment stands in a body for the id of one.
const anyEnvironment = "ENVIRONMENT"

// TestNothingIsUsedWhileEnvironmentsAreOff: by the API and by forms, for who may;
// reading, cancelling and releasing go on.
func TestNothingIsUsedWhileEnvironmentsAreOff(t *testing.T) {
	const base, actor = "/company/settings/instance/environments", "instance admin"
	box := url.Values{"name": {"Other"}, "driver": {"ssh"}, "config.host": {"h"}, "config.port": {"22"}, "config.username": {"u"},
		"config.remoteWorkspacePath": {"/w"}, "revision": {"1"}, "fingerprint": {"SHA256:abc"}, "command": {"true"}}.Encode()
	const draft = `{"name":"Other","driver":"ssh","config":{"host":"h"}}`
	for _, tc := range []struct{ route, body string }{
		{"POST /api/companies/:c/environments", draft}, {"PATCH /api/environments/:id", `{"name":"X"}`},
		{"PATCH /api/environments/:id", `{"status":"archived"}`}, {"DELETE /api/environments/:id", ""},
		{"POST /api/environments/:id/probe", ""}, {"POST /api/companies/:c/environments/probe-config", draft},
		{"POST /api/environments/scan-host-key", `{"host":"h"}`}, {"POST /api/environments/:id/trust-host-key", `{"fingerprint":"SHA256:abc"}`},
		{"POST /api/companies/:c/runs", `{"command":["true"]}`},
		{"PATCH /api/instance/settings", `{"defaultEnvironmentId":"` + anyEnvironment + `"}`},
		{"POST /api/companies/:c/agents", `{"name":"Other","defaultEnvironmentId":"` + anyEnvironment + `"}`},
		{"PATCH /api/agents/:id", `{"defaultEnvironmentId":"` + anyEnvironment + `"}`},
		{"POST /company/settings/instance/general", "maxRunTimeoutSec=900&defaultEnvironmentId=" + anyEnvironment},
		{"POST /companies/:c/agents", "name=Other&defaultEnvironmentId=" + anyEnvironment},
		{"POST /companies/:c/agents/:id", "name=Other&defaultEnvironmentId=" + anyEnvironment},
		{"POST " + base, box}, {"POST " + base + "/:id", box}, {"POST " + base + "/test-all", ""}, {"POST " + base + "/drafts/probe", box},
		{"POST " + base + "/drafts/scan", box}, {"POST " + base + "/:id/archive", ""}, {"POST " + base + "/:id/restore", ""},
		{"POST " + base + "/:id/delete", ""}, {"POST " + base + "/:id/trust", box}, {"POST " + base + "/:id/probes", ""},
		{"POST /companies/:c/runs", box},
	} {
		t.Run(tc.route, func(t *testing.T) {
			h := newHouse(t, actor)
			h.switchTo(environment.SettingsPatch{EnableEnvironments: new(false)})
			method, pattern, _ := strings.Cut(tc.route, " ")
			before := h.store.Fingerprint()
			a := h.ask(actor, method, h.fill(pattern, actor), strings.ReplaceAll(tc.body, anyEnvironment, h.ids["environment"]))
			if a.Status != http.StatusConflict || !strings.Contains(a.Body, "turned off") || !strings.Contains(a.Body, "Experimental") {
				t.Errorf("%d %.300s", a.Status, a.Body)
			}
			if strings.HasPrefix(pattern, "/api/") && !strings.Contains(a.Body, `"code":"environments_disabled"`) {
				t.Errorf("%s", a.Body)
			}
			if h.store.Fingerprint() != before {
				t.Error("something was changed")
			}
		})
	}
	h := newHouse(t, actor)
	h.switchTo(environment.SettingsPatch{EnableEnvironments: new(false)})
	for _, route := range []string{"GET /api/environments/:id", "GET /api/companies/:c/environments", "GET /api/runs/:id", "POST /api/runs/:id/cancel",
		"POST /api/probes/:id/cancel", "POST /api/environment-leases/:id/release", "GET " + base, "GET " + base + "/:id", "GET /companies/:c/runs"} {
		method, pattern, _ := strings.Cut(route, " ")
		if a := h.ask(actor, method, h.fill(pattern, actor), ""); a.Status >= 300 {
			t.Errorf("%s: %d %.300s", route, a.Status, a.Body)
		}
	}
}

// switchTo changes settings.
func (h *house) switchTo(p environment.SettingsPatch) {
	h.t.Helper()
	_, err := h.store.UpdateSettings(h.t.Context(), p, environment.Activity{})
	h.must(err)
}

// TestLocalIsNotThereForManagedSandboxes: neither in lists nor by its id.
func TestLocalIsNotThereForManagedSandboxes(t *testing.T) {
	const base, actor = "/company/settings/instance/environments", "instance admin"
	h := newHouse(t, actor)
	h.ids["environment"] = h.ids["local"]
	h.switchTo(environment.SettingsPatch{EnableManagedSandboxOnly: new(true)})
	for _, tc := range []struct{ route, body string }{
		{"GET /api/environments/:id", ""}, {"PATCH /api/environments/:id", `{"name":"X"}`}, {"DELETE /api/environments/:id", ""},
		{"GET /api/environments/:id/delete-blast-radius", ""}, {"GET /api/environments/:id/leases", ""}, {"GET /api/environments/:id/probes", ""},
		{"POST /api/environments/:id/probe", ""}, {"POST /api/environments/:id/trust-host-key", `{"fingerprint":"x"}`},
		{"GET " + base + "/:id", ""}, {"GET " + base + "/:id/edit", ""}, {"POST " + base + "/:id/archive", ""}, {"POST " + base + "/:id/probes", ""},
	} {
		method, pattern, _ := strings.Cut(tc.route, " ")
		if a := h.ask(actor, method, h.fill(pattern, actor), tc.body); a.Status != http.StatusNotFound {
			t.Errorf("%s: %d %.300s", tc.route, a.Status, a.Body)
		}
	}
	a := h.ask(actor, "POST", h.fill("/api/companies/:c/environments/probe-config", actor), `{"driver":"local","config":{}}`)
	if a.Status != http.StatusConflict || !strings.Contains(a.Body, "managed_sandbox_unavailable") {
		t.Errorf("a draft of Local is tested: %d %s", a.Status, a.Body)
	}
	for _, pattern := range []string{"/api/companies/:c/environments", base} {
		if a := h.ask(actor, "GET", h.fill(pattern, actor), ""); a.Status != 200 || strings.Contains(a.Body, h.ids["local"]) {
			t.Errorf("%s: %d, and Local is in it", pattern, a.Status)
		}
	}
	for name, body := range map[string]string{"by its id": `{"environmentId":"` + h.ids["local"] + `","command":["true"]}`, "as the default": `{"command":["true"]}`} {
		if a := h.ask(actor, "POST", h.fill("/api/companies/:c/runs", actor), body); a.Status != http.StatusConflict || !strings.Contains(a.Body, "managed_sandbox_unavailable") {
			t.Errorf("a run %s: %d %s", name, a.Status, a.Body)
		}
	}
}

// TestListsOfNoCompany: whoever may see every company is told that there is none.
func TestListsOfNoCompany(t *testing.T) {
	h := newHouse(t, "instance admin")
	for _, thing := range []string{"", "/environments", "/environments/capabilities", "/runs", "/secrets", "/activity", "/members", "/agents"} {
		a := h.ask("instance admin", "GET", "/api/companies/"+environment.NewID().String()+thing, "")
		if a.Status != http.StatusNotFound || !strings.Contains(a.Body, `"company_not_found"`) {
			t.Errorf("%s: %d %s", thing, a.Status, a.Body)
		}
	}
}
