package handlers

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"berth/environment"
)

// TestSessionCookie: what a browser gets at sign-in.
func TestSessionCookie(t *testing.T) {
	for name, tt := range map[string]struct {
		public, want string
		secure       bool
	}{
		"with TLS": {"https://berth.example", "__Host-berth_session", true},
		"plain":    {"", "berth_session", false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newAuthFront(t, func(d *Deps) { d.PublicURL = tt.public })
			ada := f.person("ada", true, "")
			planted := "Cookie: " + tt.want + "=" + strings.Repeat("a", 43)
			a := f.want(f.call("POST", "/api/auth/sign-in", `{"email":"ada@berth.test","password":"`+frontPassword+`"}`, planted), 200, nil)
			c := cookieOf(t, a)
			if c.Name != tt.want || c.Secure != tt.secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" {
				t.Errorf("the cookie is %s", c)
			}
			if idle := 3 * 24 * 60 * 60; c.MaxAge < idle-5 || c.MaxAge > idle {
				t.Errorf("it lives for %d s, want 3 days", c.MaxAge)
			}
			if len(c.Value) < 40 || strings.HasPrefix(planted, c.Value) {
				t.Errorf("the token is %q", c.Value)
			}
			f.want(f.call("GET", "/api/companies", "", planted), 401, nil) // what was planted before the sign-in is worth nothing
			for token, row := range f.cookies.all() {
				if token == c.Value || strings.Contains(string(row.data), c.Value) {
					t.Error("the store has the token itself")
				}
			}
			f.want(f.call("GET", "/api/companies", "", "Cookie: "+c.Name+"="+c.Value), 200, nil)
			_ = ada
		})
	}
}

// TestSignInAgain gives another token and ends the session of before.
func TestSignInAgain(t *testing.T) {
	f := newAuthFront(t)
	ada, bob := f.person("ada", true, ""), f.person("bob", false, environment.RoleMember)
	first := f.signIn(ada)
	second := f.signIn(bob, first)
	if first == second {
		t.Fatal("the token stayed the same")
	}
	if a := f.call("GET", "/api/companies", "", first); a.Status != 401 {
		t.Errorf("the token of before: %d, want 401", a.Status)
	}
	if left, err := f.store.Sessions(t.Context(), ada.ID); err != nil || len(left) != 0 {
		t.Errorf("Ada's sessions: %v, %v, want none: no browser has one", left, err)
	}
	f.want(f.call("GET", "/api/companies", "", second), 200, nil)
	if n := len(f.cookies.all()); n != 1 {
		t.Errorf("%d sessions are stored, want 1", n)
	}
}

// TestSignOut takes the cookie away, with what is stored of it.
func TestSignOut(t *testing.T) {
	f := newAuthFront(t)
	ada := f.person("ada", true, "")
	cookie := f.signIn(ada)
	a := f.stay("POST", "/signout", "", cookie)
	if c := cookieOf(t, a); a.Status != 303 || c.MaxAge >= 0 || c.Value != "" || c.Name != "__Host-berth_session" || !c.Secure {
		t.Errorf("%d %v", a.Status, a.Header)
	}
	if n := len(f.cookies.all()); n != 0 {
		t.Errorf("%d sessions are stored, want none", n)
	}
	if a := f.call("GET", "/api/companies", "", cookie); a.Status != 401 {
		t.Errorf("after signing out: %d, want 401", a.Status)
	}
	if a := f.stay("GET", "/companies", "", cookie); a.Status != 303 || !strings.HasPrefix(a.Header.Get("Location"), "/signin?next=") {
		t.Errorf("a page after signing out: %d to %s", a.Status, a.Header.Get("Location"))
	}
}

// TestSessionsAreReadForPagesOnly: files and programs cost no read, and a session
// in use is written once an hour.
func TestSessionsAreReadForPagesOnly(t *testing.T) {
	now := time.Now()
	f := newAuthFront(t, func(d *Deps) { d.Now = func() time.Time { return now } })
	ada := f.person("ada", true, "")
	key, _ := f.key(environment.Key{PersonID: &ada.ID})
	cookie := f.signIn(ada)
	reads, saves := f.cookies.reads.Load(), f.cookies.saves.Load()
	f.call("GET", "/static/app.css", "", cookie)
	f.call("GET", "/readyz", "", cookie)
	f.want(f.call("GET", "/api/companies", "", bearer(key), cookie), 200, nil)
	f.call("GET", "/companies", "") // nobody
	if n := f.cookies.reads.Load(); n != reads {
		t.Errorf("they read %d sessions", n-reads)
	}
	f.want(f.call("GET", "/api/companies", "", cookie), 200, nil)
	if n := f.cookies.reads.Load(); n != reads+1 || f.cookies.saves.Load() != saves {
		t.Errorf("one page read %d and wrote %d sessions", n-reads, f.cookies.saves.Load()-saves)
	}
	now = now.Add(touchEvery + time.Second)
	a := f.want(f.call("GET", "/api/companies", "", cookie), 200, nil)
	if c := cookieOf(t, a); "Cookie: "+c.Name+"="+c.Value != cookie || f.cookies.saves.Load() != saves+1 {
		t.Errorf("an hour later it set %s", c)
	}
	f.want(f.call("GET", "/api/companies", "", cookie), 200, nil)
	if f.cookies.saves.Load() != saves+1 {
		t.Error("it was written twice within an hour")
	}
}

// TestStreamsOfSessionsAreNotHeldBack: events go out at once, with a cookie too.
func TestStreamsOfSessionsAreNotHeldBack(t *testing.T) {
	f := newAuthFront(t)
	ada := f.person("ada", true, "")
	cookie := f.signIn(ada)
	probe := f.startProbeAs(cookie)
	r := f.stream("/api/probes/"+probe+"/events", cookie)
	r.until("stage")
	f.driver.open()
	r.until("end")
}

func TestDisabledPersonIsRedirectedAtOnce(t *testing.T) {
	f := newAuthFront(t)
	ada := f.person("ada", true, "")
	f.person("grace", true, "")
	cookie := f.signIn(ada)
	if a := f.stay("GET", "/companies", "", cookie); a.Status != 200 {
		t.Fatalf("before: %d", a.Status)
	}
	f.disable(ada)
	if a := f.stay("GET", "/companies", "", cookie); a.Status != 303 || a.Header.Get("Location") != "/signin?next=%2Fcompanies" {
		t.Errorf("after: %d to %s", a.Status, a.Header.Get("Location"))
	}
}

// TestCompanyCookie: what a browser picked is kept as its session is.
func TestCompanyCookie(t *testing.T) {
	for public, secure := range map[string]bool{"https://berth.example": true, "": false} {
		f := newAuthFront(t, func(d *Deps) { d.PublicURL = public })
		cookie := f.signIn(f.person("ada", true, ""))
		form := strings.NewReader(url.Values{"current": {f.company.String()}}.Encode())
		req, err := http.NewRequestWithContext(t.Context(), "POST", f.url+"/companies", form)
		must(t, err)
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Cookie", strings.TrimPrefix(cookie, "Cookie: "))
		resp, err := http.DefaultTransport.RoundTrip(req) // which follows no redirect
		must(t, err)
		must(t, resp.Body.Close())
		if c := cookieOf(t, answer{Header: resp.Header}); c.Name != companyCookie || c.Secure != secure || !c.HttpOnly {
			t.Errorf("with the public URL %q the cookie is %s", public, c)
		}
	}
}
