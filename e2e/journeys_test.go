package e2e

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/playwright-community/playwright-go"
)

const pages = "/company/settings/instance/environments"

// unique is a name that no other test has, nor an earlier run of this one.
func unique(word string) string { return fmt.Sprintf("%s %d", word, time.Now().UnixNano()%1e9) }

// environment is a row of the API.
type environment struct {
	ID, Name, Status, Health string
	Description              *string
	Revision                 int
}

// named finds an environment by its name; ok is false when there is none.
func (s *server) named(t *testing.T, name string) (environment, bool) {
	t.Helper()
	var all []environment
	s.call(t, "GET", "/api/companies/"+s.company+"/environments", nil, &all, 200)
	found, n := environment{}, 0
	for _, e := range all {
		if e.Name == name {
			found = e
			n++
		}
	}
	if n > 1 {
		t.Errorf("%d environments are called %s", n, name)
	}
	return found, n > 0
}

// remove takes an environment away when the test ends, whatever happened.
func (s *server) remove(t *testing.T, name string) {
	t.Helper()
	t.Cleanup(func() {
		if e, ok := s.named(t, name); ok {
			if status, body, err := s.try("DELETE", "/api/environments/"+e.ID, nil); err != nil || status != 200 {
				t.Errorf("remove %s: %d %s %v", name, status, body, err)
			}
		}
	})
}

// fillForm fills an empty form with a host's settings.
func (b *tab) fillForm(h *host, name string) {
	b.t.Helper()
	b.fill("#f-name", name)
	b.fill("#f-config-host", h.Host)
	b.fill("#f-config-port", fmt.Sprint(h.Port))
	b.fill("#f-config-username", h.User)
	b.fill("#f-config-remoteWorkspacePath", h.workspace)
	b.fillKey(h.PrivateKey)
}

// fillKey pastes a private key: its fingerprint takes its place.
func (b *tab) fillKey(key string) {
	b.t.Helper()
	b.takes("config-privateKey", "paste")
	b.fill("#f-config-privateKey", key)
	b.must(b.find("#f-config-privateKey").Blur(), "leave the key")
	b.inState("#key-read", "readable")
}

// TestJourney_MainJob is the main job: create, scan, trust, test, run, cancel,
// edit, archive, delete.
func TestJourney_MainJob(t *testing.T) {
	s, host := site(t), newHost(t)
	name := unique("Main job")
	s.remove(t, name)
	b := open(t, s.url, desktop)

	b.visit(pages)
	b.follow("Add environment")
	b.inState("#environment-form", "new")
	b.fillForm(host, name)
	b.press("Scan host keys")
	b.inState("#scanned", "found")
	b.reads("#scanned", host.fingerprint())
	b.press("Trust ssh-ed25519")
	if pinned, err := b.find("#f-config-knownHosts").InputValue(); err != nil || !strings.Contains(pinned, "ssh-ed25519") {
		t.Fatalf("the trusted keys are %q, %v", pinned, err)
	}
	b.press("Test")
	b.inState("#test", "ready")
	b.counts("#test-steps > li", 10)
	b.press("Save environment")
	b.at(pages + `/[0-9a-f-]{36}`)
	b.inState("#environment", "active")
	b.reads("h1", name)

	b.press("Test")
	b.inState("#test", "ready")
	b.inState("#probe-history", "filled")

	b.runThere(s, name, `echo "hello from berth"; echo oops >&2; uname -n`)
	b.inState("#run", "succeeded")
	b.reads("#output", "hello from berth")
	b.reads("#output .e", "oops")
	b.reads("#run-where", "Released")
	b.follow("Show files")
	b.inState("#run-files", "empty")

	b.runThere(s, name, "echo begun; sleep 600")
	b.reads("#output", "begun")
	b.press("Cancel run")
	b.inState("#run-summary", "cancelled")

	e, ok := s.named(t, name)
	if !ok {
		t.Fatal("it was not saved")
	}
	b.visit(pages + "/" + e.ID)
	b.follow("Edit")
	b.fill("#f-description", "For the main job")
	b.press("Save changes")
	b.at(pages + "/" + e.ID + `(\?.*)?$`)
	b.press("Archive")
	b.inState("#environment", "archived")
	b.press("Restore")
	b.inState("#environment", "active")
	b.follow("Delete")
	b.inState("#delete", "ready")
	b.press("Delete environment")
	b.at(pages + `(\?.*)?$`)
	if _, ok := s.named(t, name); ok {
		t.Error("it is still there")
	}
}

