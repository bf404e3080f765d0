package e2e

import (
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// picks has a browser be of a server's company.
func (b *tab) picks(s *server) {
	b.t.Helper()
	b.visit(pages)
	if n, err := b.find("details.pick:not(.me)").Count(); err != nil || n == 0 {
		return // there is only one
	}
	b.click("details.pick:not(.me) > summary")
	b.click("button[name=current][value='" + s.company + "']")
	b.counts("button[name=current][value='"+s.company+"'][aria-current]", 1)
}

// newSandboxForm is an empty form of a new Docker sandbox.
func (b *tab) newSandboxForm() {
	b.t.Helper()
	b.visit(pages + "/new")
	b.picksDriver("sandbox")
}

func (b *tab) picksDriver(driver string) {
	b.t.Helper()
	b.takesOption("#f-driver", driver)
	b.sees("#provider")
}

// fillSandbox fills an empty form with an image on an engine.
func (b *tab) fillSandbox(name, image, engine string) {
	b.t.Helper()
	b.fill("#f-name", name)
	b.fill("#f-config-image", image)
	b.fill("#f-config-network", "none")
	b.opens("#config-engine")
	b.fill("#f-config-engine", engine)
}

// opens unfolds a part of the form.
func (b *tab) opens(part string) {
	b.t.Helper()
	if n, err := b.find(part + "[open]").Count(); err != nil || n > 0 {
		b.must(err, "count %s", part)
		return
	}
	b.click(part + " > summary")
	b.sees(part + "[open]")
}

// takesOption chooses the option of a select by its value.
func (b *tab) takesOption(selector, value string) {
	b.t.Helper()
	_, err := b.find(selector).SelectOption(playwright.SelectOptionValues{Values: playwright.StringSlice(value)})
	b.must(err, "choose %s in %s", value, selector)
}

// TestJourney_SandboxMainJob: a sandbox is made in the form, tested and qualified,
// runs a command in a container that is named and gone afterwards, and is deleted.
func TestJourney_SandboxMainJob(t *testing.T) {
	t.Parallel()
	s := newSandboxes(t)
	digest := s.registry.Push(t, s.engine, s.engine.Musl(t), "team/main:1")
	image := s.registry.Address + "/team/main@" + digest
	name := unique("Sandbox")
	s.remove(t, name)
	b := open(t, s.url, desktop)
	b.picks(s.server)

	b.follow("Add environment")
	b.picksDriver("sandbox")
	b.inState("#environment-form", "new")
	b.inState("#f-config-provider-docker-card", "setup-limited")
	b.fillSandbox(name, image, s.engine.Host)
	b.inState("#image-parts", "pinned")
	b.press("Test")
	b.inState("#test", "ready")
	b.reads("#test", "this form, not yet saved")
	b.press("Save environment")
	b.at(pages + `/[0-9a-f-]{36}`)
	e, _ := s.named(t, name)
	b.inState("#environment", "active")
	b.inState("#qualification-notice", "absent")
	b.inState("#test-start", "ready")

	b.press("Test")
	b.inState("#test", "ready")
	b.reads("#test", "Platform qualification recorded.")
	b.inState("#qualification-notice", "recorded")
	b.counts("#test-steps > li", 9)
	s.isEmpty(t, e.ID, "after the test")
	b.reads("#begin-test", "Test again")

	b.runThere(s.server, name, `echo "from $(hostname)"; uname -s`)
	b.inState("#run", "succeeded")
	b.reads("#output", "from ")
	b.reads("#run-where", "Container")
	s.isEmpty(t, e.ID, "after the run")

	b.visit(pages)
	b.inState("#env-"+e.ID, "ready")
	b.reads("#env-"+e.ID, "/team/main@sha256:")
	b.visit(pages + "/" + e.ID + "?tab=configuration")
	b.reads("#settings", s.engine.Host)
	b.visit(pages + "/" + e.ID + "?tab=leases")
	b.reads("#leases", "Released")
	b.follow("Delete")
	b.press("Delete environment")
	b.at(pages + `(\?.*)?$`)
}

// TestJourney_SandboxForm: what is typed is looked at where it stands, and stays
// through another provider, a refusal and somebody else's save.
func TestJourney_SandboxForm(t *testing.T) {
	t.Parallel()
	s := newSandboxes(t)
	name := unique("Form")
	s.remove(t, name)
	b := open(t, s.url, desktop)
	b.expect("422|412")
	b.newSandboxForm()
	b.inState("#image-parts", "none")
	b.fill("#f-name", name)
	b.fill("#f-config-image", "Team/App")
	b.must(b.find("#f-config-image").Blur(), "leave the image")
	b.reads("#f-config-image-err", "lower case")
	b.fill("#f-config-image", "team/app:1")
	b.must(b.find("#f-config-image").Blur(), "leave the image")
	b.inState("#image-parts", "mutable")
	b.reads("#f-config-image-err", "")

	b.must(b.find("#f-config-provider-fake").Check(), "another provider")
	b.misses("#config-engine")
	b.holds("#f-name", name)
	b.must(b.find("#f-config-provider-docker").Check(), "back")
	b.sees("#config-engine")
	b.holds("#f-name", name)
	b.holds("#f-config-image", "team/app:1")

	b.opens("#config-limits")
	b.fill("#f-config-memoryMiB", "lots")
	b.opens("#config-advanced")
	b.fill("[name='config.labels.0.key']", "team")
	b.fill("[name='config.labels.0.value']", "blue")
	b.click("[data-add-entry='f-config-labels-rows']")
	b.fill("[name='config.labels.1.key']", "cost")
	b.fill("[name='config.labels.1.value']", "42")
	b.click("#f-config-labels-rows > :nth-child(1) [data-drop-entry]")
	b.holds("[name='config.labels.0.key']", "cost")
	b.press("Save environment")
	b.inState("#environment-form", "invalid")
	b.reads("#f-config-memoryMiB-err", "number")
	b.sees("#config-limits[open]")
	b.holds("#f-config-memoryMiB", "lots")
	b.holds("[name='config.labels.0.value']", "42")
	b.fill("#f-config-memoryMiB", "256")
	b.fill("#f-config-pids", "64")
	b.press("Save environment")
	b.at(pages + `/[0-9a-f-]{36}`)

	e, _ := s.named(t, name)
	b.follow("Edit")
	b.inState("#environment-form", "edit")
	b.sees("#config-limits[open]")
	b.holds("#f-config-pids", "64")
	b.click("[data-unset='f-config-pids']")
	b.holds("#f-config-pids", "")
	s.patch(t, e.ID, map[string]any{"memoryMiB": 512})
	b.press("Save changes")
	b.inState("#environment-form", "stale")
	b.reads("#environment-form .versions", "512")
	b.click("#save")
	b.at(pages + "/" + e.ID + `(\?.*)?$`)
	var saved struct{ Config map[string]any }
	s.call(t, "GET", "/api/environments/"+e.ID, nil, &saved, 200)
	if labels, ok := saved.Config["labels"].(map[string]any); !ok || len(labels) != 1 || labels["cost"] != "42" || saved.Config["memoryMiB"] != 256.0 {
		t.Errorf("saved is %v", saved.Config)
	}

	b.press("Archive")
	b.inState("#test-start", "blocked")
	b.reads("#test-start", "Restore it first")
}

// TestJourney_SandboxFormPlain is the form without scripts, and on a phone.
func TestJourney_SandboxFormPlain(t *testing.T) {
	t.Parallel()
	s := newSandboxes(t)
	name := unique("Plain sandbox")
	s.remove(t, name)
	plain := open(t, s.url, look{width: 390, height: 844, noScript: true})
	plain.expect("422")
	plain.picks(s.server)
	plain.visit(pages + "/new")
	plain.fill("#f-name", name)
	plain.takesOption("#f-driver", "sandbox")
	plain.press("Show the driver's settings")
	plain.holds("#f-name", name)
	plain.press("Save environment")
	plain.inState("#environment-form", "invalid")
	plain.reads("#f-config-image-err", "Image is needed")
	plain.fillSandbox(name, s.engine.Busybox(t), s.engine.Host)
	plain.press("Save environment")
	plain.at(pages + `/[0-9a-f-]{36}`)
	plain.press("Test")
	plain.plainly("#test[data-state=ready], #test[data-state=warning]")
	e, _ := s.named(t, name)
	run := s.begin(t, e.ID, "sh", "-c", "while :; do sleep 0.1; done")
	plain.visit("/companies/" + s.company + "/runs/" + run)
	plain.plainly("#run[data-state=running]")
	plain.press("Cancel run")
	plain.plainly("#run-summary[data-state=cancelled]")

	phone := open(t, s.url, look{width: 390, height: 844})
	phone.must(phone.page.AddInitScript(playwright.Script{Content: playwright.String(axeSource(t))}), "add axe-core")
	for _, path := range []string{"/new", "/" + e.ID, "/" + e.ID + "/edit", "/" + e.ID + "?tab=image", "/" + e.ID + "?tab=leases"} {
		phone.visit(pages + path)
		if path == "/new" {
			phone.picksDriver("sandbox")
		}
		if over, ok := phone.eval(`() => document.documentElement.scrollWidth - document.documentElement.clientWidth`).(int); !ok || over > 0 {
			t.Errorf("%s is %d px too wide", path, over)
		}
		for _, f := range phone.violations() {
			t.Errorf("%s: axe-core: %s: %s %+v", path, f.ID, f.Help, f.Nodes)
		}
	}
}

// TestJourney_SandboxWrongPassword: a registry that refuses says so, and the right
// password is all that it takes; an engine that is not there is unreachable.
func TestJourney_SandboxWrongPassword(t *testing.T) {
	t.Parallel()
	s := newSandboxes(t)
	closed := startClosedRegistry(t)
	digest := closed.Push(t, s.engine, s.engine.Variant(t, "private"), "team/private:1")
	name := unique("Private")
	s.remove(t, name)
	id := s.save(t, name, closed.Address+"/team/private@"+digest, map[string]any{"pull": "always", "registryUsername": closedUser, "registryPassword": "wrong"})
	b := open(t, s.url, desktop)
	b.picks(s.server)
	b.visit(pages + "/" + id)
	b.press("Test")
	b.inState("#test", "auth-failed")
	b.reads("#test .verdict", closed.Address)
	b.reads("#stage-image", "what that user may pull")
	if code := s.lastCode(t, id); code != "image_denied" {
		t.Errorf("the code is %s", code)
	}
	s.isEmpty(t, id, "after the refusal")
	b.visit(pages + "/" + id + "?tab=leases")
	b.inState("#rows > li", "failed")
	b.visit(pages + "/" + id)

	b.follow("Edit")
	b.takes("config-registryPassword", "paste")
	b.fill("#f-config-registryPassword", closedPassword)
	b.press("Test")
	b.inState("#test", "ready")
	if html, err := b.page.Content(); err != nil || strings.Contains(html, closedPassword) {
		t.Errorf("the page has the password (%v)", err)
	}
	b.press("Save changes")
	b.at(pages + "/" + id + `(\?.*)?$`)
	b.press("Test again")
	b.sees("#test[data-state=ready], #test[data-state=warning]")

	s.patch(t, id, map[string]any{"engine": "unix:///nowhere/docker.sock"})
	b.visit(pages + "/" + id)
	b.press("Test again")
	b.inState("#test", "unreachable")
}

// lastCode is the code of an environment's last test.
func (s *server) lastCode(t *testing.T, environment string) string {
	t.Helper()
	var probes []verdict
	s.call(t, "GET", "/api/environments/"+environment+"/probes", nil, &probes, 200)
	if len(probes) == 0 {
		t.Fatal("there are no tests")
	}
	return probes[0].Details.Code
}
