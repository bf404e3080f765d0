package handlers

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"berth/handlers/api"
)

// TestNobodyBelowAnAdminSeesAHost: whatever they may read, in JSON, on pages and in
// streams. Everything about where
// Acme works says "zebra".
func TestNobodyBelowAnAdminSeesAHost(t *testing.T) {
	const base = "/company/settings/instance/environments"
	queries := map[string][]string{base: {"?archived=1", "?sort=health", "?q=box"}, base + "/:id": {"?tab=configuration", "?tab=leases", "?tab=runs"}}
	shown := 0
	for _, actor := range []string{"agent", "member", "member, owner elsewhere", "foreign member", "company admin", "owner", "instance admin"} {
		t.Run(actor, func(t *testing.T) {
			h := newHouse(t, actor)
			for _, r := range rulings() {
				method, pattern, _ := strings.Cut(r.route, " ")
				if method != http.MethodGet || r.wants()[actor] != "may" {
					continue
				}
				var paths []string
				for _, query := range append(queries[pattern], "") {
					paths = append(paths, h.fill(pattern, actor)+query)
				}
				if path := h.ofSandbox().fill(pattern, actor); !slices.Contains(paths, path) {
					paths = append(paths, path)
				}
				for _, path := range paths {
					a := h.ask(actor, method, path, "")
					switch found := strings.Contains(a.Body, "zebra"); {
					case found && actor != "instance admin":
						at := strings.Index(a.Body, "zebra")
						t.Errorf("%s: …%s…", path, a.Body[max(0, at-120):min(len(a.Body), at+60)])
					case found:
						shown++
					}
				}
			}
		})
	}
	if shown < 10 {
		t.Errorf("an admin sees hosts in %d answers: the test proves nothing", shown)
	}
}

// TestReducedShapes: what is left of rows for a member.
func TestReducedShapes(t *testing.T) {
	const actor = "member"
	h := newHouse(t, actor)
	read := func(pattern string, into any) {
		t.Helper()
		a := h.ask(actor, "GET", h.fill(pattern, actor), "")
		if a.Status != 200 {
			t.Fatalf("%s: %d %s", pattern, a.Status, a.Body)
		}
		h.must(json.Unmarshal([]byte(a.Body), into))
	}
	var env map[string]json.RawMessage
	read("/api/environments/:id", &env)
	if string(env["config"]) != "{}" || string(env["envVars"]) != "{}" || string(env["metadata"]) != "null" || string(env["name"]) != `"box"` {
		t.Errorf("environment %s", env)
	}
	var lease map[string]json.RawMessage
	read("/api/environment-leases/:id", &lease)
	if string(lease["providerLeaseId"]) != "null" || string(lease["metadata"]) != "null" || string(lease["receipt"]) != "null" || string(lease["status"]) != `"released"` {
		t.Errorf("lease %s", lease)
	}
	var run api.Run
	read("/api/runs/:id", &run)
	if run.Host != nil || run.Environment.Target != "ssh" || run.Environment.Name != "box" || len(run.Command) != 1 || run.Lease == nil || run.Lease.ProviderLeaseID != nil {
		t.Errorf("run %+v", run)
	}
	var probe api.ProbeResult
	read("/api/probes/:id", &probe)
	if !probe.OK || probe.Details.Target != "ssh" || probe.Details.Host != nil || probe.Summary == "" {
		t.Errorf("probe %+v", probe)
	}
	of := *h
	h = h.ofSandbox()
	if read("/api/probes/:id", &probe); probe.Details.Image != nil || probe.Recorded == nil || *probe.Recorded || probe.Diagnostic.Code != "mutable_image" || probe.Details.LeaseID == nil {
		t.Errorf("a sandbox's probe %+v", probe)
	}
	if read("/api/environments/:id", &env); string(env["config"]) != `{"provider":"docker"}` {
		t.Errorf("a sandbox's config %s", env["config"])
	}
	h = &of
	var leases []api.Lease
	if read("/api/environment-leases", &leases); len(leases) != 2 || leases[0].ProviderLeaseID != nil || leases[1].ProviderLeaseID != nil {
		t.Errorf("leases %+v", leases)
	}
	var list []json.RawMessage
	for query, want := range map[string]int{"zebra": 0, "box": 1, "ssh": 0} {
		if read("/api/companies/:c/environments?q="+query, &list); len(list) != want {
			t.Errorf("a search for %s finds %d", query, len(list))
		}
	}
}

// TestListsAreKeptApart: one that was made for an admin reaches no member, nor the
// reverse, and nobody who may not read it.
func TestListsAreKeptApart(t *testing.T) {
	h := newHouse(t, "member")
	for _, pattern := range []string{"/api/companies/:c/environments", "/company/settings/instance/environments"} {
		path := h.fill(pattern, "")
		for range 2 {
			for _, actor := range []string{"instance admin", "member", "company admin", "instance admin", "member"} {
				a := h.ask(actor, "GET", path, "")
				if whole := strings.Contains(a.Body, "zebra.example"); a.Status != 200 || whole != (actor == "instance admin") {
					t.Errorf("%s as %s: %d, whole: %t", path, actor, a.Status, whole)
				}
			}
			for _, actor := range []string{"nobody", "agent"} {
				if a := h.ask(actor, "GET", path, ""); strings.Contains(a.Body, "box") || a.Status == 200 {
					t.Errorf("%s as %s: %d", path, actor, a.Status)
				}
			}
		}
		random := strings.ReplaceAll(path, h.ids[":c"], "0190aaaa-0000-7000-8000-000000000001")
		if random != path {
			if a := h.ask("instance admin", "GET", random, ""); a.Status != 404 {
				t.Errorf("a company that does not exist: %d", a.Status)
			}
		}
	}
}
