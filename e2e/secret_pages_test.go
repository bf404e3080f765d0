package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// fillTarget fills an empty form with a host's settings, but for its key.
func (b *tab) fillTarget(h *host, name string) {
	b.t.Helper()
	b.fill("#f-name", name)
	b.fill("#f-config-host", h.Host)
	b.fill("#f-config-port", fmt.Sprint(h.Port))
	b.fill("#f-config-username", h.User)
	b.fill("#f-config-remoteWorkspacePath", h.workspace)
}

// takes chooses where a field takes its secret from.
func (b *tab) takes(field, source string) {
	b.t.Helper()
	b.must(b.find("#f-"+field+"-source-"+source).Check(), "%s: %s", field, source)
}

// selects chooses the option of a select whose text begins with a label.
func (b *tab) selects(selector, label string) {
	b.t.Helper()
	value, err := b.find(selector + " option").Filter(playwright.LocatorFilterOptions{HasText: label}).First().GetAttribute("value")
	b.must(err, "find %s in %s", label, selector)
	_, err = b.find(selector).SelectOption(playwright.SelectOptionValues{Values: playwright.StringSlice(value)})
	b.must(err, "choose %s", label)
}

func (s *server) trust(t *testing.T, h *host, id string) {
	t.Helper()
	s.call(t, "POST", "/api/environments/"+id+"/trust-host-key", map[string]any{"fingerprint": h.fingerprint()}, nil, 200)
}

// TestJourney_CompanySecret: a company's secret is made, chosen, pinned, rotated,
// disabled, enabled, and goes when nothing uses it.
func TestJourney_CompanySecret(t *testing.T) {
	s, host := site(t), newHost(t)
	name, secret := unique("With a secret"), unique("deploy-key")
	s.remove(t, name)
	list := "/companies/" + s.company + "/secrets"
	b := open(t, s.url, desktop)
	b.expect("422")

	b.visit(list)
	b.press("Add secret")
	b.inState("#secrets", "invalid")
	b.fill("#f-name", secret)
	b.fill("#f-value", host.PrivateKey)
	b.press("Add secret")
	b.reads("#toasts", "Secret added")
	b.inState("#secrets", "shown")

	b.visit(pages + "/new")
	b.fillTarget(host, name)
	b.takes("config-privateKey", "choose")
	b.selects("#f-config-privateKey-secret", secret)
	b.press("Save environment")
	b.at(pages + `/[0-9a-f-]{36}`)
	e, _ := s.named(t, name)
	s.trust(t, host, e.ID)
	b.press("Test")
	b.inState("#test", "ready")

	b.visit(pages + "/" + e.ID + "/edit")
	b.inState("#pick-config-privateKey", "shared")
	b.takes("config-privateKey", "choose")
	b.fill("#f-config-privateKey-version", "1")
	b.press("Save changes")
	b.at(pages + "/" + e.ID + `(\?.*)?$`)
	b.visit(pages + "/" + e.ID + "/edit")
	b.inState("#pick-config-privateKey", "pinned")

	b.visit(list)
	b.follow(secret)
	b.inState("#secret", "active")
	b.reads("#secret-uses", name)
	b.reads("#secret-uses", "version 1 only")
	b.reads("#secret-accesses", "Opened")
	page := strings.TrimPrefix(b.page.URL(), s.url)
	b.press("Store the new value")
	b.inState("#secret", "invalid")
	b.fill("#f-value", "no key at all")
	b.press("Store the new value")
	b.reads("#toasts", "New version stored")
	b.counts("#secret-versions tbody tr", 2)

	b.visit(pages + "/" + e.ID) // the first version still opens
	b.press("Test")
	b.inState("#test", "ready")
	b.disables(page)
	b.visit(pages + "/" + e.ID)
	b.press("Test")
	b.inState("#test", "credential-missing")
	b.reads("#test", "the stored private key is disabled")
	b.visit(pages + "/" + e.ID + "/edit")
	b.inState("#pick-config-privateKey", "disabled")
	b.visit(page)
	b.reads("#secret-accesses", "secret disabled")
	b.press("Enable")
	b.inState("#secret", "active")
	b.visit(pages + "/" + e.ID)
	b.press("Test")
	b.inState("#test", "ready")
	b.goesWithItsLastUse(s, page, e.ID)
}

// disables disables a secret on its page.
func (b *tab) disables(page string) {
	b.t.Helper()
	b.visit(page)
	b.press("Disable")
	b.inState("#secret", "disabled")
}

// goesWithItsLastUse deletes a secret, which works once nothing uses it.
func (b *tab) goesWithItsLastUse(s *server, page, environment string) {
	b.t.Helper()
	b.visit(page)
	b.follow("Delete")
	b.inState("#secret-delete", "in-use")
	s.call(b.t, "DELETE", "/api/environments/"+environment, nil, nil, 200)
	b.visit(page)
	b.follow("Delete")
	b.inState("#secret-delete", "ready")
	b.press("Delete secret")
	b.at(`/secrets(\?.*)?$`)
	if status := b.visitStatus(page); status != 404 {
		b.t.Errorf("the page of a secret that is gone: %d", status)
	}
	b.expect("404")
}

