package e2e

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/playwright-community/playwright-go"

	"berth/drivers/ssh/sshdtest"
)

// TestJourney_FormHelpers asks the form's helpers for something good and for
// something bad.
func TestJourney_FormHelpers(t *testing.T) {
	s := site(t)
	b := open(t, s.url, desktop)
	b.visit(pages + "/new")
	b.click("summary:has-text('ssh config')")
	b.fill("#f-sshConfig", "Host build\n  HostName 127.0.0.9\n  Port 2222\n  User runner\n")
	b.press("Read it")
	b.inState("#client-config", "read")
	b.holds("#f-config-host", "127.0.0.9")
	b.holds("#f-config-port", "2222")
	b.holds("#f-config-username", "runner")
	b.fill("#f-sshConfig", "this is no ssh config")
	b.press("Read it")
	b.inState("#client-config", "failed")

	b.press("Generate a key pair")
	b.inState("#key-read", "generated")
	b.reads("#key-read", "ssh-ed25519 ")
	b.press("Clear")
	b.fill("#f-config-privateKey", "no key at all")
	b.must(b.find("#f-config-privateKey").Blur(), "leave the key")
	b.inState("#key-read", "unreadable")
	weak := sshdtest.Keygen(t, filepath.Join(t.TempDir(), "weak"), "-t", "rsa", "-b", "1024", "-N", "")
	b.fill("#f-config-privateKey", weak)
	b.must(b.find("#f-config-privateKey").Blur(), "leave the key")
	b.inState("#key-read", "weak")
	b.fill("#f-config-host", "127.0.0.1")
	b.fill("#f-config-port", fmt.Sprint(closedPort(t)))
	b.press("Scan host keys")
	b.inState("#scanned", "failed")
	b.fill("#f-config-port", "99999")
	b.must(b.find("#f-config-port").Blur(), "leave the port")
	b.reads("#f-config-port-err", "65535")
}

// TestJourney_UnsavedChangesAreGuarded leaves a form that was edited, and stays.
func TestJourney_UnsavedChangesAreGuarded(t *testing.T) {
	s := site(t)
	b := open(t, s.url, desktop)
	b.visit(pages + "/new")
	b.fill("#f-name", "half typed")
	b.follow("Experimental")
	b.sees("#dialog")
	b.press("Keep as it is")
	b.holds("#f-name", "half typed")
	b.follow("Experimental")
	b.press("Leave")
	b.sees("#experimental")
}

// TestJourney_EveryHealthInTheList brings environments into every health and
// finds each in the list, by filter and by name.
func TestJourney_EveryHealthInTheList(t *testing.T) {
	s, host := newServer(t), newHost(t)
	s.furnish(t, "Healths")
	b := open(t, s.url, desktop)
	rows := map[string]string{} // id to state
	add := func(name, state string, config map[string]any) string {
		id := host.save(t, s, name)
		if config != nil {
			s.change(t, id, config)
		}
		rows[id] = state
		return id
	}
	add("Ready", "ready", nil)
	add("Gone", "unreachable", map[string]any{"port": closedPort(t)})
	add("No tool", "unfit", map[string]any{"requiredTools": []string{"no-such-tool"}})
	little := add("Little disk", "warning", map[string]any{"minFreeMB": 1 << 30})
	add("Unknown key", "untrusted", map[string]any{"knownHosts": nil})
	b.visit(pages)
	for id := range rows {
		b.inState("#env-"+id, "untested")
	}
	b.press("Test all")
	for id, state := range rows {
		b.inState("#env-"+id, state)
	}
	b.visit(pages + "/" + little)
	b.inState("#test", "warning")
	host.rebuild()
	edited := add("Edited", "changed", nil)
	s.call(t, "POST", "/api/environments/"+edited+"/probe", nil, nil, 200)
	s.change(t, edited, map[string]any{"minFreeMB": 1})
	archived := add("Put away", "archived", nil)
	s.call(t, "PATCH", "/api/environments/"+archived, map[string]any{"status": "archived"}, nil, 200)
	b.visit(pages)
	b.press("Test Ready")
	for id, state := range rows {
		if state == "ready" {
			b.inState("#env-"+id, "untrusted") // it was rebuilt
		}
	}
	b.inState("#env-"+edited, "changed")
	b.counts("#env-"+archived, 0)
	b.must(b.find("#f-archived").Check(), "show the archived")
	b.inState("#env-"+archived, "archived")

	b.visit(pages)
	b.fill("input[name=q]", "no such name")
	b.inState("#environments-list", "no-match")
	b.visit(pages + "?health=unreachable")
	b.counts("#rows > li", 1)
	b.reads("#rows", "Gone")
	b.slowly(pages)
}

