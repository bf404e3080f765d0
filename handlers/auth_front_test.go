package handlers

import (
	"context"
	"crypto/rand"
	"maps"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"berth/environment"

	"github.com/google/uuid"
)

// authFront is a front door in the mode authenticated.
type authFront struct {
	*front
	cookies *cookieRows
}

// newAuthFront opens one whose public URL has TLS, or as changed.
func newAuthFront(t *testing.T, changes ...func(*Deps)) *authFront {
	t.Helper()
	rows := &cookieRows{rows: map[string]cookieRow{}}
	mode := func(d *Deps) { d.Mode, d.Cookies = modeAuthenticated, rows }
	return &authFront{newFront(t, append([]func(*Deps){mode}, changes...)...), rows}
}

// cookieRows keeps browsers' sessions in memory and counts what is asked of it.
type cookieRows struct {
	mu    sync.Mutex
	rows  map[string]cookieRow
	reads atomic.Int64
	saves atomic.Int64
}

type cookieRow struct {
	data    []byte
	expires time.Time
}

func (c *cookieRows) FindCtx(_ context.Context, token string) ([]byte, bool, error) {
	c.reads.Add(1)
	c.mu.Lock()
	defer c.mu.Unlock()
	row, ok := c.rows[token]
	return row.data, ok && time.Now().Before(row.expires), nil
}

func (c *cookieRows) CommitCtx(_ context.Context, token string, data []byte, expires time.Time) error {
	c.saves.Add(1)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rows[token] = cookieRow{data, expires}
	return nil
}

func (c *cookieRows) DeleteCtx(_ context.Context, token string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.rows, token)
	return nil
}

func (c *cookieRows) Find(token string) ([]byte, bool, error) {
	return c.FindCtx(context.Background(), token)
}

func (c *cookieRows) Commit(token string, data []byte, expires time.Time) error {
	return c.CommitCtx(context.Background(), token, data, expires)
}

func (c *cookieRows) Delete(token string) error { return c.DeleteCtx(context.Background(), token) }

func (c *cookieRows) all() map[string]cookieRow {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.rows)
}

const frontPassword = "a long enough password"

// person makes somebody who can sign in.
func (f *authFront) person(name string, admin bool, role environment.Role) environment.Person {
	f.t.Helper()
	link := environment.Link{ID: environment.NewID(), Kind: environment.LinkInvitation, Email: name + "@berth.test", InstanceAdmin: admin, ExpiresAt: time.Now().Add(time.Hour)}
	if role != "" {
		link.Roles = map[uuid.UUID]environment.Role{f.company: role}
	}
	if err := f.store.CreateLink(f.t.Context(), link, []byte("link of "+name), environment.Activity{}); err != nil {
		f.t.Fatal(err)
	}
	p, err := f.store.Redeem(f.t.Context(), []byte("link of "+name), environment.Person{ID: environment.NewID(), Name: name}, "plain "+frontPassword, environment.Activity{})
	if err != nil {
		f.t.Fatal(err)
	}
	return p
}

// agent makes an agent of the company.
func (f *authFront) agent(name string) environment.Agent {
	f.t.Helper()
	a := environment.Agent{ID: environment.NewID(), CompanyID: f.company, Name: name, AdapterType: "process", Status: environment.AgentActive}
	if err := f.store.CreateAgent(f.t.Context(), a, environment.Activity{}); err != nil {
		f.t.Fatal(err)
	}
	return a
}

// key makes a bearer text for a person or an agent.
func (f *authFront) key(k environment.Key) (text string, id uuid.UUID) {
	f.t.Helper()
	kind := environment.TokenPerson
	if k.AgentID != nil {
		kind = environment.TokenAgent
	}
	secret, token, err := environment.NewToken(kind, rand.Reader)
	if err != nil {
		f.t.Fatal(err)
	}
	k.ID, k.Name, k.Hint = environment.NewID(), "key", token.Hint
	if err := f.store.CreateKey(f.t.Context(), k, token.Hash[:], 100, environment.Activity{}); err != nil {
		f.t.Fatal(err)
	}
	return secret.Reveal(), k.ID
}

// signIn signs a person in and returns the cookie as a header, "Cookie: a=b".
func (f *authFront) signIn(p environment.Person, headers ...string) string {
	f.t.Helper()
	a := f.want(f.call("POST", "/api/auth/sign-in", `{"email":"`+p.Email+`","password":"`+frontPassword+`"}`, headers...), 200, nil)
	cookie := cookieOf(f.t, a)
	return "Cookie: " + cookie.Name + "=" + cookie.Value
}

// cookieOf is the one cookie that an answer sets.
func cookieOf(t *testing.T, a answer) *http.Cookie {
	t.Helper()
	lines := a.Header.Values("Set-Cookie")
	if len(lines) != 1 {
		t.Fatalf("cookies: %q, want one", lines)
	}
	cookie, err := http.ParseSetCookie(lines[0])
	if err != nil {
		t.Fatal(err)
	}
	return cookie
}

func bearer(text string) string { return "Authorization: Bearer " + text }

// without reports whether nothing of a text is to be found in another, were it
// but its middle.
func without(t *testing.T, where, text, secret string) {
	t.Helper()
	middle := secret
	if len(secret) > 24 {
		middle = secret[12 : len(secret)-8]
	}
	if strings.Contains(text, middle) {
		t.Errorf("%s holds %q", where, middle)
	}
}
