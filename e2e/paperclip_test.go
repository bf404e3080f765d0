package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// paperclipVersion is the release of Paperclip's command line that .ci/setup
// installs.
const paperclipVersion = "2026.916.1"

// outcome is what a command line came to.
type outcome struct {
	code     int
	out, err string
}

func (o outcome) json(t *testing.T) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(o.out), &v); err != nil {
		t.Fatalf("no JSON: %v: %q %q", err, o.out, o.err)
	}
	return v
}

// clients are the two command lines against one server, with one key.
type clients struct {
	s   *server
	key string // "": none
}

// paperclip runs Paperclip's own command line, unchanged.
func (c clients) paperclip(t *testing.T, args ...string) outcome {
	t.Helper()
	cache, err := cacheFolder()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(cache, "paperclip-"+paperclipVersion)
	args = append([]string{filepath.Join(dir, "package", "dist", "index.js"), "environment"}, args...)
	args = append(args, "--api-base", c.s.url, "--json")
	if c.key != "" {
		args = append(args, "--api-key", c.key)
	}
	cmd := exec.Command(filepath.Join(dir, "node"), args...)
	home := t.TempDir()
	cmd.Dir = home
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "NO_COLOR=1", "PAPERCLIP_COMPANY_ID=" + c.s.company}
	return finish(t, cmd)
}

// berth runs the same against the same.
func (c clients) berth(t *testing.T, stdin string, args ...string) outcome {
	t.Helper()
	cmd := exec.Command(binary(t), append(args, "--json")...)
	cmd.Stdin = strings.NewReader(stdin)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "BERTH_API_BASE="+c.s.url, "BERTH_COMPANY="+c.s.company, "BERTH_API_KEY="+c.key)
	return finish(t, cmd)
}

func finish(t *testing.T, cmd *exec.Cmd) outcome {
	t.Helper()
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	err := cmd.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		t.Fatalf("%v (go tool task setup)", err)
	}
	return outcome{cmd.ProcessState.ExitCode(), o.String(), e.String()}
}

// pair is one command in both command lines.
type pair struct {
	name      string
	paperclip []string
	berth     []string
	stdin     string // of berth's
	// codes are the two exit codes. Paperclip's knows 0 and 1 alone.
	paperclipCode, berthCode int
	// same are the keys whose values agree; none: the whole answers do.
	same []string
	// says is what both say of a failure.
	says string
}

// run runs a pair, shows both outcomes and compares them. It returns what each
// answered.
func (p pair) run(t *testing.T, c clients) (theirs, ours any) {
	t.Helper()
	their, our := c.paperclip(t, p.paperclip...), c.berth(t, p.stdin, p.berth...)
	t.Logf("paperclipai environment %s\nexit %d\n%s%s\nberth %s\nexit %d\n%s%s",
		shown(p.paperclip), their.code, their.out, their.err, shown(p.berth), our.code, our.out, our.err)
	if their.code != p.paperclipCode || our.code != p.berthCode {
		t.Errorf("%s: exit codes %d and %d, want %d and %d", p.name, their.code, our.code, p.paperclipCode, p.berthCode)
		return nil, nil
	}
	if p.says != "" && (!strings.Contains(their.err, p.says) || !strings.Contains(our.out+our.err, p.says)) {
		t.Errorf("%s: %q and %q do not both say %q", p.name, their.err, our.out+our.err, p.says)
	}
	if their.code != 0 {
		return nil, nil
	}
	theirs, ours = their.json(t), our.json(t)
	if len(p.same) == 0 {
		if !reflect.DeepEqual(theirs, ours) {
			t.Errorf("%s: the answers differ", p.name)
		}
		return theirs, ours
	}
	for _, key := range p.same {
		a, b := at(theirs, key), at(ours, key)
		if !reflect.DeepEqual(a, b) {
			t.Errorf("%s: %s is %v and %v", p.name, key, a, b)
		}
	}
	return theirs, ours
}

// shown is a command line for the log: a body may hold a key.
func shown(args []string) string {
	text := strings.Join(args, " ")
	if i := strings.Index(text, "PRIVATE KEY"); i >= 0 {
		text = text[:i] + "..."
	}
	return text
}

// at is a value inside an answer; "details.state" goes two deep.
func at(v any, path string) any {
	for key := range strings.SplitSeq(path, ".") {
		object, _ := v.(map[string]any)
		v = object[key]
	}
	return v
}

