package e2e

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/playwright-community/playwright-go"
)

const (
	peoplePage  = "/company/settings/instance/people"
	accountPage = "/account"
)

// refusals are what the browser says of answers that these journeys want.
const refusals = `40[1349]|422|429`

// shownOnce reads what a page shows this once.
func (b *tab) shownOnce(selector string) string {
	b.t.Helper()
	b.sees(selector)
	text, err := b.find(selector + " .copy code").First().TextContent()
	b.must(err, "read what %s shows", selector)
	return strings.TrimSpace(text)
}

// sure presses a button that asks first, and confirms.
func (b *tab) sure(ask, yes string) {
	b.t.Helper()
	menu := b.page.Locator("details.sure").Filter(playwright.LocatorFilterOptions{Has: b.page.Locator("summary").Filter(
		playwright.LocatorFilterOptions{HasText: regexp.MustCompile(`^\s*` + strings.ReplaceAll(regexp.QuoteMeta(ask), " ", `\s+`))})}).First()
	b.must(menu.Locator("summary").Click(), "press %q", ask)
	b.must(menu.GetByRole("button", playwright.LocatorGetByRoleOptions{Name: yes, Exact: playwright.Bool(true)}).Click(), "confirm with %q", yes)
}

// choose takes the option of a label.
func (b *tab) choose(selector, label string) {
	b.t.Helper()
	_, err := b.find(selector).SelectOption(playwright.SelectOptionValues{Labels: playwright.StringSlice(label)})
	b.must(err, "choose %s in %s", label, selector)
}

// path is an address of the server without the server.
func (s *server) path(t *testing.T, address string) string {
	t.Helper()
	path, ok := strings.CutPrefix(address, s.url)
	if !ok {
		t.Fatalf("%q is no address of %s", address, s.url)
	}
	return path
}

// TestJourney_FirstAdmin opens the link of a new server, which works once.
func TestJourney_FirstAdmin(t *testing.T) {
	s := newBareTeamServer(t)
	link := s.firstLink(t)
	b := open(t, s.url, desktop)
	b.expect(refusals)
	b.visit("/")
	b.at(`/signin$`)
	b.inState("#sign-in", "shown")
	b.visit(link)
	b.inState("#link", "open")
	b.fill("#f-email", adminEmail)
	b.fill("#f-name", adminName)
	b.fill("#f-password", "too short")
	b.press("Create the admin and sign in")
	b.inState("#link", "invalid")
	b.reads("#f-password-err", "at least 12 characters")
	b.holds("#f-email", adminEmail)
	b.holds("#f-name", adminName)
	b.holds("#f-password", "")
	b.fill("#f-password", adminPassword)
	b.press("Show new password")
	b.must(assertion().Locator(b.find("#f-password")).ToHaveAttribute("type", "text"), "see the password")
	b.press("Create the admin and sign in")
	b.at(pages)
	b.reads("#toasts", "Welcome")
	b.reads(".me", adminName)

	other := open(t, s.url, desktop)
	other.expect(refusals)
	other.visitStatus(link)
	other.inState("#link", "used")
	other.visitStatus(link[:len(link)-3])
	other.inState("#link", "unknown")
	other.visit(peoplePage)
	other.at(`/signin\?next=`)
	other.fill("#f-email", adminEmail)
	other.fill("#f-password", "not the password")
	other.press("Sign in")
	other.inState("#sign-in", "wrong")
	other.holds("#f-email", adminEmail)
	other.holds("#f-password", "")
	other.fill("#f-password", adminPassword)
	other.press("Sign in")
	other.at(peoplePage)
	other.inState("#people", "shown")
	other.click(".me summary")
	other.press("Sign out")
	other.at(`/signin`)
	other.reads("#toasts", "Signed out.")
}

