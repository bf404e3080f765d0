package e2e

import (
	"errors"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"
)

// The first admin of every server that newTeamServer starts.
const (
	adminEmail    = "ada@berth.test"
	adminName     = "Ada"
	adminPassword = "correct horse battery staple"
)

var linkForm = regexp.MustCompile(`/link/berth_link_[A-Za-z0-9_-]+`)

// newTeamServer starts a server in the mode authenticated, with Ada for its first
// admin. What s.call and s.cli send is Ada's, by a token.
func newTeamServer(t *testing.T, env ...string) *server {
	t.Helper()
	s := newBareTeamServer(t, env...)
	s.firstAdmin(t)
	return s
}

// newBareTeamServer is newTeamServer before anybody used the link that it printed.
func newBareTeamServer(t *testing.T, env ...string) *server {
	t.Helper()
	return newServer(t, append(env, "BERTH_MODE=authenticated")...)
}

// firstAdmin makes Ada, through the link that the server printed at its start.
func (s *server) firstAdmin(t *testing.T) {
	t.Helper()
	s.redeem(t, s.firstLink(t), adminEmail, adminName, adminPassword)
	s.token = s.tokenOf(t, adminEmail, adminPassword)
}

// firstLink is the link for the first admin that the server printed last. It
// comes when the server answers already.
func (s *server) firstLink(t *testing.T) string {
	t.Helper()
	var links []string
	err := waitFor(10*time.Second, func() bool {
		links = linkForm.FindAllString(s.log.String(), -1)
		return len(links) > 0
	})
	if err != nil {
		t.Fatalf("the server printed no link for its first admin: %v\n%s", err, s.log.String())
	}
	return links[len(links)-1]
}

// redeem uses a one-time link. The e-mail address counts for the first admin's.
func (s *server) redeem(t *testing.T, link, email, name, password string) {
	t.Helper()
	if u, err := url.Parse(link); err != nil || u.Path == "" {
		t.Fatalf("%q is no link", link)
	} else {
		link = u.Path
	}
	form := url.Values{"email": {email}, "name": {name}, "password": {password}}
	res, err := (&http.Client{Timeout: time.Minute, CheckRedirect: stay}).PostForm(s.url+link, form)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	if err := errors.Join(err, res.Body.Close()); err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != http.StatusSeeOther || len(res.Cookies()) == 0 {
		t.Fatalf("the link was answered %d: %s", res.StatusCode, body)
	}
}

// stay keeps a client from following a redirect.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// tokenOf makes a personal token for a password.
func (s *server) tokenOf(t *testing.T, email, password string) string {
	t.Helper()
	var made struct{ Token string }
	s.call(t, "POST", "/api/auth/token", map[string]any{"email": email, "password": password, "name": "e2e"}, &made, 201)
	return made.Token
}

// as is the same server, asked with another token or key; "" asks as nobody.
func (s *server) as(token string) *server {
	other := *s
	other.token = token
	return &other
}

// person is somebody who was invited.
type person struct {
	id, email, password string
	as                  *server // asked with this person's token
}

// invite makes a person with roles by company ("owner", "admin", "member").
func (s *server) invite(t *testing.T, name string, roles map[string]string) person {
	t.Helper()
	p := person{email: strings.ToLower(name) + "@berth.test", password: "a long enough password of " + name}
	memberships := []map[string]string{}
	for company, role := range roles {
		memberships = append(memberships, map[string]string{"companyId": company, "role": role})
	}
	var made struct{ URL string }
	s.call(t, "POST", "/api/invitations", map[string]any{"email": p.email, "memberships": memberships}, &made, 201)
	s.redeem(t, made.URL, "", name, p.password)
	p.as = s.as(s.tokenOf(t, p.email, p.password))
	var me struct{ UserID string }
	p.as.call(t, "GET", "/api/cli-auth/me", nil, &me, 200)
	p.id = me.UserID
	return p
}

// signIn signs a browser in, through the page.
func (b *tab) signIn(email, password string) {
	b.t.Helper()
	b.visit("/signin")
	b.fill("[name=email]", email)
	b.fill("[name=password]", password)
	b.press("Sign in")
	b.at(pages)
}

// openSignedIn is open for somebody who has signed in.
func openSignedIn(t *testing.T, s *server, l look, email, password string) *tab {
	t.Helper()
	b := open(t, s.url, l)
	b.signIn(email, password)
	return b
}

// browserOf is an HTTP client with a session's cookie, for what needs no page.
func (s *server) browserOf(t *testing.T, email, password string) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Timeout: time.Minute, Jar: jar, CheckRedirect: stay}
	res, err := client.PostForm(s.url+"/signin", url.Values{"email": {email}, "password": {password}})
	if err != nil {
		t.Fatal(err)
	}
	if err := res.Body.Close(); err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != http.StatusSeeOther {
		t.Fatalf("signing in was answered %d", res.StatusCode)
	}
	return client
}
