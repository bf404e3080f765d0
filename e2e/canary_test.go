package e2e

import (
	"bufio"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/drivers/ssh/sshdtest"
)

// canary is what every planted word begins with.
const canary = "canary-4711"

// aviary is a server with a secret word in every place that takes one, and what
// came out of it.
type aviary struct {
	*server
	host  *host
	words []string          // beyond those that begin with canary: keys, tokens, a private key
	heard map[string]string // answers, by what was asked
	ids   map[string]string // of one thing of each kind, by its name in the API's paths
}

// TestC67_CanariesAreNowhere plants a word in every secret and looks for it
// wherever something of Berth can be read: answers, pages, streams, log, process
// lists, the data folder, every table, a backup.
func TestC67_CanariesAreNowhere(t *testing.T) {
	db := newDatabase(t)
	a := &aviary{server: newTeamServer(t, "DATABASE_URL="+db.cluster.URL(), "BERTH_LOG_LEVEL=debug"), host: newHost(t),
		heard: map[string]string{}, ids: map[string]string{}}
	a.furnish(t, "Canaries")
	a.ids["companies"] = a.company
	a.plantPeople(t)
	a.plantSecrets(t)
	a.run(t)
	a.readAll(t)
	a.turnAndDelete(t)
	a.readAll(t)

	for what, text := range a.heard {
		a.silent(t, what, text)
	}
	_, out, _ := a.cli(t, "", "env", "list", "--json")
	a.silent(t, "the command line", out)
	a.silent(t, "the log", a.log.String())
	for _, dir := range []string{a.dir, db.dir} {
		if a.silentBelow(t, dir) == 0 {
			t.Errorf("no file was read below %s", dir)
		}
	}
	a.silentBelow(t, a.host.Home)
	dump, err := exec.Command("pg_dump", "--inserts", "--rows-per-insert=1", db.cluster.URL()).Output()
	if err != nil {
		t.Fatalf("pg_dump: %v", err)
	}
	a.silent(t, "the tables", string(dump))
	if !strings.Contains(string(dump), hex.EncodeToString([]byte("fed\n"))) {
		t.Error("the output of the run is not in the tables: the test looks in an empty place")
	}
	for _, table := range []string{"secret_versions", "secret_accesses", "secret_bindings", "activity", "events", "runs", "people", "api_keys"} {
		if !strings.Contains(string(dump), "INSERT INTO public."+table) {
			t.Errorf("nothing was dumped of %s: the test looks in an empty place", table)
		}
	}
	file := filepath.Join(a.dir, "canary.backup")
	if code, _, errOut := a.cli(t, "", "backup", file, "--database-url", db.cluster.URL(), "--data-dir", filepath.Join(a.dir, "data")); code != 0 {
		t.Fatalf("backup: %d, %s", code, errOut)
	}
	backup, err := exec.Command("pg_restore", "--file=-", file).Output()
	if err != nil || len(backup) < 10_000 {
		t.Fatalf("pg_restore: %d bytes, %v", len(backup), err)
	}
	a.silent(t, "the backup", string(backup))
}

// TestDisguises: what is looked for is found, wherever it begins.
func TestDisguises(t *testing.T) {
	for what, text := range map[string]string{
		"plain": "a " + canary + "-1", "a binary column": hex.EncodeToString([]byte("a " + canary + "-1")),
		"base64, first byte": base64.StdEncoding.EncodeToString([]byte(canary + "-1")), "base64, second byte": base64.StdEncoding.EncodeToString([]byte("a" + canary + "-12")),
		"base64, third byte": base64.URLEncoding.EncodeToString([]byte("ab" + canary)), "base64, fourth byte": base64.StdEncoding.EncodeToString([]byte("abc" + canary + "-1")),
	} {
		if !slices.ContainsFunc(disguises(canary), func(form string) bool { return strings.Contains(text, form) }) {
			t.Errorf("%s: nothing of %q is in %q", what, disguises(canary), text)
		}
	}
}

// silent reports whether a text holds a word, as it is or as binary columns, JSON
// and cookies show it.
func (a *aviary) silent(t *testing.T, what, text string) {
	t.Helper()
	for _, word := range append([]string{canary}, a.words...) {
		for _, form := range disguises(word) {
			if at := strings.Index(text, form); at >= 0 {
				t.Errorf("%s: %q is in it as %q: …%s…", what, word, form, text[max(0, at-80):min(len(text), at+80)])
			}
		}
	}
}

func disguises(word string) []string {
	forms := []string{word, hex.EncodeToString([]byte(word)), url.QueryEscape(word)}
	for shift := range 3 { // base64 of a text that begins so many bytes before the word
		coded := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("x", shift) + word))
		forms = append(forms, coded[(shift*8+5)/6:len(coded)-2])
	}
	return forms
}

