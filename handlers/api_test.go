package handlers

import (
	"regexp"
	"strings"
	"testing"

	"berth/environment"
	"berth/handlers/api"
)

func TestIDsFiltersAndCursors(t *testing.T) {
	f := newFront(t)
	id := f.create("box")
	list := f.environments()
	const unknown = "018f4e9c-0000-7000-8000-000000000000"
	tests := []struct {
		method, path string
		status       int
		code         string
	}{
		{"GET", list, 200, ""},
		{"GET", "/api/companies/x/environments", 400, "invalid_id"},
		{"GET", "/api/companies/" + unknown + "/environments", 404, "company_not_found"},
		{"GET", "/api/companies/" + unknown, 404, "company_not_found"},
		{"GET", "/api/companies/" + unknown + "/environments/capabilities", 404, "company_not_found"},
		{"GET", "/api/companies/" + unknown + "/runs", 404, "company_not_found"},
		{"GET", "/api/environments/x", 400, "invalid_id"},
		{"GET", "/api/environments/" + strings.ReplaceAll(unknown, "-", ""), 400, "invalid_id"},
		{"GET", "/api/environments/%7B" + unknown + "%7D", 400, "invalid_id"},
		{"GET", "/api/environments/" + unknown, 404, "environment_not_found"},
		{"GET", "/api/environments/" + strings.ToUpper(id), 200, ""},
		{"PATCH", "/api/environments/x", 400, "invalid_id"},
		{"DELETE", "/api/environments/x", 400, "invalid_id"},
		{"DELETE", "/api/environments/" + unknown, 404, "environment_not_found"},
		{"DELETE", "/api/environments/" + id + "?reassignTo=x", 400, "invalid_id"},
		{"GET", "/api/environments/x/leases", 400, "invalid_id"},
		{"GET", "/api/environments/" + unknown + "/leases", 404, "environment_not_found"},
		{"GET", "/api/environments/" + id + "/leases?status=held", 400, "invalid_query"},
		{"GET", "/api/environments/" + id + "/leases?status=active", 200, ""},
		{"GET", "/api/environments/" + unknown + "/probes", 404, "environment_not_found"},
		{"GET", "/api/environments/" + id + "/probes", 200, ""},
		{"POST", "/api/environments/x/probe", 400, "invalid_id"},
		{"POST", "/api/environments/" + id + "/probe?companyId=x", 400, "invalid_id"},
		{"POST", "/api/environments/" + unknown + "/probe", 404, "environment_not_found"},
		{"GET", "/api/probes/" + unknown, 404, "probe_not_found"},
		{"GET", "/api/probes/" + unknown + "/events", 404, "probe_not_found"},
		{"GET", "/api/runs/x", 400, "invalid_id"},
		{"GET", "/api/runs/" + unknown, 404, "run_not_found"},
		{"GET", "/api/runs/" + unknown + "/log", 404, "run_not_found"},
		{"GET", "/api/runs/" + unknown + "/events", 404, "run_not_found"},
		{"GET", "/api/runs/" + unknown + "/workspace", 404, "run_not_found"},
		{"POST", "/api/runs/" + unknown + "/cancel", 404, "run_not_found"},
		{"GET", "/api/environment-leases/" + unknown, 404, "lease_not_found"},
		{"POST", "/api/environment-leases/" + unknown + "/release", 404, "lease_not_found"},
		{"GET", list + "?limit=0", 400, "invalid_query"},
		{"GET", list + "?limit=1", 200, ""},
		{"GET", list + "?limit=1000", 200, ""},
		{"GET", list + "?limit=1001", 400, "invalid_query"},
		{"GET", list + "?limit=-1", 400, "invalid_query"},
		{"GET", list + "?limit=ten", 400, "invalid_query"},
		{"GET", list + "?status=gone", 400, "invalid_query"},
		{"GET", list + "?status=archived", 200, ""},
		{"GET", list + "?driver=ftp", 400, "invalid_query"},
		{"GET", list + "?driver=local", 200, ""},
		{"GET", list + "?health=fine", 400, "invalid_query"},
		{"GET", list + "?health=untested", 200, ""},
		{"GET", list + "?sort=colour", 400, "invalid_query"},
		{"GET", list + "?sort=tested", 200, ""},
		{"GET", list + "?q=%00", 400, "invalid_query"},
		{"GET", list + "?q=%ff", 400, "invalid_query"},
		{"GET", list + "?cursor=garbage", 400, "invalid_cursor"},
		{"GET", list + "?cursor=%00", 400, "invalid_cursor"},
		{"GET", "/api/companies?cursor=garbage", 400, "invalid_cursor"},
		{"GET", "/api/activity?cursor=garbage", 400, "invalid_cursor"},
		{"GET", "/api/companies/" + f.company.String() + "/runs?cursor=garbage", 400, "invalid_cursor"},
		{"GET", "/api/companies/" + f.company.String() + "/runs?status=odd", 400, "invalid_query"},
		{"GET", "/api/companies/" + f.company.String() + "/runs?environmentId=x", 400, "invalid_id"},
	}
	for _, tt := range tests {
		body := ""
		if tt.method == "PATCH" {
			body = "{}"
		}
		a := f.call(tt.method, tt.path, body)
		if a.Status != tt.status || (tt.code != "" && !strings.Contains(a.Body, `"code":"`+tt.code+`"`)) {
			t.Errorf("%s %s: status %d, want %d %s: %.200s", tt.method, tt.path, a.Status, tt.status, tt.code, a.Body)
		}
	}
}

