package handlers

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// The keys that Paperclip's objects have, written down by hand: clients of it read
// them here. Ours come on top.
const (
	environmentKeys = "id name description driver status config envVars metadata createdAt updatedAt"
	leaseKeys       = "id companyId environmentId executionWorkspaceId issueId heartbeatRunId status leasePolicy provider providerLeaseId " +
		"acquiredAt lastUsedAt expiresAt releasedAt failureReason cleanupStatus metadata createdAt updatedAt"
	probeKeys        = "ok driver summary details"
	capabilitiesKeys = "adapters drivers sandboxProviders"
	blastRadiusKeys  = "environmentId canDelete deleteBlockedReasons staticReferences activeRuntimeUse"
	referencesKeys   = "isManagedLocal isInstanceDefault agentDefaultCount executionWorkspaceSelectionCount issueSelectionCount projectSelectionCount secretBindingCount"
	runtimeUseKeys   = "activeLeaseCount activeCustomImageSetupSessionCount hasActiveRuntimeUse pendingCleanupLeaseCount reusableSandboxLeaseCount"
	activityKeys     = "id companyId actorType actorId action entityType entityId details createdAt"
	meKeys           = "user userId isInstanceAdmin companyIds source keyId capabilities"
)

// contractStep is a request and what Paperclip answers it with, in order.
type contractStep struct {
	name, method, path, body string
	status                   int
	keys                     string // of the answer, or of the first of a list
	at                       string // where in the answer the keys are
	says                     string // a part of the answer
}

// contractSteps walk the endpoints of environments, leases, capabilities, probes,
// settings, companies and activity. C and E are the ids of a company and of an
// environment; L is that of Local.
func contractSteps() []contractStep {
	return slices.Concat(contractReads(), contractWrites(), contractRefusals())
}

func contractReads() []contractStep {
	const company = "/api/companies/C"
	return []contractStep{
		{"list", "GET", company + "/environments", "", 200, environmentKeys, "", ""},
		{"list by status and driver", "GET", company + "/environments?status=active&driver=ssh", "", 200, environmentKeys, "", ""},
		{"capabilities", "GET", company + "/environments/capabilities", "", 200, capabilitiesKeys, "", ""},
		{"capabilities of an adapter", "GET", company + "/environments/capabilities", "", 200, "adapterType drivers sandboxProviders", "adapters", ""},
		{"drivers", "GET", company + "/environments/capabilities", "", 200, "local ssh sandbox plugin", "drivers", `"plugin":"unsupported"`},
		{"get", "GET", "/api/environments/E", "", 200, environmentKeys, "", ""},
		{"blast radius", "GET", "/api/environments/E/delete-blast-radius", "", 200, blastRadiusKeys, "", `"canDelete":true`},
		{"what points at it", "GET", "/api/environments/E/delete-blast-radius", "", 200, referencesKeys, "staticReferences", ""},
		{"what uses it", "GET", "/api/environments/E/delete-blast-radius", "", 200, runtimeUseKeys, "activeRuntimeUse", ""},
		{"blast radius of Local", "GET", "/api/environments/L/delete-blast-radius", "", 200, "", "", `"managed_local"`},
		{"leases", "GET", "/api/environments/E/leases", "", 200, leaseKeys, "", ""},
		{"leases by status", "GET", "/api/environments/E/leases?status=failed", "", 200, leaseKeys, "", ""},
		{"lease", "GET", "/api/environment-leases/lease", "", 200, leaseKeys, "", ""},
		{"settings", "GET", "/api/instance/settings", "", 200, "defaultEnvironmentId", "", ""},
		{"flags", "GET", "/api/instance/settings/experimental", "", 200, "enableEnvironments enableManagedSandboxOnly", "", ""},
		{"companies", "GET", "/api/companies", "", 200, "id name createdAt updatedAt", "", ""},
		{"company", "GET", company, "", 200, "id name createdAt updatedAt", "", ""},
		{"activity", "GET", "/api/activity", "", 200, activityKeys, "", ""},
		{"who asks", "GET", "/api/cli-auth/me", "", 200, meKeys, "", `"source":"local_implicit"`},
		{"features", "GET", "/api/cli-auth/me", "", 200, "enableEnvironments executionMode defaultEnvironmentId", "capabilities.features", ""},
	}
}

