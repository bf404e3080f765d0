package cli_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/environment"
	"berth/handlers/api"

	"github.com/google/uuid"
)

const leaseID = "0190aaaa-0000-7000-8000-0000000000b0"

const sandboxSchema = `{"type":"object","properties":{
	"provider":{"const":"docker"},
	"image":{"type":"string","title":"Image","x-order":1},
	"engine":{"type":"string","title":"Engine","x-order":2},
	"pull":{"enum":["missing","always"],"title":"Pull","default":"missing","x-order":3},
	"memoryMiB":{"type":"integer","title":"Memory","x-unit":"MiB","x-order":4},
	"cpus":{"type":"number","title":"CPU","x-order":5},
	"reuseLease":{"type":"boolean","title":"Reuse","x-order":6},
	"labels":{"type":"object","title":"Labels","additionalProperties":{"type":"string"},"x-order":7},
	"requiredTools":{"type":"array","title":"Tools","items":{"type":"string"},"x-order":8},
	"tlsCA":{"type":"string","title":"CA","x-multiline":true,"x-order":9},
	"registryPassword":{"type":"string","format":"secret-ref","title":"Password","x-order":10},
	"tlsKey":{"type":"string","format":"secret-ref","title":"Key","x-multiline":true,"x-order":11}}}`

// yard is a server with one provider of sandboxes. It keeps what it was sent.
type yard struct {
	t     *testing.T
	url   string
	env   api.Environment
	sent  map[string]any // the body of the last change
	asked []string       // method and path of each request, without their queries
	query string         // of the last one
}

func newYard(t *testing.T) *yard {
	t.Helper()
	y := &yard{t: t, env: api.Environment{ID: uuid.MustParse(targetID), Name: "Box", Driver: "sandbox", Revision: 4,
		Config: json.RawMessage(`{"provider":"docker","image":"app:1"}`),
		Budget: &api.Budget{AccountLabel: "team", MaxLeases: 2, LeaseMinutesPerDay: 60, Note: "ask first"}}}
	mux := http.NewServeMux()
	give := func(pattern string, v func() any) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			answer(t, w, v())
		})
	}
	lease := func() any {
		code := "engine_unreachable"
		return api.Lease{ID: uuid.MustParse(leaseID), Status: "pending_cleanup", Provider: "docker", EnvironmentName: "Box", OwnerKind: "run",
			CleanupAttempts: 3, CleanupError: &code, Metadata: json.RawMessage("null"), Receipt: json.RawMessage("null")}
	}
	give("GET /api/companies", func() any { return []api.Company{{ID: uuid.MustParse(companyID), Name: "Acme"}} })
	give("GET /api/environments", func() any { return []api.Environment{y.env} })
	give("GET /api/environments/capabilities", y.capabilities)
	give("GET /api/environments/{id}", func() any { return y.env })
	give("GET /api/environments/{id}/usage", func() any { return api.Usage{ActiveLeases: 2, LeaseMinutesToday: 12.25} })
	give("POST /api/environments/{id}/pin-image", func() any { return y.env })
	give("PATCH /api/environments/{id}", func() any { return y.env })
	give("POST /api/companies/{c}/environments", func() any { return y.env })
	give("GET /api/environment-leases", func() any { return []any{lease()} })
	give("GET /api/environment-leases/{id}", lease)
	give("POST /api/environment-leases/{id}/{verb}", lease)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		y.asked, y.query = append(y.asked, r.Method+" "+r.URL.Path), r.URL.RawQuery
		if body, err := io.ReadAll(r.Body); err == nil && len(body) > 0 {
			y.sent = map[string]any{}
			if err := json.Unmarshal(body, &y.sent); err != nil {
				t.Error(err)
			}
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	y.url = server.URL
	return y
}

