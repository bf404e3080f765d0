package e2e

import (
	"regexp"
	"testing"
	"time"

	"github.com/playwright-community/playwright-go"
)

// revokedWithin is how soon a page learns that its reader may read no more.
const revokedWithin = 5 * time.Second

// atWithin waits until the address matches, for no longer than that.
func (b *tab) atWithin(limit time.Duration, pattern string) {
	b.t.Helper()
	err := assertion().Page(b.page).ToHaveURL(regexp.MustCompile(pattern),
		playwright.PageAssertionsToHaveURLOptions{Timeout: playwright.Float(float64(limit.Milliseconds()))})
	b.must(err, "be at %s within %v", pattern, limit)
}

// TestJourney_RevokedSession signs Ada out elsewhere: the page that she watches a
// run on goes to the sign-in page by itself, and signing in brings it back.
func TestJourney_RevokedSession(t *testing.T) {
	s := newTeamServer(t)
	s.furnish(t, "Acme")
	local, ok := s.named(t, "Local")
	if !ok {
		t.Fatal("there is no Local")
	}
	run := s.begin(t, local.ID, "sh", "-c", "echo begun; sleep 600")
	t.Cleanup(func() {
		s.call(t, "POST", "/api/runs/"+run+"/cancel", nil, nil, 202)
		s.ends(t, run, 30*time.Second)
	})
	s.reaches(t, run, 20*time.Second, "running")
	page := "/companies/" + s.company + "/runs/" + run
	b := openSignedIn(t, s, desktop, adminEmail, adminPassword)
	b.expect("401")
	b.visit(page)
	b.reads("#output", "begun")

	s.call(t, "DELETE", "/api/account/sessions", nil, nil, 200)
	b.atWithin(revokedWithin, `/signin\?next=`)
	b.fill("[name=email]", adminEmail)
	b.fill("[name=password]", adminPassword)
	b.press("Sign in")
	b.at(page)

	b.visit(pages)
	s.call(t, "DELETE", "/api/account/sessions", nil, nil, 200)
	b.fill("[data-filter]", "loc") // what htmx asks for is refused
	b.at(`/signin\?next=`)

	b.signIn(adminEmail, adminPassword)
	b.visit(pages + "/new")
	b.fill("[name=name]", "half done")
	s.call(t, "DELETE", "/api/account/sessions", nil, nil, 200)
	b.press("Save environment")
	b.reads("#toasts", "You were signed out. What you typed is still here.")
	b.holds("[name=name]", "half done")
}

// TestJourney_RemovedMember takes Bob's role away while he watches a run.
func TestJourney_RemovedMember(t *testing.T) {
	s := newTeamServer(t)
	s.furnish(t, "Acme")
	local, _ := s.named(t, "Local")
	bob := s.invite(t, "Bob", map[string]string{s.company: "member"})
	run := s.begin(t, local.ID, "sh", "-c", "echo begun; sleep 600")
	t.Cleanup(func() {
		s.call(t, "POST", "/api/runs/"+run+"/cancel", nil, nil, 202)
		s.ends(t, run, 30*time.Second)
	})
	s.reaches(t, run, 20*time.Second, "running")
	b := openSignedIn(t, s, desktop, bob.email, bob.password)
	b.expect("40[134]")
	b.visit("/companies/" + s.company + "/runs/" + run)
	b.reads("#output", "begun")

	s.call(t, "DELETE", "/api/companies/"+s.company+"/members/"+bob.id, nil, nil, 204)
	err := assertion().Locator(b.find("#error")).ToBeVisible(
		playwright.LocatorAssertionsToBeVisibleOptions{Timeout: playwright.Float(float64(revokedWithin.Milliseconds()))})
	b.must(err, "see that the run is not Bob's any more")

	s.call(t, "PATCH", "/api/people/"+bob.id, map[string]any{"disabled": true}, nil, 200)
	b.visit(pages)
	b.at(`/signin\?next=`)
}

// TestPages_WhatIsTypedOutlivesTheServer sends a form while nobody answers, and
// while its sender is signed out: both times it can be sent again.
func TestPages_WhatIsTypedOutlivesTheServer(t *testing.T) {
	s := newTeamServer(t)
	s.furnish(t, "Acme")
	b := open(t, s.url, look{width: 1280, height: 800})
	b.expect(`Failed to load resource|net::ERR_`)
	b.signIn(adminEmail, adminPassword)
	path := "/companies/" + s.company + "/agents"
	b.visit(path)
	b.fill("[name=name]", "Reviewer")
	s.stop(t)
	b.press("Create agent")
	b.reads("#toasts", "The server cannot be reached. What you typed is still here; try again.")
	b.holds("[name=name]", "Reviewer")
	s.start(t)

	s.call(t, "DELETE", "/api/account/sessions", nil, nil, 200)
	b.press("Create agent")
	b.reads("#toasts", "You were signed out. What you typed is still here.")
	b.holds("[name=name]", "Reviewer")
	again := b.another()
	again.signIn(adminEmail, adminPassword)
	again.visit(path)
	b.misses("#toasts .toast:has-text('signed out')")
	b.press("Create agent")
	b.at(path + `/[0-9a-f-]{36}`)

	b.visit(path)
	b.fill("[name=adapterType]", "codex_local")
	b.press("Create agent")
	b.sees("[aria-invalid=true]")
	s.call(t, "DELETE", "/api/account/sessions", nil, nil, 200)
	b.reads("#toasts", "You were signed out. What you typed is still here.")
	b.holds("[name=adapterType]", "codex_local")
}
