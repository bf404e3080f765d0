package handlers

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/environment"
	"berth/environment/environmenttest"
	"berth/environment/identity"
	"berth/handlers/api"

	"github.com/alexedwards/scs/v2"
)

// office is a front door in the mode authenticated, behind a real socket, with a
// company, a first admin and the JSON API's callers: browsers with a session, and
// programs with a key.
type office struct {
	t       *testing.T
	store   *environmenttest.Store
	service *identity.Service
	url     string
	log     *lockedBuffer
	company string
	admin   *visitor
}

const officePassword = "a long enough secret"

func newOffice(t *testing.T) *office {
	t.Helper()
	o := &office{t: t, store: environmenttest.NewStore(time.Now), log: &lockedBuffer{}}
	d := newDeps(t, o.store, slog.New(slog.NewTextHandler(o.log, &slog.HandlerOptions{Level: slog.LevelDebug})), newScriptedSSH(), newScriptedSandbox())
	d.Mode, d.PublicURL, d.Cookies = modeAuthenticated, "", &memoryCookies{rows: map[string][]byte{}}
	s := newServer(d)
	s.assets = packedForms{}
	web := httptest.NewServer(documented(t, s.handler()))
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(o.log.String())
		}
		web.Close()
	})
	o.url, o.service = web.URL, d.Identity
	company, err := d.Catalogue.CreateCompany(t.Context(), environment.LocalOperator(), "Acme")
	o.must(err)
	o.company = company.ID.String()
	_, err = d.Catalogue.UpdateSettings(t.Context(), environment.LocalOperator(), environment.SettingsPatch{EnableEnvironments: new(true)})
	o.must(err)
	link, err := d.Identity.FirstAdminLink(t.Context())
	o.must(err)
	_, _, err = d.Identity.Redeem(t.Context(), link.Reveal(), identity.Redemption{Email: "ada@example.com", Name: "Ada", Password: environment.NewSecret(officePassword)}, identity.Client{})
	o.must(err)
	o.admin = o.signIn("ada@example.com")
	return o
}

func (o *office) must(err error) {
	o.t.Helper()
	if err != nil {
		o.t.Fatal(err)
	}
}

// visitor is a browser or, with a bearer, a program.
type visitor struct {
	o      *office
	client *http.Client
	bearer string
}

func (o *office) visitor() *visitor {
	o.t.Helper()
	jar, err := cookiejar.New(nil)
	o.must(err)
	transport := &http.Transport{}
	o.t.Cleanup(transport.CloseIdleConnections)
	return &visitor{o: o, client: &http.Client{Jar: jar, Transport: transport}}
}

func (o *office) program(bearer string) *visitor {
	v := o.visitor()
	v.bearer = bearer
	return v
}

// signIn is a browser in which somebody is signed in.
func (o *office) signIn(email string) *visitor {
	o.t.Helper()
	v := o.visitor()
	v.want(v.ask("POST", "/api/auth/sign-in", api.SignIn{Email: email, Password: officePassword}), 200, nil)
	return v
}

// join is a browser of somebody new, with a role in the company unless it is "".
func (o *office) join(email string, role environment.Role) *visitor {
	o.t.Helper()
	invitation := api.NewInvitation{Email: email}
	if role != "" {
		company, err := environment.ParseID("company", o.company)
		o.must(err)
		invitation.Memberships = []api.Membership{{CompanyID: company, Role: string(role)}}
	}
	var made api.MadeInvitation
	o.admin.want(o.admin.ask("POST", "/api/invitations", invitation), 201, &made)
	name, _, _ := strings.Cut(email, "@")
	_, token, _ := strings.Cut(made.URL, "/link/")
	_, _, err := o.service.Redeem(o.t.Context(), token, identity.Redemption{Name: name, Password: environment.NewSecret(officePassword)}, identity.Client{})
	o.must(err)
	return o.signIn(email)
}

// ask sends a request; body may be text, nil or a value that is sent as JSON.
func (v *visitor) ask(method, path string, body any) answer {
	v.o.t.Helper()
	var reader io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		reader = strings.NewReader(b)
	default:
		raw, err := json.Marshal(b)
		v.o.must(err)
		reader = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(v.o.t.Context(), method, v.o.url+path, reader)
	v.o.must(err)
	if reader != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if v.bearer != "" {
		req.Header.Set("Authorization", "Bearer "+v.bearer)
	}
	resp, err := v.client.Do(req)
	v.o.must(err)
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	v.o.must(err)
	return answer{resp.StatusCode, resp.Header, string(raw)}
}

// want checks the status and decodes the body into into, if that is not nil.
func (v *visitor) want(a answer, status int, into any) {
	v.o.t.Helper()
	if a.Status != status {
		v.o.t.Fatalf("status %d, want %d: %s", a.Status, status, a.Body)
	}
	if into != nil {
		if err := json.Unmarshal([]byte(a.Body), into); err != nil {
			v.o.t.Fatalf("body %q: %v", a.Body, err)
		}
	}
}

// refused checks the status and the code, and the fields that the errors are at.
func (v *visitor) refused(what string, a answer, status int, code string, fields ...string) {
	v.o.t.Helper()
	var e struct {
		Code    string
		Details struct{ Fields []environment.FieldError }
	}
	if err := json.Unmarshal([]byte(a.Body), &e); err != nil {
		v.o.t.Errorf("%s: body %q: %v", what, a.Body, err)
		return
	}
	var at []string
	for _, f := range e.Details.Fields {
		at = append(at, f.Field)
	}
	if a.Status != status || e.Code != code || strings.Join(at, " ") != strings.Join(fields, " ") {
		v.o.t.Errorf("%s: got %d %s at %q, want %d %s at %q: %s", what, a.Status, e.Code, at, status, code, fields, a.Body)
	}
}

// cookie is the session's, "" without one.
func (v *visitor) cookie() string {
	v.o.t.Helper()
	address, err := url.Parse(v.o.url)
	v.o.must(err)
	for _, c := range v.client.Jar.Cookies(address) {
		if c.Name == "berth_session" {
			return c.Value
		}
	}
	return ""
}

// memoryCookies keeps what the browsers' cookies stand for.
type memoryCookies struct {
	mu   sync.Mutex
	rows map[string][]byte
}

var _ scs.CtxStore = (*memoryCookies)(nil)

// FindCtx implements scs.CtxStore.
func (m *memoryCookies) FindCtx(_ context.Context, token string) ([]byte, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b, ok := m.rows[token]
	return b, ok, nil
}

// CommitCtx implements scs.CtxStore.
func (m *memoryCookies) CommitCtx(_ context.Context, token string, b []byte, _ time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rows[token] = b
	return nil
}

// DeleteCtx implements scs.CtxStore.
func (m *memoryCookies) DeleteCtx(_ context.Context, token string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.rows, token)
	return nil
}

// Find implements scs.Store, as the next two do; nothing calls them.
func (m *memoryCookies) Find(token string) ([]byte, bool, error) {
	return m.FindCtx(context.Background(), token)
}

// Commit implements scs.Store.
func (m *memoryCookies) Commit(token string, b []byte, until time.Time) error {
	return m.CommitCtx(context.Background(), token, b, until)
}

// Delete implements scs.Store.
func (m *memoryCookies) Delete(token string) error {
	return m.DeleteCtx(context.Background(), token)
}