func TestListsHavePages(t *testing.T) {
	f := newFront(t)
	for _, name := range []string{"a", "b", "c"} {
		f.create(name)
	}
	var names []string
	path := f.environments() + "?limit=2&sort=name&driver=ssh"
	for range 3 {
		var page []api.Environment
		a := f.want(f.call("GET", path, ""), 200, &page)
		for _, env := range page {
			names = append(names, env.Name)
		}
		link := a.Header.Get("Link")
		if link == "" {
			break
		}
		path, _, _ = strings.Cut(strings.TrimPrefix(link, "<"), ">")
		if !strings.HasSuffix(link, `>; rel="next"`) || !strings.Contains(path, "sort=name") {
			t.Fatalf("Link is %q", link)
		}
	}
	if got := strings.Join(names, ""); got != "abc" {
		t.Errorf("pages gave %q, want abc", got)
	}
	if a := f.call("GET", f.environments()+"?driver=sandbox", ""); a.Body != "[]\n" {
		t.Errorf("an empty list is %q, want []", a.Body)
	}
}

func TestListIsNeverStale(t *testing.T) {
	f := newFront(t)
	id := f.create("before")
	for range 3 {
		if a := f.call("GET", f.environments(), ""); !strings.Contains(a.Body, `"before"`) {
			t.Fatalf("list %s", a.Body)
		}
	}
	f.want(f.call("PATCH", "/api/environments/"+id, `{"name":"after"}`), 200, nil)
	if a := f.call("GET", f.environments(), ""); !strings.Contains(a.Body, `"after"`) || strings.Contains(a.Body, `"before"`) {
		t.Errorf("after a rename the list is %s", a.Body)
	}
}

func TestETagAndIfMatch(t *testing.T) {
	f := newFront(t)
	id := f.create("box")
	path := "/api/environments/" + id
	tag := f.call("GET", path, "").Header.Get("ETag")
	if tag != `"1"` {
		t.Fatalf("ETag of a new row is %q", tag)
	}
	tests := []struct {
		name, ifMatch string
		status        int
		code          string
	}{
		{"weak", `W/"1"`, 400, "invalid_if_match"},
		{"bare", `1`, 400, "invalid_if_match"},
		{"word", `"one"`, 400, "invalid_if_match"},
		{"empty tag", `""`, 400, "invalid_if_match"},
		{"list", `"1", "2"`, 400, "invalid_if_match"},
		{"too large", `"99999999999999999999"`, 400, "invalid_if_match"},
		{"current", `"1"`, 200, ""},
		{"stale", `"1"`, 412, "stale_revision"},
		{"future", `"9"`, 412, "stale_revision"},
		{"any", `*`, 200, ""},
	}
	for i, tt := range tests {
		a := f.call("PATCH", path, `{"description":"`+strings.Repeat("x", i+1)+`"}`, "If-Match: "+tt.ifMatch)
		if a.Status != tt.status || !strings.Contains(a.Body, tt.code) {
			t.Errorf("%s %s: status %d, want %d %s: %s", tt.name, tt.ifMatch, a.Status, tt.status, tt.code, a.Body)
		}
		if tt.name == "current" && a.Header.Get("ETag") != `"2"` {
			t.Errorf("ETag after a change is %q", a.Header.Get("ETag"))
		}
		if tt.name == "stale" && (!strings.Contains(a.Body, `"current":2`) || !regexp.MustCompile(`"changedAt":"[-0-9T:]{19}\.\d{3}Z"`).MatchString(a.Body)) {
			t.Errorf("a stale write does not tell the current revision and its time: %s", a.Body)
		}
	}
	if a := f.call("DELETE", path, "", `If-Match: "1"`); a.Status != 412 {
		t.Errorf("a stale delete: %d %s", a.Status, a.Body)
	}
	var gone api.Environment
	f.want(f.call("DELETE", path, "", `If-Match: "3"`), 200, &gone)
	if gone.ID.String() != id {
		t.Errorf("delete answers %+v, want the row that is gone", gone)
	}
}