// TestJourney_InvitedMember invites Ben, who joins, sees what members see, and
// becomes an admin of the company while his page is open.
func TestJourney_InvitedMember(t *testing.T) {
	s := newTeamServer(t)
	s.furnish(t, "Acme")
	ada := openSignedIn(t, s, desktop, adminEmail, adminPassword)
	ada.expect(refusals)
	ada.visit(peoplePage)
	ada.fill("#f-email", "ben")
	ada.press("Make the link")
	ada.inState("#people", "invalid")
	ada.holds("#f-email", "ben")
	ada.fill("#f-email", "eve@berth.test")
	ada.press("Make the link")
	ada.inState("#people", "invited")
	eve := s.path(t, ada.shownOnce("#new-link"))
	ada.fill("#f-email", "ben@berth.test")
	ada.choose("select[name^='role.']", "Member")
	ada.press("Make the link")
	ada.reads("#new-link", "ben@berth.test")
	link := s.path(t, ada.shownOnce("#new-link"))
	ada.counts("#invitations li", 2)
	ada.sure("Take back the invitation of eve", "Take it back")
	ada.counts("#invitations li", 1)

	ben := open(t, s.url, desktop)
	ben.expect(refusals)
	ben.visitStatus(eve)
	ben.inState("#link", "unknown")
	ben.visit(link)
	ben.inState("#link", "open")
	ben.holds("#f-email", "ben@berth.test")
	ben.reads("#link", "Member of Acme")
	ben.fill("#f-name", "Ben")
	ben.fill("#f-password", "a password for Ben")
	ben.press("Join and sign in")
	ben.at(pages)
	ben.restricted(s)
	s.turn(t, false)
	ben.visit(pages)
	ben.inState("#flag-off", "ask")
	ben.reads("#flag-off", "An instance admin can turn them on")
	s.turn(t, true)

	ada.visit(peoplePage)
	ada.follow("Ben")
	ada.inState("#person", "active")
	ada.choose("select[name^='role.']", "Admin")
	ada.press("Save")
	ada.reads("#toasts", "Role saved")
	ben.follow("Agents") // his open page was loaded again
	ben.inState("#agents", "none")
	s.agentKey(t, ben)
	s.companyAccess(t, ada)
	s.lastAdmin(t, ada)
	s.passwordLink(t, ada, ben)
}

// restricted looks at what a member sees.
func (b *tab) restricted(s *server) {
	b.t.Helper()
	b.inState("#environments", "restricted")
	b.follow("Companies")
	b.inState("#companies", "read-only")
	for _, label := range []string{"People", "Secrets", "Access", "Agents", "General", "Experimental"} {
		b.counts(".menu a:text-is('"+label+"')", 0)
	}
	for _, path := range []string{peoplePage, "/companies/" + s.company + "/agents", "/companies/" + s.company + "/access", pages + "/new"} {
		if status := b.visitStatus(path); status != http.StatusForbidden {
			b.t.Errorf("a member's visit of %s is answered with %d", path, status)
		}
		b.inState("#error", "forbidden")
		b.reads("#error", "Ask an")
	}
}

// agentKey makes an agent and a key, which a program uses until it is revoked.
func (s *server) agentKey(t *testing.T, b *tab) {
	t.Helper()
	b.press("Create agent")
	b.inState("#agents", "invalid")
	b.fill("#f-name", "reviewer")
	b.press("Create agent")
	b.inState("#agent", "active")
	b.inState("#keys", "none")
	b.press("Make key")
	b.inState("#agent", "invalid")
	b.fill("#f-keyName", "runner")
	b.press("Make key")
	b.inState("#agent", "key-made")
	key := b.shownOnce("#new-key")
	runs := "/api/companies/" + s.company + "/runs"
	s.as(key).call(t, "GET", runs, nil, nil, http.StatusOK)
	s.as(key).call(t, "GET", "/api/companies/"+s.company+"/environments", nil, nil, http.StatusForbidden)
	b.visit("/companies/" + s.company + "/agents")
	b.inState("#agents", "shown")
	b.follow("reviewer")
	b.inState("#keys", "filled")
	b.reads("#keys tbody", "In use")
	if text, err := b.find("main").TextContent(); err != nil || strings.Contains(text, key) {
		t.Errorf("the key is shown a second time, or not readable: %v", err)
	}
	b.sure("Disable", "Disable")
	b.inState("#agent", "disabled")
	s.as(key).call(t, "GET", runs, nil, nil, http.StatusUnauthorized)
	b.press("Enable")
	b.inState("#agent", "active")
	s.as(key).call(t, "GET", runs, nil, nil, http.StatusOK)
	b.sure("Revoke", "Revoke key")
	b.reads("#toasts", "Revoked")
	b.reads("#keys tbody", "Revoked")
	s.as(key).call(t, "GET", runs, nil, nil, http.StatusUnauthorized)
}

