package e2e

import (
	"os"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// TestJourney_PeopleWithoutScripts does with plain forms what matters most.
func TestJourney_PeopleWithoutScripts(t *testing.T) {
	s := newTeamServer(t)
	s.furnish(t, "Acme")
	b := openSignedIn(t, s, look{width: 1280, height: 900, noScript: true}, adminEmail, adminPassword)
	b.expect(refusals)
	b.visit(peoplePage)
	b.fill("#f-email", "ben@berth.test")
	b.press("Make the link")
	link := s.path(t, b.shownOnce("#new-link"))
	b.sure("Take back the invitation of ben", "Take it back")
	b.counts("#invitations", 0)
	if status := b.visitStatus(link); status != 409 {
		t.Errorf("a link that was taken back is answered with %d", status)
	}
	b.visit("/companies/" + s.company + "/agents")
	b.fill("#f-name", "reviewer")
	b.press("Create agent")
	b.fill("#f-keyName", "runner")
	b.press("Make key")
	b.shownOnce("#new-key")
	b.sure("Revoke", "Revoke key")
	b.reads("#keys tbody", "Revoked")
	b.visit(accountPage)
	b.fill("#f-currentPassword", adminPassword)
	b.fill("#f-newPassword", adminPassword+"!")
	b.press("Change password")
	b.at(accountPage + `\?done=password`)
	b.sure("Sign out everywhere", "Sign out everywhere")
	b.at(`/signin`)
	b.visit(accountPage)
	b.at(`/signin\?next=%2Faccount`)
	b.fill("#f-email", adminEmail)
	b.fill("#f-password", adminPassword+"!")
	b.press("Sign in")
	b.at(accountPage)
}

// TestPages_PeopleFit opens the pages of people, with the longest names, on a
// phone and on a desk, with every question opened: nothing is too wide, and
// axe-core has nothing against them.
func TestPages_PeopleFit(t *testing.T) {
	s := newTeamServer(t)
	s.furnish(t, strings.Repeat("C", 120))
	s.call(t, "POST", "/api/companies", map[string]any{"name": "Short"}, nil, 201)
	ben := s.invite(t, strings.Repeat("W", 60), map[string]string{s.company: "owner"})
	s.call(t, "POST", "/api/invitations", map[string]any{"email": strings.Repeat("e", 60) + "@berth.test",
		"memberships": []map[string]string{{"companyId": s.company, "role": "member"}}}, nil, 201)
	var agent struct{ ID string }
	s.call(t, "POST", "/api/companies/"+s.company+"/agents", map[string]any{"name": strings.Repeat("A", 120), "adapterType": strings.Repeat("a", 64)}, &agent, 201)
	s.call(t, "POST", "/api/agents/"+agent.ID+"/keys", map[string]any{"name": strings.Repeat("K", 120)}, nil, 201)
	s.call(t, "POST", "/api/account/tokens", map[string]any{"name": strings.Repeat("T", 120)}, nil, 201)
	if err := os.MkdirAll("shots", 0o755); err != nil {
		t.Fatal(err)
	}
	axe := axeSource(t)
	in := "/companies/" + s.company
	for _, l := range []look{{width: 390, height: 844}, {width: 1280, height: 900, dark: true}} {
		b := openSignedIn(t, s, l, adminEmail, adminPassword)
		b.must(b.page.AddInitScript(playwright.Script{Content: playwright.String(axe)}), "add axe-core")
		for _, path := range []string{peoplePage, peoplePage + "/" + ben.id, accountPage, in + "/access", in + "/agents", in + "/agents/" + agent.ID} {
			b.visit(path)
			b.fits(path)
			b.eval(`() => { for (const d of document.querySelectorAll('details')) d.open = true }`)
			b.fits(path + " with every question open")
		}
	}
}

// fits measures the page and asks axe-core about it.
func (b *tab) fits(name string) {
	b.t.Helper()
	if over, ok := b.eval(`() => document.documentElement.scrollWidth - document.documentElement.clientWidth`).(int); !ok || over > 0 {
		b.t.Errorf("%s is %d px too wide", name, over)
	}
	for _, f := range b.violations() {
		for _, n := range f.Nodes {
			b.t.Errorf("%s: axe-core: %s (%s): %s\n%s\n%s", name, f.ID, f.Impact, f.Help, n.HTML, n.FailureSummary)
		}
	}
	file := "shots/" + strings.ReplaceAll(strings.Trim(anID.ReplaceAllString(name, "id"), "/"), "/", "_")
	width, _ := b.eval(`() => document.documentElement.clientWidth`).(int)
	if width < 500 {
		file += "-phone"
	}
	_, err := b.page.Screenshot(playwright.PageScreenshotOptions{Path: playwright.String(file + ".png"), FullPage: playwright.Bool(true)})
	b.must(err, "take a picture of %s", name)
}

// TestPages_AWaitEnds: a wait that is over says so, and not that it takes 0 s.
func TestPages_AWaitEnds(t *testing.T) {
	s := newServer(t)
	b := open(t, s.url, desktop)
	b.visit("/dev/preview/sign-in.limited")
	b.reads("#sign-in [role=alert]", "Try again now.")
}