func contractWrites() []contractStep {
	const list = "/api/companies/C/environments"
	return []contractStep{
		{"probe", "POST", "/api/environments/E/probe", "", 200, probeKeys, "", `"ok":true`},
		{"probe for a company", "POST", "/api/environments/E/probe?companyId=C", "{}", 200, probeKeys, "", ""},
		{"probe of a draft", "POST", list + "/probe-config", `{"driver":"ssh","config":{"host":"a.test"}}`, 200, probeKeys, "", `"draft":true`},
		{"create", "POST", list, `{"name":"new","driver":"ssh","config":{"host":"n.test"}}`, 201, environmentKeys, "", `"status":"active"`},
		{"change", "PATCH", "/api/environments/E", `{"description":"a box"}`, 200, environmentKeys, "", `"description":"a box"`},
		{"archive", "PATCH", "/api/environments/E", `{"status":"archived"}`, 200, environmentKeys, "", `"status":"archived"`},
		{"an archived default", "PATCH", "/api/instance/settings", `{"defaultEnvironmentId":"E"}`, 422, "error code", "", ""},
		{"restore", "PATCH", "/api/environments/E", `{"status":"active"}`, 200, environmentKeys, "", ""},
		{"a default", "PATCH", "/api/instance/settings", `{"defaultEnvironmentId":"E"}`, 200, "", "", `"defaultEnvironmentId":"E"`},
		{"delete of the default", "DELETE", "/api/environments/E", "", 409, "deleteBlockedReasons", "details", `"instance_default"`},
		{"no default", "PATCH", "/api/instance/settings", `{"defaultEnvironmentId":null}`, 200, "", "", `"defaultEnvironmentId":null`},
		{"delete of Local", "DELETE", "/api/environments/L", "", 409, "deleteBlockedReasons", "details", `"managed_local"`},
		{"delete", "DELETE", "/api/environments/E", "", 200, environmentKeys, "", `"id":"E"`},
		{"get what is gone", "GET", "/api/environments/E", "", 404, "error code", "", ""},
		{"the lease outlives it", "GET", "/api/environment-leases/lease", "", 200, leaseKeys, "", `"environmentId":null`},
	}
}

func contractRefusals() []contractStep {
	const list = "/api/companies/C/environments"
	return []contractStep{
		{"an id that is none", "GET", "/api/environments/x", "", 400, "error code", "", "invalid_id"},
		{"an unknown id", "GET", "/api/environments/018f4e9c-0000-7000-8000-000000000000", "", 404, "error code", "", "environment_not_found"},
		{"an unknown filter", "GET", list + "?status=gone", "", 400, "error code details", "", "invalid_query"},
		{"no name", "POST", list, `{"driver":"ssh","config":{"host":"a.test"}}`, 422, "error code details", "", "name"},
		{"a blank name", "POST", list, `{"name":"  ","driver":"ssh","config":{"host":"a.test"}}`, 422, "error code details", "", "name"},
		{"an unknown key", "POST", list, `{"name":"x","driver":"ssh","colour":"red"}`, 400, "error code details", "", "colour"},
		{"an unknown driver", "POST", list, `{"name":"x","driver":"ftp"}`, 422, "error code details", "", "driver"},
		{"a bad config", "POST", list, `{"name":"x","driver":"ssh","config":{}}`, 422, "error code details", "", "config.host"},
		{"a second Local", "POST", list, `{"name":"x","driver":"local"}`, 409, "error code", "", ""},
		{"a name that is taken", "POST", list, `{"name":"NEW ","driver":"ssh","config":{"host":"a.test"}}`, 409, "error code", "", "name_taken"},
		{"reserved metadata", "POST", list, `{"name":"y","driver":"ssh","config":{"host":"a.test"},"metadata":{"managedByPaperclip":true}}`, 422, "error code details", "", "metadata"},
		{"a bad default", "PATCH", "/api/instance/settings", `{"defaultEnvironmentId":"L","more":1}`, 400, "error code details", "", "more"},
	}
}