func TestEnvironmentShape(t *testing.T) {
	f := newFront(t)
	a := f.want(f.call("POST", f.environments(), `{"name":"box","driver":"ssh","config":{"host":"box.test","privateKey":"KEY"},"envVars":{"A":"1","B":{"type":"secret","value":"s"}}}`), 201, nil)
	for _, want := range []string{`"privateKey":null`, `"privateKeySecretRef":{`, `"description":null`, `"metadata":null`, `"lastProbe":null`,
		`"health":"untested"`, `"A":{"type":"plain","value":"1"}`, `"B":{"type":"secret_ref","secretId":"`, `"version":"latest"`} {
		if !strings.Contains(a.Body, want) {
			t.Errorf("no %s in %s", want, a.Body)
		}
	}
	if at := a.Header.Get("Location"); !strings.HasPrefix(at, "/api/environments/") {
		t.Errorf("Location is %q", at)
	}
	for name, body := range map[string]string{
		"a second local": `{"name":"other","driver":"local"}`,
		"a taken name":   `{"name":" BOX ","driver":"ssh","config":{"host":"box.test"}}`,
	} {
		if a := f.call("POST", f.environments(), body); a.Status != 409 {
			t.Errorf("%s: status %d, want 409: %s", name, a.Status, a.Body)
		}
	}
	if a := f.call("POST", f.environments(), `{"name":"x","driver":"ssh","config":{"host":"a\u0000b"}}`); a.Status != 422 {
		t.Errorf("NUL in a config: %d %s", a.Status, a.Body)
	}
}

func TestSettings(t *testing.T) {
	f := newFront(t)
	id := f.create("box")
	tests := []struct {
		path, body string
		status     int
		want       string
	}{
		{"", `{"defaultEnvironmentId":"` + id + `"}`, 200, `"defaultEnvironmentId":"` + id + `"`},
		{"", `{}`, 200, `"defaultEnvironmentId":"` + id + `"`},
		{"", `{"defaultEnvironmentId":null}`, 200, `"defaultEnvironmentId":null`},
		{"", `{"defaultEnvironmentId":"x"}`, 400, "defaultEnvironmentId"},
		{"", `{"defaultEnvironmentId":"018f4e9c-0000-7000-8000-000000000000"}`, 422, "environment_not_found"},
		{"", `{"enableEnvironments":true}`, 400, "unknown_key"},
		{"", `{"maxRunTimeoutSec":null}`, 400, "maxRunTimeoutSec"},
		{"/experimental", `{"enableEnvironments":false}`, 200, `"enableEnvironments":false`},
		{"/experimental", `{"enableEnvironments":null}`, 400, "enableEnvironments"},
		{"/experimental", `{"enableEnvironments":"yes"}`, 400, "enableEnvironments"},
	}
	for _, tt := range tests {
		a := f.call("PATCH", "/api/instance/settings"+tt.path, tt.body)
		if a.Status != tt.status || !strings.Contains(a.Body, tt.want) {
			t.Errorf("%s %s: %d %s, want %d and %s", tt.path, tt.body, a.Status, a.Body, tt.status, tt.want)
		}
		if a.Status == 200 {
			if again := f.call("GET", "/api/instance/settings"+tt.path, ""); again.Body != a.Body {
				t.Errorf("GET %s, PATCH answered %s", again.Body, a.Body)
			}
		}
	}
}