func (y *yard) capabilities() any {
	why := "It is for --dev."
	return api.Capabilities{
		Drivers: map[string]string{"sandbox": "supported"}, Adapters: []api.AdapterSupport{}, DriverAbilities: map[string]environment.Capabilities{},
		SandboxProviders: map[string]api.SandboxProvider{
			"docker": {Status: "supported", DisplayName: "Docker", SupportsRunExecution: true, ConfigSchema: json.RawMessage(sandboxSchema)},
			"fake":   {Status: "unsupported", DisplayName: "Fake", Reason: &why, ConfigSchema: json.RawMessage("null")},
		},
	}
}

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "value")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestSandboxSettings: what is sent is typed as the provider's schema says.
func TestSandboxSettings(t *testing.T) {
	word, text := file(t, "word\n"), file(t, "line\nline\n")
	create := []string{"env", "create", "--name", "x", "--provider", "docker"}
	update := []string{"env", "update", targetID}
	for name, test := range map[string]struct {
		args []string
		want string // the body
	}{
		"new":            {append(create, "--image", "app:1"), `{"name":"x","driver":"sandbox","config":{"provider":"docker","image":"app:1"}}`},
		"an image alone": {[]string{"env", "create", "--name", "x", "--image", "app:1"}, `{"name":"x","driver":"sandbox","config":{"image":"app:1"}}`},
		"of each type": {append(create, "--set", "memoryMiB=64", "--set", "cpus=0.5", "--set", "reuseLease=true", "--set", "pull=always", "--set", "image=a=b"),
			`{"name":"x","driver":"sandbox","config":{"provider":"docker","memoryMiB":64,"cpus":0.5,"reuseLease":true,"pull":"always","image":"a=b"}}`},
		"a map": {append(create, "--set", "labels.team=a", "--set", `labels={"b":"c"}`, "--set", "labels.d.e="),
			`{"name":"x","driver":"sandbox","config":{"provider":"docker","labels":{"team":"a","b":"c","d.e":""}}}`},
		"a list": {append(create, "--set", "requiredTools=git", "--set", `requiredTools=["sh","env"]`),
			`{"name":"x","driver":"sandbox","config":{"provider":"docker","requiredTools":["git","sh","env"]}}`},
		"files": {append(create, "--set-file", "registryPassword="+word, "--set-file", "tlsKey="+text, "--set-file", "tlsCA="+text),
			`{"name":"x","driver":"sandbox","config":{"provider":"docker","registryPassword":"word","tlsKey":"line\nline\n","tlsCA":"line\nline\n"}}`},
		"a budget": {append(create, "--image", "a", "--account", "ours", "--max-leases", "3"),
			`{"name":"x","driver":"sandbox","config":{"provider":"docker","image":"a"},"budget":{"accountLabel":"ours","maxLeases":3}}`},
		"update":                 {append(update, "--set", "memoryMiB=128", "--unset", "cpus"), `{"config":{"memoryMiB":128,"cpus":null}}`},
		"update of the image":    {append(update, "--image", "app:2"), `{"config":{"image":"app:2"}}`},
		"update of the budget":   {append(update, "--max-leases", "5"), `{"budget":{"accountLabel":"team","maxLeases":5,"leaseMinutesPerDay":60,"note":"ask first"}}`},
		"a limit that is none":   {append(update, "--max-leases", "0"), `{"budget":{"accountLabel":"team","maxLeases":0,"leaseMinutesPerDay":60,"note":"ask first"}}`},
		"no budget":              {append(update, "--no-budget"), `{"budget":null}`},
		"a provider that stands": {append(update, "--provider", "docker", "--set", "memoryMiB=1"), `{"config":{"provider":"docker","memoryMiB":1}}`},
	} {
		t.Run(name, func(t *testing.T) {
			y := newYard(t)
			got := command(t, y.url, "", append(test.args, "--json")...)
			want := map[string]any{}
			if err := json.Unmarshal([]byte(test.want), &want); err != nil {
				t.Fatal(err)
			}
			sent, _ := json.Marshal(y.sent)
			wanted, _ := json.Marshal(want)
			if got.code != 0 || string(sent) != string(wanted) || oneJSON(t, got.out)["name"] != "Box" {
				t.Errorf("%s\nsent   %s\nwanted %s", got, sent, wanted)
			}
		})
	}
}

