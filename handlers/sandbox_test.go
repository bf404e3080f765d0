package handlers

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"berth/environment"
	"berth/handlers/api"

	"github.com/google/uuid"
)

// pinned is an image that stays.
const pinned = "registry.test:5000/team/app@" + scriptedDigest

// createSandbox makes a sandbox environment and returns it.
func (f *front) createSandbox(name, image, more string) api.Environment {
	f.t.Helper()
	var env api.Environment
	f.want(f.call("POST", f.environments(), `{"name":"`+name+`","driver":"sandbox","config":{"provider":"docker","image":"`+image+`"`+more+`}}`), 201, &env)
	return env
}

// testSandbox is the result of a saved sandbox's probe.
func (f *front) testSandbox(id uuid.UUID, query string) api.ProbeResult {
	f.t.Helper()
	var got api.ProbeResult
	f.want(f.call("POST", "/api/environments/"+id.String()+"/probe"+query, ""), 200, &got)
	return got
}

// TestCapabilities_sandbox: what a provider can do and its settings, without
// anything being made.
func TestCapabilities_sandbox(t *testing.T) {
	f := newFront(t)
	var got api.Capabilities
	f.want(f.call("GET", f.environments()+"/capabilities", ""), 200, &got)
	docker, is := got.SandboxProviders["docker"]
	if !is || got.Drivers["sandbox"] != "supported" || got.Adapters[0].SandboxProviders["docker"] != "supported" || got.Adapters[0].Drivers["sandbox"] != "supported" {
		t.Fatalf("%+v", got)
	}
	want := api.SandboxProvider{Status: "supported", SupportsSavedProbe: true, SupportsUnsavedProbe: true, SupportsRunExecution: true,
		SupportsReusableLeases: true, DisplayName: "Docker", Description: "Containers of an engine.", Source: "builtin",
		SupportsImageIdentity: true, SupportsListing: true, StartupBudgetMs: 120_000}
	schema := docker.ConfigSchema
	if docker.ConfigSchema, docker.InteractiveSetupConnectionTypes = nil, nil; !equalJSON(t, docker, want) {
		t.Errorf("got %+v", docker)
	}
	if !strings.Contains(string(schema), `"memoryMiB"`) || got.DriverAbilities["sandbox/docker"].DisplayName != "Docker" || got.DriverAbilities["ssh"].DisplayName != "SSH" {
		t.Errorf("schema %s, abilities %+v", schema, got.DriverAbilities)
	}
	if _, ever := f.sandbox.held(); ever != 0 {
		t.Errorf("%d sandboxes were made", ever)
	}
}

// TestCapabilities_unsupported: a provider that cannot be used says why, and where
// there is no other there are no sandboxes.
func TestCapabilities_unsupported(t *testing.T) {
	got := capabilitiesShape([]environment.Capabilities{
		{Driver: "ssh", Exec: true},
		{Driver: "sandbox", Provider: "fake", Exec: true, TemplateCapture: true, InteractiveSetup: true, Unsupported: "It is for --dev."},
	})
	fake := got.SandboxProviders["fake"]
	if got.Drivers["sandbox"] != "unsupported" || got.Adapters[0].Drivers["sandbox"] != "unsupported" || got.Adapters[0].SandboxProviders["fake"] != "unsupported" ||
		fake.Status != "unsupported" || fake.Reason == nil || *fake.Reason != "It is for --dev." {
		t.Errorf("%+v", got)
	}
	if string(fake.ConfigSchema) != "null" || fake.TemplateRefKind == nil || len(fake.InteractiveSetupConnectionTypes) != 1 {
		t.Errorf("%+v", fake)
	}
	if got.Drivers["ssh"] != "supported" || got.Adapters[0].Drivers["ssh"] != "supported" {
		t.Errorf("%+v", got.Drivers)
	}
}

func equalJSON(t *testing.T, a, b any) bool {
	t.Helper()
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	if errX != nil || errY != nil {
		t.Fatal(errX, errY)
	}
	return string(x) == string(y)
}