// runThere starts a run from the company's page.
func (b *tab) runThere(s *server, environment, script string) {
	b.t.Helper()
	b.visit("/companies/" + s.company + "/runs")
	b.fill("#f-command", script)
	_, err := b.find("#f-environmentId").SelectOption(playwright.SelectOptionValues{Labels: playwright.StringSlice(environment)})
	b.must(err, "choose %s", environment)
	b.press("Run")
	b.at(`/runs/[0-9a-f-]{36}$`)
}

// TestJourney_FlagOffAndOn turns environments off for everybody, so it has a
// server of its own.
func TestJourney_FlagOffAndOn(t *testing.T) {
	s := newServer(t)
	s.furnish(t, "Flag")
	s.turn(t, false)
	b := open(t, s.url, desktop)
	b.visit(pages)
	b.inState("#flag-off", "switch")
	b.press("Turn on environments")
	b.misses("#flag-off")
	b.inState("#environments", "on")
	b.visit("/company/settings/instance/experimental")
	b.must(b.find("#f-enableEnvironments").Uncheck(), "turn it off")
	b.press("Save")
	b.reads("#toasts", "Settings saved.") // answered: to leave earlier would cut the save off
	b.visit(pages)
	b.inState("#environments", "flag-off")
	b.visit("/companies/" + s.company + "/runs")
	b.inState("#run-form", "blocked")
}

// TestJourney_TwoTabsEditOneRow: the second save is not lost, and not made
// without a look at the first.
func TestJourney_TwoTabsEditOneRow(t *testing.T) {
	s, host := site(t), newHost(t)
	name := unique("Two tabs")
	s.remove(t, name)
	id := host.save(t, s, name)
	first := open(t, s.url, desktop)
	second := first.another()
	second.expect(`412`)
	for _, b := range []*tab{first, second} {
		b.visit(pages + "/" + id + "/edit")
		b.inState("#environment-form", "edit")
	}
	first.fill("#f-description", "from the first tab")
	first.press("Save changes")
	first.at(pages + "/" + id + `(\?.*)?$`)

	second.fill("#f-description", "from the second tab")
	second.press("Save changes")
	second.inState("#environment-form", "stale")
	second.reads("#environment-form", "from the first tab")
	second.reads("#environment-form", "local operator")
	second.holds("#f-description", "from the second tab")
	if e, _ := s.named(t, name); e.Description == nil || *e.Description != "from the first tab" {
		t.Fatalf("saved is %v, want the first tab's", e.Description)
	}
	second.must(second.find("#save").Click(), "save over it")
	second.at(pages + "/" + id + `(\?.*)?$`)
	if e, _ := s.named(t, name); e.Description == nil || *e.Description != "from the second tab" {
		t.Errorf("saved is %v, want the second tab's", e.Description)
	}
}

// TestJourney_SaveOfADeletedRow: a form outlives its environment, and is saved
// as a new one.
func TestJourney_SaveOfADeletedRow(t *testing.T) {
	s, host := site(t), newHost(t)
	name := unique("Gone")
	s.remove(t, name)
	id := host.save(t, s, name)
	b := open(t, s.url, desktop)
	b.expect(`422`)
	b.visit(pages + "/" + id + "/edit")
	b.fill("#f-description", "typed for long")
	s.call(t, "DELETE", "/api/environments/"+id, nil, nil, 200)
	b.press("Save changes")
	b.inState("#environment-form", "deleted")
	b.reads("#environment-form", "was deleted by local operator")
	b.holds("#f-description", "typed for long")
	b.press("Save as new")
	b.at(pages + `/[0-9a-f-]{36}(\?.*)?$`)
	if e, ok := s.named(t, name); !ok || e.ID == id || e.Description == nil || *e.Description != "typed for long" {
		t.Errorf("saved is %+v", e)
	}
}

// TestJourney_BackAfterSave: Back shows a whole page and saves nothing again.
func TestJourney_BackAfterSave(t *testing.T) {
	s, host := site(t), newHost(t)
	name := unique("Back")
	s.remove(t, name)
	b := open(t, s.url, desktop)
	b.visit(pages)
	b.follow("Add environment")
	b.fillForm(host, name)
	b.press("Save environment")
	b.at(pages + `/[0-9a-f-]{36}`)
	_, err := b.page.GoBack()
	b.must(err, "go back")
	b.sees("header.nav")
	b.sees("#environment-form, #environments")
	if html, err := b.page.Content(); err != nil || strings.Contains(html, "PRIVATE KEY-----\n") {
		t.Errorf("the page has the key (%v)", err)
	}
	if e, ok := s.named(t, name); !ok || e.Revision != 1 {
		t.Errorf("found %v %+v; want it saved once", ok, e)
	}
}