// companyAccess gives and takes roles on the page of a company.
func (s *server) companyAccess(t *testing.T, b *tab) {
	t.Helper()
	var empty struct{ ID string }
	s.call(t, "POST", "/api/companies", map[string]any{"name": "Empty"}, &empty, 201)
	b.visit("/companies/" + empty.ID + "/access")
	b.inState("#access", "none")
	b.choose("#f-person", "Ben · ben@berth.test")
	b.press("Give the role")
	b.inState("#access", "shown")
	b.reads("#access", "Ben")
	b.choose("#access .member select", "Take the role away")
	b.press("Save the role of Ben")
	b.inState("#access", "none")
}

// lastAdmin tries to leave the server without an admin.
func (s *server) lastAdmin(t *testing.T, b *tab) {
	t.Helper()
	b.visit(peoplePage)
	b.follow(adminName)
	b.must(b.find("#f-instanceAdmin").Uncheck(), "take the admin's rights away")
	b.press("Save")
	b.inState("#person", "refused")
	b.reads("#person .note", "last instance admin")
	b.must(assertion().Locator(b.find("#f-instanceAdmin")).ToBeChecked(), "see that nothing changed")
}

// passwordLink disables Ben, enables him again and has him set a new password.
func (s *server) passwordLink(t *testing.T, ada, ben *tab) {
	t.Helper()
	ada.visit(peoplePage)
	ada.follow("Ben")
	ada.sure("Disable", "Disable")
	ada.inState("#person", "disabled")
	ben.atWithin(revokedWithin, `/signin\?next=`)
	ben.inState("#sign-in", "ended")
	ada.press("Enable")
	ada.inState("#person", "active")
	ada.press("Make a password link")
	ada.inState("#person", "link-made")
	ben.visit(s.path(t, ada.shownOnce("#new-link")))
	ben.inState("#link", "open")
	ben.fill("#f-password", "another password of Ben")
	ben.press("Set the password and sign in")
	ben.at(pages)
	ada.sure("Sign out everywhere", "Sign out everywhere")
	ben.atWithin(revokedWithin, `/signin\?next=`)
}