// TestContract_paperclip walks the table: statuses, bodies and shapes as
// Paperclip's, with our repairs.
func TestContract_paperclip(t *testing.T) {
	f := newFront(t)
	f.driver.open()
	id := f.create("box")
	lease := f.ended(f.startRun(id, "")).Lease.ID.String()
	var local []struct{ ID string }
	f.want(f.call("GET", f.environments()+"?driver=local", ""), 200, &local)
	ids := strings.NewReplacer("/C", "/"+f.company.String(), "=C", "="+f.company.String(), "/E", "/"+id, `"E"`, `"`+id+`"`, "/L", "/"+local[0].ID, `"L"`, `"`+local[0].ID+`"`)
	for _, step := range contractSteps() {
		t.Run(step.name, func(t *testing.T) {
			path := strings.Replace(ids.Replace(step.path), "environment-leases/lease", "environment-leases/"+lease, 1)
			got := f.call(step.method, path, ids.Replace(step.body))
			if got.Status != step.status || !strings.Contains(got.Body, ids.Replace(step.says)) {
				t.Fatalf("%s %s: %d %.400s, want %d and %s", step.method, path, got.Status, got.Body, step.status, step.says)
			}
			for _, key := range strings.Fields(step.keys) {
				if !hasKey(t, got.Body, step.at, key) {
					t.Errorf("%s %s: no %s in %s of %.600s", step.method, path, key, step.at, got.Body)
				}
			}
		})
	}
}

// hasKey looks for a key in an object somewhere in an answer; of a list it looks
// at the first.
func hasKey(t *testing.T, body, at, key string) bool {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(body), &value); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	for _, name := range strings.FieldsFunc(at, func(r rune) bool { return r == '.' }) {
		object, _ := value.(map[string]any)
		value = object[name]
	}
	if list, is := value.([]any); is && len(list) > 0 {
		value = list[0]
	}
	object, _ := value.(map[string]any)
	_, has := object[key]
	return has
}

// TestContract_activity: what is done to environments and settings is in the log,
// with the request that did it, before and after, and no secret.
func TestContract_activity(t *testing.T) {
	f := newFront(t)
	f.driver.open()
	id := f.create("box")
	path := "/api/environments/" + id
	f.want(f.call("PATCH", path, `{"name":"crate","description":"a","config":{"port":2222,"privateKey":"canary-key"},"envVars":{"A":"canary-plain","B":{"type":"secret","value":"canary-secret"}},"metadata":{"x":"canary-meta"}}`), 200, nil)
	f.want(f.call("PATCH", path, `{"envVars":{"A":null,"B":{"type":"secret","value":"canary-other"}}}`), 200, nil)
	f.want(f.call("POST", path+"/trust-host-key", `{"fingerprint":"SHA256:abc"}`), 200, nil)
	f.want(f.call("POST", path+"/probe", ""), 200, nil)
	f.want(f.call("POST", f.environments()+"/probe-config", `{"driver":"ssh","config":{"host":"a.test"}}`), 200, nil)
	f.want(f.call("PATCH", path, `{"status":"archived"}`), 200, nil)
	f.want(f.call("PATCH", path, `{"status":"active"}`), 200, nil)
	f.want(f.call("PATCH", "/api/instance/settings", `{"defaultEnvironmentId":"`+id+`"}`), 200, nil)
	f.want(f.call("PATCH", "/api/instance/settings", `{"defaultEnvironmentId":null,"maxRunTimeoutSec":60}`), 200, nil)
	f.want(f.call("DELETE", path, ""), 200, nil)

	a := f.want(f.call("GET", "/api/activity", ""), 200, nil)
	if strings.Contains(a.Body, "canary") {
		t.Errorf("a secret is in the log: %s", a.Body)
	}
	var entries []struct {
		Action, EntityType, EntityID, RequestID string
		Details                                 map[string]any
	}
	f.want(a, 200, &entries)
	var got []string
	for _, e := range slices.Backward(entries) {
		if e.EntityType == "company" || e.Action == "instance.settings.updated" && fmt.Sprint(e.Details["changedFields"]) == "[enableEnvironments]" {
			continue // the bed's own
		}
		if e.RequestID == "" {
			t.Errorf("%s has no request", e.Action)
		}
		changed := slices.Sorted(maps.Keys(mapAt(e.Details, "changes")))
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s", e.Action, strings.Join(changed, ","))))
	}
	want := []string{
		"environment.created",
		"environment.updated config.port,config.privateKeySecretRef,description,envVars.A,envVars.B,metadata,name",
		"environment.updated envVars.A,envVars.B",
		"environment.host_key_trusted", "environment.probed", "environment.probed_unsaved",
		"environment.archived status", "environment.restored status",
		"instance.settings.updated defaultEnvironmentId", "instance.settings.updated defaultEnvironmentId,maxRunTimeoutSec",
		"environment.deleted",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func mapAt(details map[string]any, key string) map[string]any {
	m, _ := details[key].(map[string]any)
	return m
}