func textAt(v any, path string) string {
	text, _ := at(v, path).(string)
	return text
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestPaperclipsOwnCommandLine: each of its environment commands against Berth
// without change, beside the same command of Berth's own.
func TestPaperclipsOwnCommandLine(t *testing.T) {
	s := newServer(t)
	s.furnish(t, "Acme")
	drivePaperclip(t, clients{s: s})
}

// TestPaperclipsOwnCommandLineWithAKey: the same in the mode authenticated, with
// the key of an instance admin; a member's key reads less and changes nothing.
func TestPaperclipsOwnCommandLineWithAKey(t *testing.T) {
	s := newTeamServer(t)
	s.furnish(t, "Acme")
	drivePaperclip(t, clients{s: s, key: s.token})
	member := clients{s: s, key: s.invite(t, "Max", map[string]string{s.company: "member"}).as.token}
	theirs, _ := pair{name: "a member's list", paperclip: []string{"list"}, berth: []string{"env", "list"}}.run(t, member)
	list, _ := theirs.([]any)
	for _, e := range list {
		if config, _ := at(e, "config").(map[string]any); len(config) != 0 || at(e, "metadata") != nil {
			t.Errorf("a member sees %v", e)
		}
	}
	for _, p := range []pair{
		{name: "a member creates", paperclip: []string{"create", "--payload-json", `{"name":"Mine","driver":"ssh"}`},
			berth: []string{"env", "create", "--file", "-"}, stdin: `{"name":"Mine","driver":"ssh"}`, says: "You may not do this"},
		{name: "a member deletes", paperclip: []string{"delete", textAt(list[0], "id")},
			berth: []string{"env", "delete", textAt(list[0], "id"), "--yes"}, says: "You may not do this"},
	} {
		p.paperclipCode, p.berthCode = 1, 4
		p.run(t, member)
	}
	pair{name: "nobody", paperclip: []string{"list"}, berth: []string{"env", "list"}, paperclipCode: 1, berthCode: 4, says: "Sign in first"}.
		run(t, clients{s: s})
}

// drivePaperclip walks every command, then every sort of failure.
func drivePaperclip(t *testing.T, c clients) {
	host := newHost(t)
	saved := host.save(t, c.s, "Build box")
	leaveLease(t, c.s, saved)
	leases := pair{name: "leases", paperclip: []string{"leases", saved}, berth: []string{"env", "leases", "Build box"}}
	all, _ := leases.run(t, c)
	list, _ := all.([]any)
	if len(list) == 0 {
		t.Fatal("there is no lease")
	}
	lease := textAt(list[0], "id")
	probed := []string{"ok", "driver", "summary", "details.state", "details.health", "details.host", "details.platform"}
	for _, p := range []pair{
		{name: "list", paperclip: []string{"list"}, berth: []string{"env", "list"}},
		{name: "capabilities", paperclip: []string{"capabilities"}, berth: []string{"env", "capabilities"}},
		{name: "get", paperclip: []string{"get", saved}, berth: []string{"env", "get", "build BOX"}},
		{name: "lease", paperclip: []string{"lease", lease}, berth: []string{"lease", "get", lease}},
		{name: "probe", paperclip: []string{"probe", saved}, berth: []string{"env", "probe", saved}, same: probed},
	} {
		p.run(t, c)
	}
	draft := asJSON(t, map[string]any{"name": "Draft", "driver": "ssh", "config": withKnownHosts(t, c.s, saved, host.config())})
	probeDraft := pair{name: "probe-config", paperclip: []string{"probe-config", "--payload-json", draft},
		berth: []string{"env", "probe-config", "--file", "-"}, stdin: draft, same: append(probed, "details.draft")}
	if theirs, _ := probeDraft.run(t, c); at(theirs, "ok") != true {
		t.Errorf("the draft's probe: %v", theirs)
	}
	writeWithBoth(t, c)
	failWithBoth(t, c, saved)
}

// writeWithBoth creates, changes and deletes an environment with each of the
// two, and reads what one wrote with the other.
func writeWithBoth(t *testing.T, c clients) {
	body := func(name string) string {
		return asJSON(t, map[string]any{"name": name, "driver": "ssh", "description": "of a test",
			"config":  map[string]any{"host": "box.test", "username": "runner", "remoteWorkspacePath": "/srv/work"},
			"envVars": map[string]any{"PLAIN": "1", "HIDDEN": map[string]any{"type": "secret", "value": "a canary"}}})
	}
	same := []string{"driver", "description", "status", "config", "envVars.PLAIN", "envVars.HIDDEN.type", "health", "revision", "metadata"}
	theirs, ours := pair{name: "create", paperclip: []string{"create", "--payload-json", body("Theirs")},
		berth: []string{"env", "create", "--file", "-"}, stdin: body("Ours"), same: same}.run(t, c)
	a, b := textAt(theirs, "id"), textAt(ours, "id")
	if a == "" || b == "" || textAt(theirs, "name") != "Theirs" || textAt(ours, "name") != "Ours" {
		t.Fatalf("created %v and %v", theirs, ours)
	}
	crossed := pair{name: "read the other's", paperclip: []string{"get", b}, berth: []string{"env", "get", b}}
	if theirs, _ := crossed.run(t, c); textAt(theirs, "name") != "Ours" {
		t.Errorf("Paperclip's reads %v", theirs)
	}
	change := `{"config":{"port":2222},"envVars":{"PLAIN":null}}`
	pair{name: "update", paperclip: []string{"update", a, "--payload-json", change},
		berth: []string{"env", "update", b, "--file", "-"}, stdin: change, same: same}.run(t, c)
	pair{name: "update of a name that is taken", paperclip: []string{"update", a, "--payload-json", `{"name":"ours"}`},
		berth: []string{"env", "update", b, "--name", "theirs"}, paperclipCode: 1, berthCode: 5, says: "name"}.run(t, c)
	pair{name: "delete", paperclip: []string{"delete", a}, berth: []string{"env", "delete", b, "--yes"}, same: []string{"driver", "config.port"}}.run(t, c)
	pair{name: "delete what is gone", paperclip: []string{"delete", a}, berth: []string{"env", "delete", b, "--yes"},
		paperclipCode: 1, berthCode: 3, says: "no such environment"}.run(t, c)
}

// failWithBoth fails in every way. Paperclip's command line exits with 1 on
// each; a probe that ran and failed is a result to it, and it exits with 0.
func failWithBoth(t *testing.T, c clients, saved string) {
	const nobody = "01890000-0000-7000-8000-000000000000"
	gone, err := freeAddress()
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := strings.Cut(gone, ":")
	dead := `{"driver":"ssh","config":{"host":"127.0.0.1","port":` + port + `,"username":"runner","remoteWorkspacePath":"/srv/work"}}`
	for _, p := range []pair{
		{name: "an unknown id", paperclip: []string{"get", nobody}, berth: []string{"env", "get", nobody}, berthCode: 3, says: "no such environment"},
		{name: "what is no id", paperclip: []string{"leases", "a/b%00"}, berth: []string{"env", "leases", "a/b"}, berthCode: 3},
		{name: "an unknown lease", paperclip: []string{"lease", nobody}, berth: []string{"lease", "get", nobody}, berthCode: 3, says: "no such lease"},
		{name: "a missing name", paperclip: []string{"create", "--payload-json", `{"driver":"local"}`},
			berth: []string{"env", "create", "--file", "-"}, stdin: `{"driver":"local"}`, berthCode: 2, says: "name"},
		{name: "no JSON", paperclip: []string{"create", "--payload-json", `{"name":`},
			berth: []string{"env", "create", "--file", "-"}, stdin: `{"name":`, berthCode: 2, says: "JSON"},
		{name: "an unknown key", paperclip: []string{"update", saved, "--payload-json", `{"colour":"red"}`},
			berth: []string{"env", "update", saved, "--file", "-"}, stdin: `{"colour":"red"}`, berthCode: 2, says: "colour"},
		{name: "a bad value", paperclip: []string{"update", saved, "--payload-json", `{"config":{"port":70000}}`},
			berth: []string{"env", "update", saved, "--file", "-"}, stdin: `{"config":{"port":70000}}`, berthCode: 2, says: "65535"},
	} {
		p.paperclipCode = 1
		p.run(t, c)
	}
	refused := pair{name: "a probe of what is not there", paperclip: []string{"probe-config", "--payload-json", dead},
		berth: []string{"env", "probe-config", "--file", "-"}, stdin: dead, berthCode: 6}
	their, our := c.paperclip(t, refused.paperclip...), c.berth(t, dead, refused.berth...)
	t.Logf("paperclipai environment probe-config, exit %d\n%s\nberth env probe-config, exit %d\n%s", their.code, their.out, our.code, our.out)
	a, b := their.json(t), our.json(t)
	if their.code != 0 || our.code != 6 || at(a, "ok") != false || at(b, "ok") != false || textAt(a, "details.code") != "connect_refused" ||
		textAt(b, "details.code") != "connect_refused" || textAt(a, "summary") != textAt(b, "summary") {
		t.Errorf("%s: %d and %d", refused.name, their.code, our.code)
	}
	wrong := clients{s: c.s, key: "not-a-key"}
	pair{name: "a wrong key", paperclip: []string{"list"}, berth: []string{"env", "list"}, paperclipCode: 1, berthCode: 4, says: "does not know that key"}.run(t, wrong)
}

// leaveLease runs something, and leaves the lease of it.
func leaveLease(t *testing.T, s *server, environment string) {
	t.Helper()
	id := s.begin(t, environment, "true")
	if err := waitFor(30*time.Second, func() bool {
		var w work
		s.call(t, "GET", "/api/runs/"+id, nil, &w, 200)
		return w.ended() && w.Lease != nil && w.Lease.Status == "released"
	}); err != nil {
		t.Fatal(err)
	}
}

// withKnownHosts adds the keys that a saved environment trusts to a config.
func withKnownHosts(t *testing.T, s *server, saved string, config map[string]any) map[string]any {
	t.Helper()
	var e struct{ Config map[string]any }
	s.call(t, "GET", "/api/environments/"+saved, nil, &e, 200)
	config["knownHosts"] = e.Config["knownHosts"]
	return config
}