// TestJourney_Account changes what is Ada's own: her password, tokens, sessions.
func TestJourney_Account(t *testing.T) {
	s := newTeamServer(t)
	s.furnish(t, "Acme")
	b := openSignedIn(t, s, desktop, adminEmail, adminPassword)
	b.expect(refusals)
	b.visit(accountPage)
	b.inState("#account", "shown")
	b.fill("#f-name", " ")
	b.press("Save name")
	b.inState("#account", "invalid")
	b.fill("#f-name", "Ada L.")
	b.press("Save name")
	b.reads(".me", "Ada L.")
	b.fill("#f-currentPassword", "not the password")
	b.fill("#f-newPassword", adminPassword+"!")
	b.press("Change password")
	b.inState("#account", "invalid")
	b.reads("#f-currentPassword-err", "not your password")
	b.holds("#f-newPassword", "")

	b.press("Make token")
	b.inState("#account", "invalid")
	b.fill("#f-keyName", "script")
	b.press("Make token")
	b.inState("#account", "token-made")
	token := b.shownOnce("#new-token")
	s.as(token).call(t, "GET", "/api/people", nil, nil, http.StatusOK)
	b.visit(accountPage)
	b.sure("Revoke script", "Revoke token")
	b.reads("#toasts", "Revoked")
	s.as(token).call(t, "GET", "/api/people", nil, nil, http.StatusUnauthorized)

	phone := openSignedIn(t, s, look{width: 390, height: 844, dark: true}, adminEmail, adminPassword)
	phone.expect(refusals)
	phone.visit(peoplePage)
	b.visit(accountPage)
	b.reads("#sessions", "this one")
	b.must(b.find("#sessions").GetByRole("button", playwright.LocatorGetByRoleOptions{Name: "End"}).First().Click(), "end a session")
	b.reads("#toasts", "Session ended")
	b.sees("#account")
	for {
		others := b.find("#sessions").GetByRole("button", playwright.LocatorGetByRoleOptions{Name: "End"})
		if n, err := others.Count(); err != nil || n == 0 {
			break // those of the tests' own programs
		}
		b.must(others.First().Click(), "end a session")
		b.reads("#toasts", "Session ended")
	}
	phone.atWithin(revokedWithin, `/signin\?next=`)
	phone.inState("#sign-in", "ended")
	phone.fill("#f-email", adminEmail)
	phone.fill("#f-password", adminPassword)
	phone.press("Sign in")
	phone.at(peoplePage) // back where it was

	b.visit(accountPage)
	b.sure("Sign out everywhere", "Sign out everywhere")
	b.at(`/signin`)
	phone.atWithin(revokedWithin, `/signin\?next=`)
}

// TestJourney_WrongPasswords guesses until it must wait, and goes on until the
// server does not look any more.
func TestJourney_WrongPasswords(t *testing.T) {
	s := newTeamServer(t)
	b := open(t, s.url, desktop)
	b.expect(refusals)
	b.visit("/signin")
	state := ""
	for try := 0; state != "waiting" && try < 15; try++ {
		b.fill("#f-email", "nobody@berth.test")
		b.fill("#f-password", "a guess at the password")
		b.press("Sign in")
		b.holds("#f-password", "")
		var err error
		state, err = b.find("#sign-in").GetAttribute("data-state")
		b.must(err, "read the state")
	}
	b.inState("#sign-in", "waiting")
	b.reads("#sign-in", "Try again in")
	b.holds("#f-email", "nobody@berth.test")
	// What may be asked for grows back: others ask on while the browser does.
	asking, enough := context.WithCancel(t.Context())
	defer enough()
	asked := make(chan error, 1)
	go func() { asked <- signInTooOften(asking, s.url+"/signin") }()
	for try := 0; state != "limited" && try < 30; try++ {
		b.fill("#f-password", "a guess at the password")
		b.press("Sign in")
		b.holds("#f-password", "")
		var err error
		state, err = b.find("#sign-in").GetAttribute("data-state")
		b.must(err, "read the state")
	}
	enough()
	if err := <-asked; err != nil {
		t.Error(err)
	}
	b.inState("#sign-in", "limited")
	b.holds("#f-email", "nobody@berth.test")
}

// signInTooOften tries to sign in until ctx ends.
func signInTooOften(ctx context.Context, url string) error {
	client := &http.Client{Timeout: time.Minute, CheckRedirect: stay}
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader("email=nobody%40berth.test&password=x"))
		if err != nil {
			return err
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		res, err := client.Do(req)
		if ctx.Err() != nil && err != nil {
			return nil
		}
		if err != nil {
			return err
		}
		if err := res.Body.Close(); err != nil {
			return err
		}
		if res.Header.Get("Retry-After") == "" && res.StatusCode == http.StatusTooManyRequests {
			return errors.New("a sign-in too many is not told how long to wait")
		}
	}
}

// TestJourney_NobodySignsIn visits the pages of people where nobody has an account.
func TestJourney_NobodySignsIn(t *testing.T) {
	s := site(t)
	b := open(t, s.url, desktop)
	b.visit("/signin?next=/companies")
	b.inState("#sign-in", "not-needed")
	b.follow("Go on")
	b.at(`/companies$`)
	b.counts(".me", 0)
	b.follow("People")
	b.inState("#people", "none")
	b.reads("#people", "nobody signs in")
}