// TestSandboxEnvironment: secrets go in under their name and come out as
// references; a budget comes and goes as a whole.
func TestSandboxEnvironment(t *testing.T) {
	f := newFront(t)
	env := f.createSandbox("box", "app:1", `,"registryUsername":"u","registryPassword":"canary-9"`)
	var config map[string]json.RawMessage
	if err := json.Unmarshal(env.Config, &config); err != nil || config["registryPasswordSecretRef"] == nil || config["registryPassword"] != nil || strings.Contains(string(env.Config), "canary") {
		t.Errorf("config %s, %v", env.Config, err)
	}
	if env.Budget != nil || env.Managed {
		t.Errorf("a new one has %+v, managed %v", env.Budget, env.Managed)
	}
	path := "/api/environments/" + env.ID.String()
	steps := []struct {
		name, body string
		status     int
		says       string
	}{
		{"a budget", `{"budget":{"accountLabel":"team","maxLeases":2}}`, 200, `"budget":{"accountLabel":"team","maxLeases":2,"leaseMinutesPerDay":0,"note":""}`},
		{"another change leaves it", `{"description":"d"}`, 200, `"accountLabel":"team"`},
		{"it is replaced as a whole", `{"budget":{"leaseMinutesPerDay":60,"note":"n"}}`, 200, `"budget":{"accountLabel":"","maxLeases":0,"leaseMinutesPerDay":60,"note":"n"}`},
		{"a negative one", `{"budget":{"maxLeases":-1}}`, 422, `"budget.maxLeases"`},
		{"one of another type", `{"budget":{"maxLeases":"2"}}`, 400, `budget.maxLeases`},
		{"an unknown limit", `{"budget":{"leases":2}}`, 400, `budget.leases`},
		{"no budget", `{"budget":null}`, 200, `"budget":null`},
		{"an unknown setting", `{"config":{"memory":1}}`, 422, `"config.memory"`},
		{"a setting out of range", `{"config":{"memoryMiB":1}}`, 422, `"config.memoryMiB"`},
		{"a setting", `{"config":{"memoryMiB":64}}`, 200, `"memoryMiB":64`},
		{"null takes it away", `{"config":{"memoryMiB":null}}`, 200, `"registryUsername":"u"`},
		{"what it reads back", `{"config":` + string(env.Config) + `}`, 200, `registryPasswordSecretRef`},
	}
	for _, step := range steps {
		if a := f.call("PATCH", path, step.body); a.Status != step.status || !strings.Contains(a.Body, step.says) {
			t.Errorf("%s: %d %s, want %d and %s", step.name, a.Status, a.Body, step.status, step.says)
		}
	}
	if a := f.call("POST", f.environments(), `{"name":"b","driver":"sandbox","config":{"provider":"docker","image":"a"},"budget":{"maxLeases":1}}`); a.Status != 201 || !strings.Contains(a.Body, `"maxLeases":1`) {
		t.Errorf("made with a budget: %d %s", a.Status, a.Body)
	}
}

// TestReservedMetadata is refused wherever a body may carry it, and changes
// nothing.
func TestReservedMetadata(t *testing.T) {
	f := newFront(t)
	env := f.createSandbox("box", pinned, "")
	path := "/api/environments/" + env.ID.String()
	f.want(f.call("PATCH", path, `{"metadata":{"team":"a"}}`), 200, nil)
	before := f.call("GET", path, "").Body
	for _, key := range []string{"platformQualification", "managedByPaperclip", "defaultForInstance"} {
		body := `"driver":"sandbox","config":{"provider":"docker","image":"a"},"metadata":{"` + key + `":{"status":"valid"}}`
		for _, step := range []struct{ method, path, body string }{
			{"POST", f.environments(), `{"name":"x",` + body + `}`},
			{"PATCH", path, `{"metadata":{"` + key + `":true,"team":"b"}}`},
			{"POST", f.environments() + "/probe-config", `{` + body + `}`},
			{"POST", f.environments() + "/probe-config", `{"environmentId":"` + env.ID.String() + `",` + body + `}`},
		} {
			a := f.call(step.method, step.path, step.body)
			if a.Status != http.StatusUnprocessableEntity || !strings.Contains(a.Body, `"metadata.`+key+`"`) {
				t.Errorf("%s %s with %s: %d %s", step.method, step.path, key, a.Status, a.Body)
			}
		}
		if a := f.call("POST", "/api/environments/check", `{"name":"x",`+body+`}`); !strings.Contains(a.Body, `"metadata.`+key+`"`) {
			t.Errorf("check of %s: %d %s", key, a.Status, a.Body)
		}
	}
	if after := f.call("GET", path, "").Body; after != before {
		t.Errorf("it was %s\nand is %s", before, after)
	}
	if _, ever := f.sandbox.held(); ever != 0 {
		t.Errorf("%d sandboxes were made", ever)
	}
}