// TestC90_SandboxUsage: wrong usage exits 2, changes nothing, and repeats no value.
func TestC90_SandboxUsage(t *testing.T) {
	const canary = "canary-argv"
	create := []string{"env", "create", "--name", "x", "--provider", "docker"}
	for name, test := range map[string]struct {
		args []string
		says string
	}{
		"no value":                    {append(create, "--set", "image"), "KEY=VALUE"},
		"no file":                     {append(create, "--set-file", "tlsCA="), "KEY=FILE"},
		"a file that is not there":    {append(create, "--set-file", "tlsCA=/nonexistent"), "--set-file tlsCA"},
		"an unknown setting":          {append(create, "--set", "memory="+canary), "there is no setting called memory"},
		"an unknown name to unset":    {[]string{"env", "update", targetID, "--unset", "memory"}, "there is no setting called memory"},
		"no number":                   {append(create, "--set", "memoryMiB="+canary), "a whole number"},
		"no fraction":                 {append(create, "--set", "cpus="+canary), "a number"},
		"neither":                     {append(create, "--set", "reuseLease="+canary), "true or false"},
		"no map":                      {append(create, "--set", "labels="+canary), "labels.NAME=VALUE"},
		"no list":                     {append(create, "--set", "requiredTools=["+canary), "JSON list"},
		"a secret":                    {append(create, "--set", "registryPassword="+canary), "--set-file registryPassword=FILE"},
		"a secret in a map":           {append(create, "--set", "labels.API_TOKEN="+canary), "--secret-env-var API_TOKEN=FILE"},
		"a secret in a whole map":     {append(create, "--set", `labels={"API_TOKEN":"`+canary+`"}`), "--secret-env-var API_TOKEN=FILE"},
		"a password in an address":    {append(create, "--set", "engine=tcp://u:"+canary+"@h:1"), "--set-file engine=FILE"},
		"a provider that is not":      {[]string{"env", "create", "--name", "x", "--provider", "podmen", "--set", "image=a"}, "no sandbox provider called podmen"},
		"no provider":                 {[]string{"env", "create", "--name", "x", "--set", "image=a"}, "--provider"},
		"a budget, and none":          {[]string{"env", "update", targetID, "--no-budget", "--max-leases", "1"}, "--no-budget"},
		"leases that are no number":   {append(create, "--max-leases", "x"), "--max-leases"},
		"destroy without yes":         {[]string{"lease", "destroy", leaseID}, "--yes"},
		"destroy of nothing":          {[]string{"lease", "destroy", "--yes"}, "missing argument LEASE"},
		"destroy of what is no id":    {[]string{"lease", "destroy", "x", "--yes"}, "not a UUID"},
		"leases beyond the limit":     {[]string{"lease", "list", "--limit", "0"}, "--limit"},
		"no lease":                    {[]string{"lease", "retry-cleanup"}, "missing argument LEASE"},
		"pin nothing":                 {[]string{"env", "pin-image"}, "missing argument ENVIRONMENT"},
		"usage of nothing":            {[]string{"env", "usage"}, "missing argument ENVIRONMENT"},
		"native is no text":           {[]string{"run", "--native=x", "--", "true"}, "--native"},
		"two that read all of stdin":  {append(create, "--set-file", "tlsCA=-", "--set-file", "tlsKey=-"), "only one"},
		"a setting of a host's field": {append(create, "--unset", "cpus"), "unknown flag"},
	} {
		t.Run(name, func(t *testing.T) {
			y := newYard(t)
			for _, args := range [][]string{test.args, append([]string{"--json"}, test.args...)} {
				got := command(t, y.url, "", args...)
				all := got.out + got.errOut
				if got.code != 2 || !strings.Contains(all, test.says) || strings.Contains(all, canary) {
					t.Errorf("%q: %s, want %q", args, got, test.says)
				}
				if args[0] == "--json" && oneJSON(t, got.out)["code"] == "" {
					t.Errorf("%q: %s", args, got)
				}
			}
			for _, asked := range y.asked {
				if !strings.HasPrefix(asked, "GET ") {
					t.Errorf("the server was asked to %s", asked)
				}
			}
		})
	}
}

// TestSandboxCommands: which address each asks, and what people read.
func TestSandboxCommands(t *testing.T) {
	const lease, env = "/api/environment-leases/" + leaseID, "/api/environments/" + targetID
	for name, test := range map[string]struct {
		args  []string
		asks  string
		query string
		says  string
	}{
		"usage":         {[]string{"env", "usage", targetID}, "GET " + env + "/usage", "", "12.2"},
		"used up":       {[]string{"env", "usage", targetID}, "GET " + env + "/usage", "", "used up: maxLeases"},
		"pin":           {[]string{"env", "pin-image", targetID, "--revision", "4"}, "POST " + env + "/pin-image", "", "docker app:1"},
		"get":           {[]string{"env", "get", targetID}, "GET " + env, "", "2 leases at once, 60 minutes a day"},
		"list":          {[]string{"env", "list"}, "GET /api/environments", "", "docker app:1"},
		"capabilities":  {[]string{"env", "capabilities"}, "GET /api/environments/capabilities", "", "memoryMiB"},
		"unsupported":   {[]string{"env", "capabilities"}, "GET /api/environments/capabilities", "", "It is for --dev."},
		"leases":        {[]string{"lease", "list", "--dead", "--owner", "run"}, "GET /api/environment-leases", "dead=1&limit=50&ownerKind=run", "try 3 failed: engine_unreachable"},
		"leases held":   {[]string{"lease", "ls", "--held", "--env", targetID}, "GET /api/environment-leases", "environmentId=" + targetID + "&held=1&limit=50", "Box"},
		"lease":         {[]string{"lease", "get", leaseID}, "GET " + lease, "", "pending_cleanup"},
		"release":       {[]string{"lease", "release", leaseID}, "POST " + lease + "/release", "", "pending_cleanup"},
		"retry":         {[]string{"lease", "retry-cleanup", leaseID}, "POST " + lease + "/retry-cleanup", "", "pending_cleanup"},
		"destroy":       {[]string{"lease", "destroy", leaseID, "--yes"}, "POST " + lease + "/destroy", "", "pending_cleanup"},
		"of a company":  {[]string{"lease", "list", "--company", companyID}, "GET /api/environment-leases", "companyId=" + companyID + "&limit=50", "Box"},
		"of a provider": {[]string{"env", "capabilities"}, "GET /api/environments/capabilities", "", "Pull: missing, always"},
	} {
		t.Run(name, func(t *testing.T) {
			y := newYard(t)
			got := command(t, y.url, "", test.args...)
			if got.code != 0 || !strings.Contains(got.out, test.says) || y.asked[len(y.asked)-1] != test.asks || y.query != test.query {
				t.Errorf("%s\nasked %q with %q", got, y.asked, y.query)
			}
			var value any
			if got := command(t, y.url, "", append(test.args, "--json")...); json.Unmarshal([]byte(got.out), &value) != nil || got.code != 0 {
				t.Errorf("as JSON: %s", got)
			}
		})
	}
}
