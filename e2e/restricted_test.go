package e2e

import (
	"strings"
	"testing"
)

// TestJourney_RestrictedOperator: a member sees what exists and how it is, starts
// runs, and meets nothing that could be pressed in vain.
func TestJourney_RestrictedOperator(t *testing.T) {
	s, host := newTeamServer(t), newHost(t)
	s.furnish(t, "Acme")
	id := host.save(t, s, "build-box")
	var probe struct{ OK bool }
	s.call(t, "POST", "/api/environments/"+id+"/probe", map[string]any{}, &probe, 200)
	mia := s.invite(t, "Mia", map[string]string{s.company: "member"})
	b := openSignedIn(t, s, desktop, mia.email, mia.password)
	b.expect("403")

	b.visit(pages)
	b.inState("#environments", "restricted")
	b.reads("#environments", "An instance admin can change environments")
	b.hides(host)
	for _, name := range []string{"Test", "Test all", "Edit"} {
		b.must(assertion().Locator(b.button(name)).ToHaveCount(0), "no %s", name)
	}
	b.counts("main a[href$='/edit'], main a[href$='/new'], main form[method=post]", 0)
	b.follow("build-box")
	b.inState("#environment", "read-only")
	b.inState("#test", "ready")
	b.hides(host)
	b.counts("main form[method=post], main a[data-dialog]", 0)
	b.follow("Leases")
	b.sees("#leases")
	for _, path := range []string{"/edit", "?tab=configuration", "?tab=activity", "/delete", "/trust"} {
		if status := b.visitStatus(pages + "/" + id + path); status != 403 {
			t.Errorf("%s answers %d", path, status)
		}
		b.inState("#error", "forbidden")
	}
	if status := b.visitStatus("/companies/" + s.company + "/secrets"); status != 403 {
		t.Errorf("the company's secrets answer %d", status)
	}

	b.visit("/companies/" + s.company + "/runs")
	b.counts("#f-environmentId option[disabled]", 1)
	b.runThere(s, "build-box", "echo from a member")
	b.inState("#run", "succeeded")
	b.reads("#output", "from a member") // the folder that it ran in is the company's own to know
	b.counts("#run-where dt:text-is('Target'), #run-where dt:text-is('Host')", 0)
}

// hides wants nothing in the page's source that says where a host is.
func (b *tab) hides(h *host) {
	b.t.Helper()
	html, err := b.page.Content()
	b.must(err, "read the page")
	for _, hidden := range []string{h.Host, h.workspace, h.fingerprint()} {
		if hidden != "" && strings.Contains(strings.ReplaceAll(html, b.base, ""), hidden) {
			b.t.Errorf("%s: the source holds %s", b.page.URL(), hidden)
		}
	}
}

// TestJourney_TwoAdminsSaveAtOnce: the second one meets both versions, secrets as
// "changed", and loses neither what was typed nor the first one's key.
func TestJourney_TwoAdminsSaveAtOnce(t *testing.T) {
	s, host := newTeamServer(t), newHost(t)
	s.furnish(t, "Acme")
	id := host.save(t, s, "build-box")
	var made struct{ URL string }
	s.call(t, "POST", "/api/invitations", map[string]any{"email": "dana@berth.test", "isInstanceAdmin": true}, &made, 201)
	s.redeem(t, made.URL, "", "Dana", adminPassword)
	ada, dana := openSignedIn(t, s, desktop, adminEmail, adminPassword), openSignedIn(t, s, desktop, "dana@berth.test", adminPassword)
	dana.expect("412")
	for _, b := range []*tab{ada, dana} {
		b.visit(pages + "/" + id + "/edit")
		b.inState("#environment-form", "edit")
		b.inState("#pick-config-privateKey", "owned")
	}
	ada.takes("config-password", "create")
	ada.fill("#f-config-password-title", "password of the box")
	ada.fill("#f-config-password-new", "of ada")
	ada.press("Save changes")
	ada.at(pages + "/" + id + `(\?.*)?$`)

	dana.fill("#f-description", "by dana")
	dana.fill("[name='env.0.name']", "DANAS_TOKEN")
	dana.fill("[name='env.0.value']", "of dana")
	dana.press("Save changes")
	dana.inState("#environment-form", "stale")
	dana.reads("#environment-form", "It was changed by Ada")
	dana.reads(".versions", "Password not changed changed")
	dana.reads(".versions", "DANAS_TOKEN")
	dana.holds("#f-description", "by dana")
	dana.inState("#pick-config-password", "shared")
	dana.must(dana.find("#save").Click(), "save over it")
	dana.at(pages + "/" + id + `(\?.*)?$`)
	dana.visit(pages + "/" + id + "?tab=configuration")
	dana.reads("#settings", "password of the box")
	dana.reads("#settings", "stored · ssh-ed25519") // the key is still there
	dana.reads("#variables", "DANAS_TOKENstored secret")
}