func TestJourney_DoubleClickOnSave(t *testing.T) {
	s, host := site(t), newHost(t)
	name := unique("Double save")
	s.remove(t, name)
	b := open(t, s.url, desktop)
	b.visit(pages + "/new")
	b.fillForm(host, name)
	b.must(b.find("#save").Dblclick(), "double click on save")
	b.at(pages + `/[0-9a-f-]{36}`)
	b.inState("#environment", "active")
	if e, ok := s.named(t, name); !ok || e.Revision != 1 {
		t.Errorf("found %v %+v; want it saved once", ok, e)
	}
}

func TestJourney_DoubleClickOnTest(t *testing.T) {
	s, host := site(t), newHost(t)
	name := unique("Double test")
	s.remove(t, name)
	id := host.save(t, s, name)
	b := open(t, s.url, desktop)
	b.visit(pages + "/" + id)
	b.must(b.button("Test").Dblclick(), "double click on test")
	b.inState("#test", "ready")
	var probes []struct{ OK bool }
	s.call(t, "GET", "/api/environments/"+id+"/probes", nil, &probes, 200)
	if len(probes) != 1 || !probes[0].OK {
		t.Errorf("there are the tests %+v, want one", probes)
	}
}

// TestJourney_WithoutJavaScript does every change with plain forms.
func TestJourney_WithoutJavaScript(t *testing.T) {
	s, host := site(t), newHost(t)
	name := unique("Plain")
	s.remove(t, name)
	b := open(t, s.url, look{width: 1280, height: 900, noScript: true})
	b.expect("422")
	b.visit(pages + "/new")
	b.fill("#f-name", name)
	b.press("Save environment")
	b.inState("#environment-form", "invalid")
	b.reads("#f-config-host-err", "Enter a host")
	b.fill("#f-config-host", host.Host)
	b.fill("#f-config-port", fmt.Sprint(host.Port))
	b.fill("#f-config-username", host.User)
	b.fill("#f-config-remoteWorkspacePath", host.workspace)
	b.fill("#f-config-privateKey", host.PrivateKey)
	b.press("Save environment")
	b.at(pages + `/[0-9a-f-]{36}`)
	b.press("Test")
	b.plainly("#test[data-state=host-key-unknown]")
	b.follow("Review key")
	b.inState("#trust", "unknown")
	b.must(b.page.GetByText(host.fingerprint()).First().Click(), "choose the key")
	b.press("Trust this key")
	b.at(pages + `/[0-9a-f-]{36}`)
	b.press("Test")
	b.plainly("#test[data-state=ready]")
	b.runThere(s, name, "echo plain")
	b.plainly("#run[data-state=succeeded]")
	b.reads("#output", "plain")
	e, _ := s.named(t, name)
	b.visit(pages + "/" + e.ID)
	b.press("Archive")
	b.inState("#environment", "archived")
	b.follow("Delete")
	b.press("Delete environment")
	b.at(pages + `(\?.*)?$`)
	if _, ok := s.named(t, name); ok {
		t.Error("it is still there")
	}
}

// plainly loads the page again until something is there, as a person without
// JavaScript does.
func (b *tab) plainly(selector string) {
	b.t.Helper()
	until(b.t, 30*time.Second, selector+" at "+b.page.URL(), func() bool {
		n, err := b.find(selector).Count()
		b.must(err, "count %s", selector)
		if n > 0 {
			return true
		}
		_, err = b.page.Reload()
		b.must(err, "load again")
		return false
	})
}

// TestJourney_LocalHasNoTest: the local row is there, and cannot be tested from
// a page or turned into another driver.
func TestJourney_LocalHasNoTest(t *testing.T) {
	s := site(t)
	local, ok := s.named(t, "Local")
	if !ok {
		t.Fatal("there is no Local")
	}
	b := open(t, s.url, desktop)
	b.visit(pages + "/" + local.ID)
	b.must(assertion().Locator(b.button("Test")).ToHaveCount(0), "no Test button")
	b.visit(pages + "/" + local.ID + "/edit")
	options, err := b.find("#f-driver option").AllTextContents()
	if err != nil || len(options) != 1 || !regexp.MustCompile("(?i)local|this server").MatchString(options[0]) {
		t.Errorf("the drivers offered are %q, %v", options, err)
	}
	b.visit(pages + "/new")
	options, err = b.find("#f-driver option").AllTextContents()
	if err != nil || len(options) == 0 {
		t.Fatalf("%q %v", options, err)
	}
	for _, o := range options {
		if strings.Contains(strings.ToLower(o), "local") {
			t.Errorf("a new environment is offered %q", o)
		}
	}
}