// slowly filters the list while its answer takes long.
func (b *tab) slowly(path string) {
	b.t.Helper()
	b.visit(path)
	hold := make(chan struct{})
	b.must(b.page.Route("**"+path+"?*", func(r playwright.Route) {
		go func() { // the page's events go on meanwhile
			<-hold
			if err := r.Continue(); err != nil {
				b.note("route: " + err.Error())
			}
		}()
	}), "slow the list down")
	b.fill("input[name=q]", "ready")
	b.inState("#environments-list", "loading")
	close(hold)
	b.inState("#environments-list", "shown")
}

// TestJourney_TabsAndSettings looks at what is beside the main job.
func TestJourney_TabsAndSettings(t *testing.T) {
	s, host := newServer(t), newHost(t)
	b := open(t, s.url, desktop)
	b.expect("422")
	b.expect("404")
	b.visit("/companies")
	b.inState("#companies", "none")
	b.press("Create company")
	b.inState("#companies", "invalid")
	b.fill("#f-name", "Tabs")
	b.press("Create company")
	b.sees("text=Tabs")
	b.visit("/companies")
	b.inState("#companies", "shown")
	s.company = companyNamed(t, s, "Tabs")
	s.turn(t, true)
	id := host.save(t, s, "Box")
	b.visit(pages + "/" + id + "?tab=leases")
	b.inState("#leases", "none")
	run := s.begin(t, id, "true")
	s.ends(t, run, 20*time.Second)
	b.visit(pages + "/" + id + "?tab=leases")
	b.inState("#leases", "filled")
	b.visit(pages + "/" + id + "?tab=activity")
	b.inState("#activity", "filled")
	b.visit(pages + "/" + id + "?tab=runs")
	b.inState("#runs", "filled")
	b.visit("/company/settings/instance/general")
	b.inState("#general", "shown")
	b.fill("#f-maxRunTimeoutSec", "nothing")
	b.press("Save")
	b.inState("#general", "invalid")
	s.change(t, id, map[string]any{"privateKeySecretRef": nil})
	b.visit(pages + "/" + id + "/edit")
	b.inState("#environment-form", "credential-missing")
	if status := b.visitStatus(pages + "/0190aaaa-0000-7000-8000-000000000001"); status != 404 {
		t.Errorf("an environment that is not there is answered with %d", status)
	}
	b.inState("#error", "not-found")
}

func companyNamed(t *testing.T, s *server, name string) string {
	t.Helper()
	var all []struct{ ID, Name string }
	s.call(t, "GET", "/api/companies", nil, &all, 200)
	for _, c := range all {
		if c.Name == name {
			return c.ID
		}
	}
	t.Fatalf("there is no company %s in %v", name, all)
	return ""
}