// TestRunInASandbox: the run says where it is; a native one needs a record, and
// nothing is made without.
func TestRunInASandbox(t *testing.T) {
	f := newFront(t)
	f.sandbox.open()
	env := f.createSandbox("box", pinned, "")
	id := env.ID.String()
	run := f.ended(f.startRun(id, `,"native":true`))
	if !run.Native || run.Status != "failed" || run.Failure == nil || run.Failure.Code != environment.CodeQualificationMissing {
		t.Errorf("a native run without a record: %+v, %+v", run, run.Failure)
	}
	if _, ever := f.sandbox.held(); ever != 0 {
		t.Errorf("%d sandboxes were made for it", ever)
	}
	run = f.ended(f.startRun(id, ""))
	if run.Native || run.Status != "succeeded" || run.Environment.Provider != "docker" || run.Host == nil || run.Host.Name != "zebra-container" {
		t.Errorf("an ordinary run: %+v, %+v", run, run.Failure)
	}
	f.testSandbox(env.ID, "")
	if run = f.ended(f.startRun(id, `,"native":true`)); !run.Native || run.Status != "succeeded" {
		t.Errorf("a native run with a record: %+v, %+v", run, run.Failure)
	}
	eventually(t, "the sandboxes to go", func() bool { now, _ := f.sandbox.held(); return now == 0 })
}

// TestBudgetExhausted: the run that is one too many says which limit, and nothing is
// made for it.
func TestBudgetExhausted(t *testing.T) {
	f := newFront(t)
	env := f.createSandbox("box", pinned, "")
	id := env.ID.String()
	f.want(f.call("PATCH", "/api/environments/"+id, `{"budget":{"maxLeases":1}}`), 200, nil)
	first := f.startRun(id, "")
	eventually(t, "the first run to work", func() bool {
		f.want(f.call("GET", "/api/runs/"+first.ID.String(), ""), 200, &first)
		return first.Status == string(environment.RunRunning)
	})
	second := f.ended(f.startRun(id, ""))
	if second.Status != "failed" || second.Failure == nil || second.Failure.Code != environment.CodeBudgetExhausted || second.Failure.Remediation == "" {
		t.Errorf("%+v, %+v", second, second.Failure)
	}
	if a := f.call("POST", "/api/environments/"+id+"/probe", ""); a.Status != 409 || !strings.Contains(a.Body, environment.CodeBudgetExhausted) {
		t.Errorf("a test: %d %s", a.Status, a.Body)
	}
	if _, ever := f.sandbox.held(); ever != 1 {
		t.Errorf("%d sandboxes were made, want that of the first run", ever)
	}
	f.sandbox.open()
	f.ended(first)
}

// TestManagedSandbox: all but its variables is locked, and it says so.
func TestManagedSandbox(t *testing.T) {
	f := newFront(t)
	err := f.server.Catalogue.ProvisionManaged(t.Context(), &environment.ManagedSandbox{Name: "Managed", Provider: "docker",
		Config: map[string]json.RawMessage{"image": json.RawMessage(`"app:1"`)}})
	if err != nil {
		t.Fatal(err)
	}
	var all []api.Environment
	f.want(f.call("GET", f.environments()+"?q=Managed", ""), 200, &all)
	if len(all) != 1 || !all[0].Managed {
		t.Fatalf("%+v", all)
	}
	path := "/api/environments/" + all[0].ID.String()
	for _, step := range []struct {
		method, body string
		status       int
	}{
		{"PATCH", `{"name":"mine"}`, 409}, {"PATCH", `{"config":{"image":"app:2"}}`, 409}, {"PATCH", `{"budget":{"maxLeases":9}}`, 409},
		{"PATCH", `{"status":"archived"}`, 409}, {"DELETE", "", 409}, {"PATCH", `{"envVars":{"A":"b"}}`, 200},
	} {
		a := f.call(step.method, path, step.body)
		if a.Status != step.status || step.status == 409 && !strings.Contains(a.Body, environment.CodeEnvironmentManaged) {
			t.Errorf("%s %s: %d %s", step.method, step.body, a.Status, a.Body)
		}
	}
	if a := f.call("POST", f.environments(), `{"name":"x","driver":"sandbox","managed":true,"config":{"provider":"docker","image":"a"}}`); a.Status != 400 {
		t.Errorf("one that says it is: %d %s", a.Status, a.Body)
	}
	got := f.testSandbox(all[0].ID, "")
	if got.Recorded == nil || *got.Recorded || got.Diagnostic.Code != environment.QualManagedNotNeeded {
		t.Errorf("a test of it: %+v", got.Diagnostic)
	}
}