// TestJourney_SecretMadeInPlace: the form makes a company's secret, and a save
// that is refused in between loses nothing of it.
func TestJourney_SecretMadeInPlace(t *testing.T) {
	for name, l := range map[string]look{"with scripts": desktop, "without": {width: 390, height: 844, noScript: true}} {
		t.Run(name, func(t *testing.T) {
			s, host := site(t), newHost(t)
			name, secret := unique("In place"), unique("made here")
			s.remove(t, name)
			b := open(t, s.url, l)
			b.expect("422")
			b.visit(pages + "/new")
			b.fillTarget(host, "")
			b.takes("config-privateKey", "create")
			_, err := b.find("#f-config-privateKey-company").SelectOption(playwright.SelectOptionValues{Values: playwright.StringSlice(s.company)})
			b.must(err, "choose the company")
			b.fill("#f-config-privateKey-title", secret)
			b.fill("#f-config-privateKey-new", host.PrivateKey)
			b.fill("#f-config-password", "typed once")
			b.press("Save environment")
			b.inState("#environment-form", "invalid")
			b.holds("#f-config-privateKey-new", "")
			b.holds("#f-config-privateKey-title", secret)
			b.fill("#f-name", name)
			b.press("Save environment")
			b.at(pages + `/[0-9a-f-]{36}`)
			e, _ := s.named(t, name)
			s.trust(t, host, e.ID)
			var probe struct{ OK bool }
			s.call(t, "POST", "/api/environments/"+e.ID+"/probe", map[string]any{}, &probe, 200)
			if !probe.OK {
				t.Error("the key that was kept does not log in")
			}
			b.visit("/companies/" + s.company + "/secrets")
			b.reads("#secrets", secret)
			b.visit(pages + "/" + e.ID + "/edit")
			b.inState("#pick-config-privateKey", "shared")
			b.inState("#pick-config-password", "owned")
			b.takes("config-password", "remove")
			b.press("Save changes")
			b.at(pages + "/" + e.ID + `(\?.*)?$`)
			b.visit(pages + "/" + e.ID + "/edit")
			b.inState("#pick-config-password", "none")
		})
	}
}

// TestJourney_DotEnv pastes a .env text: rows land in the form, with what is wrong
// at each.
func TestJourney_DotEnv(t *testing.T) {
	for name, l := range map[string]look{"with scripts": desktop, "without": {width: 390, height: 844, noScript: true}} {
		t.Run(name, func(t *testing.T) {
			s, host := site(t), newHost(t)
			name := unique("Dotenv")
			s.remove(t, name)
			b := open(t, s.url, l)
			b.visit(pages + "/new")
			b.fillTarget(host, name)
			b.click("summary:has-text('Paste a .env file')")
			b.fill("#f-dotenv", "# nothing\n")
			b.press("Add its variables")
			b.inState("#dotenv-read", "nothing")
			b.fill("#f-dotenv", "# from a file\nexport NODE_ENV=test\nKEY=\"two\nlines\"\nNODE_ENV=again\n")
			b.press("Add its variables")
			b.inState("#dotenv-read", "problems")
			b.reads("#dotenv-read", "Line 5: NODE_ENV: It is set on line 2 already.")
			b.holds("[name='env.0.value']", "test")
			b.reads("#vars", "stored as one")
			b.must(b.find("[name='env.2.remove']").Check(), "remove the second")
			b.holds("#f-name", name)
			b.press("Save environment")
			b.at(pages + `/[0-9a-f-]{36}`)
			e, _ := s.named(t, name)
			var saved struct {
				EnvVars map[string]struct{ Type, Value string }
			}
			s.call(t, "GET", "/api/environments/"+e.ID, nil, &saved, 200)
			if len(saved.EnvVars) != 2 || saved.EnvVars["NODE_ENV"].Value != "test" || saved.EnvVars["KEY"].Type != "secret_ref" {
				t.Errorf("saved %+v", saved.EnvVars)
			}
			b.visit(pages + "/" + e.ID + "/edit")
			b.click("summary:has-text('Paste a .env file')")
			b.fill("#f-dotenv", "MORE=1\n")
			b.press("Add its variables")
			b.inState("#dotenv-read", "taken")
		})
	}
}

// TestJourney_ActivityFilter narrows the log and takes it along.
func TestJourney_ActivityFilter(t *testing.T) {
	s, host := site(t), newHost(t)
	name := unique("Logged")
	s.remove(t, name)
	id := host.save(t, s, name)
	s.call(t, "PATCH", "/api/environments/"+id, map[string]any{"config": map[string]any{"minFreeMB": 7}}, nil, 200)
	b := open(t, s.url, desktop)
	b.visit("/company/settings/instance/activity")
	b.inState("#record", "shown")
	b.selects("#f-action", "Environments")
	b.fill("[name=actor]", "OPERATOR")
	b.press("Show")
	b.at(`action=environment\.`)
	b.reads("#activity", "environment "+name)
	b.reads("#activity", "config.minFreeMB")
	b.reads("#activity", "host key trusted")
	csv, err := b.find("a:text-is('CSV')").GetAttribute("href")
	b.must(err, "find the export")
	if status := b.eval(`async (path) => (await fetch(path)).status`, csv); status != 200 {
		t.Errorf("the export %s answers %v", csv, status)
	}
	b.fill("[name=actor]", "nobody of that name")
	b.press("Show")
	b.inState("#record", "no-match")
	b.visit(pages + "/" + id + "?tab=activity")
	b.reads("#activity", "config.minFreeMB")
	b.visit("/companies/" + s.company + "/activity")
	b.sees("#record")
}