// silentBelow reads every file below a folder, and returns how many those were.
func (a *aviary) silentBelow(t *testing.T, dir string) int {
	t.Helper()
	read := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // it went while we look
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return nil
		}
		read++
		for _, word := range append([]string{canary}, a.words...) {
			if strings.Contains(string(b), word) {
				t.Errorf("%s holds %q", path, word)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return read
}

// ask is call, which also keeps the answer to be searched.
func (a *aviary) ask(t *testing.T, method, path string, body, answer any, want int) {
	t.Helper()
	status, out, err := a.try(method, path, body)
	if err != nil || status != want {
		t.Fatalf("%s %s: %d, %v, want %d: %s", method, path, status, err, want, out)
	}
	a.heard[fmt.Sprintf("%d. %s %s", len(a.heard), method, path)] = string(out)
	if answer != nil {
		decode(t, out, answer)
	}
}

// mint is ask for the one answer that shows a word, which is kept to look for.
func (a *aviary) mint(t *testing.T, path, key string, body any) (id, word string) {
	t.Helper()
	var made map[string]any
	a.call(t, "POST", path, body, &made, 201)
	word, _ = made[key].(string)
	if word == "" {
		t.Fatalf("%s made %v, without %s", path, made, key)
	}
	if at := strings.LastIndex(word, "/link/"); at >= 0 {
		word = word[at+len("/link/"):]
	}
	a.words = append(a.words, word)
	id, _ = made["id"].(string)
	return id, word
}

// plantPeople makes a person with a password by an invitation, an agent with a key,
// tokens, and signs in wrongly, once with the password for an address.
func (a *aviary) plantPeople(t *testing.T) {
	t.Helper()
	a.words = append(a.words, a.token, adminPassword)
	const password, email = canary + "-password-of-bob", "bob@berth.test"
	id, link := a.mint(t, "/api/invitations", "url", map[string]any{"email": email, "memberships": []map[string]string{{"companyId": a.company, "role": "admin"}}})
	a.ids["invitations"] = id
	a.redeem(t, "/link/"+link, "", "Bob", password)
	a.mint(t, "/api/auth/token", "token", map[string]any{"email": email, "password": password, "name": "bob's"})
	a.mint(t, "/api/account/tokens", "token", map[string]any{"name": "ada's"})
	var agent struct{ ID string }
	a.ask(t, "POST", "/api/companies/"+a.company+"/agents", map[string]any{"name": "builder", "adapterType": "claude_local"}, &agent, 201)
	a.ids["agents"] = agent.ID
	a.mint(t, "/api/agents/"+agent.ID+"/keys", "token", map[string]any{"name": "first"})
	nobody := &aviary{server: a.as(""), heard: a.heard}
	for _, wrong := range []map[string]any{
		{"email": canary + "-typed-as-address", "password": "x"}, {"email": canary + "-typed@berth.test", "password": "x"},
		{"email": email, "password": canary + "-wrong"},
	} {
		nobody.ask(t, "POST", "/api/auth/sign-in", wrong, nil, 401)
	}
	forged := &aviary{server: a.as("berth_pat_" + canary), heard: a.heard}
	forged.ask(t, "GET", "/api/companies", nil, nil, 401)
	var people []struct{ ID, Email string }
	a.ask(t, "GET", "/api/people", nil, &people, 200)
	a.ids["people"] = people[len(people)-1].ID
}

// plantSecrets saves, edits and tests an environment, rightly and wrongly.
func (a *aviary) plantSecrets(t *testing.T) {
	t.Helper()
	file := filepath.Join(a.host.Dir, "locked")
	sshdtest.Keygen(t, file, "-t", "ed25519", "-N", canary+"-passphrase", "-C", "locked")
	key, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	public, err := os.ReadFile(file + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	a.host.Authorize(strings.TrimSpace(string(public)))
	a.words = append(a.words, strings.Split(string(key), "\n")[2])
	config := a.host.config()
	config["privateKey"], config["passphrase"], config["password"] = string(key), canary+"-passphrase", canary+"-password"
	config["knownHosts"] = a.host.KnownHosts("ed25519")
	var shared, env struct{ ID string }
	secrets := "/api/companies/" + a.company + "/secrets"
	a.ask(t, "POST", secrets, map[string]any{"name": "token", "value": canary + "-shared"}, &shared, 201)
	a.ask(t, "POST", secrets, map[string]any{"name": "TOKEN", "value": canary + "-shared"}, nil, 409)
	a.ask(t, "POST", secrets, map[string]any{"name": "large", "value": strings.Repeat(canary, 7000)}, nil, 422)
	a.ask(t, "POST", secrets, map[string]any{"name": "odd", "worth": canary}, nil, 400)
	a.ids["secrets"] = shared.ID
	environments := "/api/companies/" + a.company + "/environments"
	a.ask(t, "POST", environments, map[string]any{
		"name": "Box", "driver": "ssh", "config": config,
		"envVars": map[string]any{
			"API_TOKEN":     map[string]any{"type": "secret", "value": canary + "-variable"},
			"SERVICE_TOKEN": map[string]any{"type": "plain", "value": canary + "-plain"}, // looks secret
			"LINK":          map[string]any{"type": "plain", "value": "http://u:" + canary + "@127.0.0.1/"},
			"SHARED":        map[string]any{"type": "secret_ref", "secretId": shared.ID},
			"PINNED":        map[string]any{"type": "secret_ref", "secretId": shared.ID, "version": 1},
		},
		"newSecrets": map[string]any{"envVars.INLINE": map[string]any{"name": "inline", "value": canary + "-inline"}},
	}, &env, 201)
	a.ids["environments"] = env.ID
	one := "/api/environments/" + env.ID
	a.ask(t, "POST", environments, map[string]any{"name": "Box", "driver": "ssh", "config": config}, nil, 409)
	a.ask(t, "PATCH", one, map[string]any{"config": map[string]any{"password": canary + "-changed"}}, nil, 200)
	a.ask(t, "PATCH", one, map[string]any{"config": map[string]any{"password": canary + "-lost", "port": 70000}}, nil, 422)
	a.ask(t, "PATCH", one, map[string]any{"config": map[string]any{"passphrase": canary + "-wrong"}}, nil, 422)
	a.ask(t, "POST", "/api/environments/check", map[string]any{"environmentId": env.ID, "name": "Box", "driver": "ssh", "config": config}, nil, 200)
	a.ask(t, "POST", "/api/ssh-keys/inspect", map[string]any{"key": string(key), "passphrase": canary + "-wrong"}, nil, 422)
	var probe struct {
		ID string
		OK bool
	}
	a.ask(t, "POST", one+"/probe", nil, &probe, 200)
	if !probe.OK {
		t.Error("the probe with the planted key is not ok")
	}
	a.ask(t, "POST", environments+"/probe-config", map[string]any{"environmentId": env.ID, "name": "Box", "driver": "ssh", "config": config}, nil, 200)
	config["username"] = "nobody-" + a.host.User
	a.ask(t, "POST", environments+"/probe-config", map[string]any{"name": "Other", "driver": "ssh", "config": config}, nil, 200)
	a.ask(t, "POST", "/api/secrets/"+shared.ID+"/rotate", map[string]any{"value": canary + "-rotated"}, nil, 200)
}

// run does work that prints everything that it was given.
func (a *aviary) run(t *testing.T) {
	t.Helper()
	var w work
	a.ask(t, "POST", "/api/companies/"+a.company+"/runs", map[string]any{
		"environmentId": a.ids["environments"],
		"command":       []string{"sh", "-c", `printenv API_TOKEN SERVICE_TOKEN LINK SHARED PINNED INLINE OWN_TOKEN; cat; sleep 4`},
		"env":           map[string]string{"OWN_TOKEN": canary + "-own"}, "stdin": "fed\n",
	}, &w, 201)
	(&drill{server: a.server}).prints(t, w.ID, "fed")
	for _, p := range processes(t) {
		a.silent(t, fmt.Sprintf("process %d (%s)", p.pid, p.name), p.command)
	}
	if got := a.ends(t, w.ID, 20*time.Second); got.Status != "succeeded" {
		t.Fatalf("the run %s", got)
	}
	a.ids["runs"] = w.ID
	out := a.output(t, w.ID, "stdout")
	a.silent(t, "the output", out)
	if got := strings.Count(out, "***"); got < 7 {
		t.Errorf("the output shows %q: not every value was printed, and masked", out)
	}
	var leases []struct{ ID string }
	var probes []struct{ Details struct{ ProbeID string } }
	a.ask(t, "GET", "/api/environments/"+a.ids["environments"]+"/leases", nil, &leases, 200)
	a.ask(t, "GET", "/api/environments/"+a.ids["environments"]+"/probes", nil, &probes, 200)
	a.ids["environment-leases"], a.ids["probes"] = leases[0].ID, probes[0].Details.ProbeID
}

// readAll reads every GET of the API's own document, and every page.
func (a *aviary) readAll(t *testing.T) {
	t.Helper()
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	a.ask(t, "GET", "/api/openapi.json", nil, &document, 200)
	read := 0
	for path, methods := range document.Paths {
		if methods["get"] == nil {
			continue
		}
		read++
		a.listen(t, http.DefaultClient, a.fill(t, path))
	}
	for _, more := range []string{"/api/runs/" + a.ids["runs"] + "/log?raw=1", "/api/activity?format=csv", "/metrics"} {
		a.listen(t, http.DefaultClient, more)
	}
	if read < 25 {
		t.Errorf("only %d routes of the document were read", read)
	}
	env, company := pages+"/"+a.ids["environments"], "/companies/"+a.company
	browser := a.browserOf(t, adminEmail, adminPassword)
	a.keepCookie(t, browser)
	for _, path := range []string{
		pages, pages + "/new", env, env + "?tab=configuration", env + "?tab=leases", env + "?tab=runs", env + "?tab=activity", env + "/edit", env + "/delete",
		"/companies", company + "/runs", company + "/runs/" + a.ids["runs"], company + "/runs/" + a.ids["runs"] + "?x=" + canary[:6],
		company + "/secrets", company + "/secrets/" + a.ids["secrets"], company + "/secrets/" + a.ids["secrets"] + "/delete",
		company + "/activity", company + "/access", company + "/agents", company + "/agents/" + a.ids["agents"],
		"/company/settings/instance/activity", "/company/settings/instance/people", "/company/settings/instance/people/" + a.ids["people"],
		"/company/settings/instance/general", "/company/settings/instance/experimental", "/account", "/signin", "/no/such/page",
	} {
		a.listen(t, browser, path)
	}
}

// keepCookie adds the session's own secret to what is looked for.
func (a *aviary) keepCookie(t *testing.T, browser *http.Client) {
	t.Helper()
	at, err := url.Parse(a.url)
	if err != nil {
		t.Fatal(err)
	}
	for _, cookie := range browser.Jar.Cookies(at) {
		if len(cookie.Value) >= 20 && !slices.Contains(a.words, cookie.Value) {
			a.words = append(a.words, cookie.Value)
		}
	}
}

// fill puts ids into a path of the document: that of the thing whose name is before.
func (a *aviary) fill(t *testing.T, path string) string {
	t.Helper()
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if !strings.HasPrefix(part, "{") {
			continue
		}
		if parts[i] = a.ids[parts[i-1]]; parts[i] == "" {
			t.Fatalf("%s: there is no id of %s to put in", path, parts[i-1])
		}
	}
	return strings.Join(parts, "/")
}

// listen reads an address to its end, or until a stream has nothing more to say.
func (a *aviary) listen(t *testing.T, client *http.Client, path string) {
	t.Helper()
	req, err := http.NewRequest("GET", a.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if client == http.DefaultClient {
		req.Header.Set("Authorization", "Bearer "+a.token)
	}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var text strings.Builder
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		for lines := bufio.NewScanner(res.Body); lines.Scan() && !strings.HasPrefix(lines.Text(), "event: end"); {
			text.WriteString(lines.Text() + "\n")
		}
	} else if _, err := io.Copy(&text, res.Body); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if res.StatusCode == 500 {
		t.Errorf("%s: %d", path, res.StatusCode)
	}
	a.heard[fmt.Sprintf("%d. GET %s", len(a.heard), path)] = fmt.Sprint(res.Header) + text.String()
}

// turnAndDelete turns the master key over and deletes what refers and is referred
// to; the secrets open until then.
func (a *aviary) turnAndDelete(t *testing.T) {
	t.Helper()
	a.ask(t, "POST", "/api/instance/rotate-key", nil, nil, 200)
	var probe struct{ OK bool }
	a.ask(t, "POST", "/api/environments/"+a.ids["environments"]+"/probe", nil, &probe, 200)
	if !probe.OK {
		t.Error("the probe after the master key was turned over is not ok")
	}
	a.ask(t, "PATCH", "/api/secrets/"+a.ids["secrets"], map[string]any{"disabled": true}, nil, 200)
	var w work
	a.ask(t, "POST", "/api/companies/"+a.company+"/runs", map[string]any{"environmentId": a.ids["environments"], "command": []string{"true"}}, &w, 201)
	if got := a.ends(t, w.ID, 20*time.Second); got.Failure == nil || got.Failure.Code != "secret_disabled" {
		t.Errorf("a run with a disabled secret: %s", got)
	}
	a.ask(t, "DELETE", "/api/secrets/"+a.ids["secrets"], nil, nil, 409)
	var gone struct{ ID string }
	a.ask(t, "POST", "/api/companies/"+a.company+"/secrets", map[string]any{"name": "gone", "value": canary + "-gone"}, &gone, 201)
	a.ask(t, "DELETE", "/api/secrets/"+gone.ID, nil, nil, 204)
	a.ask(t, "PATCH", "/api/environments/"+a.ids["environments"], map[string]any{"config": map[string]any{"password": nil}}, nil, 200)
}