func TestCapabilitiesImpactAndKeys(t *testing.T) {
	f := newFront(t)
	id := f.create("box")
	tests := []struct {
		method, path, body string
		status             int
		want               []string
	}{
		{"GET", f.environments() + "/capabilities", "", 200, []string{`"adapters":[{"adapterType":"claude_local"`, `"local":"supported"`, `"ssh":"supported"`, `"sandbox":"supported"`, `"plugin":"unsupported"`, `"sandboxProviders":{"docker":"supported"}`, `"scanHostKey":true`}},
		{"GET", "/api/environments/" + id + "/delete-blast-radius", "", 200, []string{`"canDelete":true`, `"deleteBlockedReasons":[]`, `"hasActiveRuntimeUse":false`}},
		{"POST", "/api/environments/check", `{"driver":"ssh","name":"x","config":{}}`, 200, []string{`"ok":false`, `"field":"config.host"`}},
		{"POST", "/api/environments/check", `{"driver":"ssh","name":"x","config":{"host":"a.test"}}`, 200, []string{`"ok":true`, `"fields":[]`, `"host":"a.test"`}},
		{"POST", "/api/environments/scan-host-key", `{"host":"box.test","port":22}`, 200, []string{`[{"type":"ssh-ed25519","fingerprint":"SHA256:abc"`}},
		{"POST", "/api/environments/scan-host-key", `{"host":"box.test","port":"22"}`, 400, []string{"port"}},
		{"POST", "/api/environments/" + id + "/trust-host-key", `{"fingerprint":"SHA256:abc"}`, 200, []string{`"revision":2`}},
		{"POST", "/api/environments/" + id + "/trust-host-key", `{"finger":"SHA256:abc"}`, 400, []string{"unknown_key"}},
		{"POST", "/api/ssh-keys/generate", "", 201, []string{`"privateKey":"PRIVATE"`, `"publicKey":"ssh-ed25519 AAAA"`}},
		{"POST", "/api/ssh-keys/inspect", `{"key":"K"}`, 200, []string{`"type":"ssh-ed25519"`}},
		{"POST", "/api/ssh-config/read", `{"text":"Host x"}`, 200, []string{`"host":"box.test"`, `"ignored":[]`}},
		{"GET", "/api/activity?entityId=" + id, "", 200, []string{`"environment.created"`, `"actorType":"local_operator"`, `"requestId":"`}},
	}
	for _, tt := range tests {
		a := f.call(tt.method, tt.path, tt.body)
		if a.Status != tt.status {
			t.Errorf("%s %s: status %d, want %d: %s", tt.method, tt.path, a.Status, tt.status, a.Body)
		}
		for _, want := range tt.want {
			if !strings.Contains(a.Body, want) {
				t.Errorf("%s %s: no %s in %s", tt.method, tt.path, want, a.Body)
			}
		}
	}
}

func TestKindsHaveStatuses(t *testing.T) {
	for kind, status := range map[environment.Kind]int{
		environment.KindUnreadable: 400, environment.KindInvalid: 422, environment.KindNotFound: 404, environment.KindConflict: 409,
		environment.KindStale: 412, environment.KindForbidden: 403, environment.KindUnauthenticated: 401, environment.KindUnavailable: 503,
		environment.KindUnsupported: 422, environment.KindTimeout: 504, environment.KindInternal: 500, "": 500,
	} {
		if got := statusOf(kind); got != status {
			t.Errorf("%s is %d, want %d", kind, got, status)
		}
	}
}

// TestPaperclipClient sends what Paperclip's own command line sends: a fetch of
// Node's with its one Sec-Fetch header, and {} where there is nothing to say.
func TestPaperclipClient(t *testing.T) {
	f := newFront(t)
	f.driver.open()
	node := []string{"Accept: application/json", "Accept-Language: *", "Sec-Fetch-Mode: cors", "User-Agent: node"}
	var env struct{ ID, Name string }
	f.want(f.call("POST", f.environments(), `{"name":"box","description":null,"driver":"ssh","config":{"host":"box.test"},"envVars":{},"metadata":null}`, node...), 201, &env)
	path := "/api/environments/" + env.ID
	f.want(f.call("GET", f.environments(), "", node...), 200, &[]api.Environment{})
	f.want(f.call("GET", f.environments()+"/capabilities", "", node...), 200, &api.Capabilities{})
	f.want(f.call("GET", path, "", node...), 200, &env)
	f.want(f.call("PATCH", path, `{"name":"crate"}`, node...), 200, &env)
	if env.Name != "crate" {
		t.Errorf("name %q", env.Name)
	}
	f.want(f.call("POST", path+"/probe", `{}`, node...), 200, &api.ProbeResult{})
	f.want(f.call("POST", f.environments()+"/probe-config", `{"name":"x","description":null,"driver":"ssh","config":{"host":"a.test"},"envVars":{},"metadata":null}`, node...), 200, &api.ProbeResult{})
	f.want(f.call("GET", path+"/leases", "", node...), 200, &[]api.Lease{})
	f.want(f.call("DELETE", path, "", node...), 200, &env)
}

// TestC81_OneNameForOne creates ten environments of one name at the same moment.
func TestC81_OneNameForOne(t *testing.T) {
	f := newFront(t)
	statuses := make(chan int, 10)
	for range cap(statuses) {
		go func() {
			statuses <- f.call("POST", f.environments(), `{"name":"Build Box","driver":"ssh","config":{"host":"a.test"}}`).Status
		}()
	}
	got := map[int]int{}
	for range cap(statuses) {
		got[<-statuses]++
	}
	if got[201] != 1 || got[409] != 9 {
		t.Errorf("statuses %v, want one 201 and nine 409", got)
	}
	for _, name := range []string{"build box", " Build  Box "} {
		if a := f.call("POST", f.environments(), `{"name":"`+name+`","driver":"ssh","config":{"host":"a.test"}}`); a.Status != 409 || !strings.Contains(a.Body, "name_taken") {
			t.Errorf("%q: %d %s, want 409 name_taken", name, a.Status, a.Body)
		}
	}
}