// TestJourney_RunPages starts wrongly, reads files, runs out of time and prints
// more than is kept.
func TestJourney_RunPages(t *testing.T) {
	s, host := site(t), newHost(t)
	name := unique("Runs")
	s.remove(t, name)
	id := host.save(t, s, name)
	b := open(t, s.url, desktop)
	b.expect("422")
	b.visit("/companies/" + s.company + "/runs")
	b.inState("#runs", "none")
	b.press("Run")
	b.inState("#run-form", "invalid")

	b.visit("/companies/" + s.company + "/runs")
	b.fill("#f-command", `cat; echo "stage $STAGE, token $DEPLOY_TOKEN"`)
	_, err := b.find("#f-environmentId").SelectOption(playwright.SelectOptionValues{Labels: playwright.StringSlice(name)})
	b.must(err, "choose %s", name)
	b.must(b.page.GetByText("Variables and standard input").Click(), "open the variables")
	for n, v := range [][2]string{{"STAGE", "canary"}, {"", ""}, {"DEPLOY_TOKEN", "hidden-away"}} {
		if n == 2 {
			b.press("Add variable")
		}
		b.fill(fmt.Sprintf("[name='env.%d.name']", n), v[0])
		b.fill(fmt.Sprintf("[name='env.%d.value']", n), v[1])
	}
	b.fill("#f-stdin", "first line\nsecond line\n")
	b.press("Run")
	b.inState("#run-summary", "succeeded")
	b.reads("#output", "second line")
	b.reads("#output", "stage canary, token ***********")

	b.runThere(s, name, `mkdir -p sub; echo "some text" > sub/note.txt; printf '\377\376\000\001' > sub/data.bin`)
	b.inState("#run-summary", "succeeded")
	b.follow("Show files")
	b.inState("#run-files", "folder")
	b.click("#run-files a:has-text('sub')")
	b.click("#run-files a:has-text('note.txt')")
	b.inState("#run-files", "text")
	b.reads("#run-files", "some text")
	b.follow("Up")
	b.click("#run-files a:has-text('data.bin')")
	b.inState("#run-files", "binary")
	host.Kill()
	b.follow("Up")
	b.inState("#run-files", "failed")
	host.Start()

	var w work
	s.call(t, "POST", "/api/companies/"+s.company+"/runs", map[string]any{"environmentId": id, "command": []string{"sleep", "60"}, "timeoutSec": 1}, &w, 201)
	b.visit("/companies/" + s.company + "/runs/" + w.ID)
	b.inState("#run-summary", "timed_out")
	long := s.begin(t, id, "sh", "-c", "head -c 17825792 /dev/zero | tr '\\0' x")
	s.ends(t, long, 60*time.Second)
	b.visit("/companies/" + s.company + "/runs/" + long)
	b.inState("#run-output", "cut")
	b.reads("#run-output header", "bytes of the middle are not kept")
}

// TestJourney_TrustDialog trusts, finds that nothing is left to trust, and
// has nothing to offer of a host that is away.
func TestJourney_TrustDialog(t *testing.T) {
	s, host := site(t), newHost(t)
	name := unique("Trust")
	s.remove(t, name)
	id := host.save(t, s, name)
	s.change(t, id, map[string]any{"knownHosts": nil})
	b := open(t, s.url, desktop)
	b.visit(pages + "/" + id)
	b.press("Test")
	b.inState("#test", "host-key-unknown")
	b.follow("Review key")
	b.inState("#trust", "unknown")
	b.must(b.page.GetByLabel(host.fingerprint()).Check(), "choose the key")
	b.press("Trust this key")
	b.misses("#trust")
	b.visit(pages + "/" + id + "/trust")
	b.inState("#trust", "already")
	host.Kill()
	s.change(t, id, map[string]any{"knownHosts": nil})
	s.call(t, "POST", "/api/environments/"+id+"/probe", nil, nil, 200)
	b.visit(pages + "/" + id + "/trust")
	b.inState("#trust", "failed") // no key was presented
}

// TestJourney_DeleteWhatIsUsed: not while work is under way, and the default
// only with a successor. The default is the instance's, so it has a server of
// its own.
func TestJourney_DeleteWhatIsUsed(t *testing.T) {
	s, host := newServer(t), newHost(t)
	s.furnish(t, "Delete")
	id := host.save(t, s, "Used")
	run := s.begin(t, id, "sleep", "60")
	s.reaches(t, run, 20*time.Second, "running")
	b := open(t, s.url, desktop)
	b.visit(pages + "/" + id)
	b.follow("Delete")
	b.inState("#delete", "blocked")
	s.call(t, "POST", "/api/runs/"+run+"/cancel", nil, nil, 202)
	s.ends(t, run, 20*time.Second)
	s.call(t, "PATCH", "/api/instance/settings", map[string]any{"defaultEnvironmentId": id}, nil, 200)
	b.visit(pages + "/" + id)
	b.follow("Delete")
	b.inState("#delete", "reassign")
	local, ok := s.named(t, "Local")
	if !ok {
		t.Fatal("there is no Local")
	}
	_, err := b.find("#f-reassignTo").SelectOption(playwright.SelectOptionValues{Values: playwright.StringSlice(local.ID)})
	b.must(err, "choose what takes over")
	b.press("Delete environment")
	b.at(pages + `(\?.*)?$`)
	if _, ok := s.named(t, "Used"); ok {
		t.Error("it is still there")
	}
	b.visit("/companies/" + s.company + "/runs/" + run)
	b.reads("#run-where", "Used")
}
