package handlers

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"berth/environment"
	"berth/handlers/api"
)

// TestKeysInLocalTrusted: nobody needs one, one that counts is its holder's, and
// one that was meant for another server is not taken for the operator's.
func TestKeysInLocalTrusted(t *testing.T) {
	f := &authFront{front: newFront(t)}
	ada := f.person("ada", true, "")
	text, _ := f.key(environment.Key{PersonID: &ada.ID})
	for key, want := range map[string]int{"": 200, "Bearer " + text: 200, "bearer " + text: 200, "Bearer wrong": 401, "Basic dTpw": 401, "Bearer": 401, "Bearer ": 401, text: 401} {
		var headers []string
		if key != "" {
			headers = []string{"Authorization: " + key}
		}
		for _, path := range []string{"/api/companies", "/api/health"} {
			a := f.call("GET", path, "", headers...)
			if a.Status != want || (want == 401 && !strings.Contains(a.Body, `"invalid_key"`)) {
				t.Errorf("%s with key %q: %d %s, want %d", path, key, a.Status, a.Body, want)
			}
		}
	}
	var me api.Me
	f.want(f.call("GET", "/api/cli-auth/me", "", bearer(text)), 200, &me)
	if me.UserID == nil || *me.UserID != ada.ID {
		t.Errorf("Ada's token is %+v", me)
	}
}

// TestWhoAsks is the table of credentials in the mode authenticated.
func TestWhoAsks(t *testing.T) {
	f := newAuthFront(t)
	ada, bob, agent := f.person("ada", true, ""), f.person("bob", false, environment.RoleMember), f.agent("robot")
	adaKey, _ := f.key(environment.Key{PersonID: &ada.ID})
	bobKey, _ := f.key(environment.Key{PersonID: &bob.ID})
	robotKey, _ := f.key(environment.Key{AgentID: &agent.ID})
	before, after := time.Now().Add(-time.Minute), time.Now().Add(time.Hour)
	expired, _ := f.key(environment.Key{PersonID: &ada.ID, ExpiresAt: &before})
	lasting, _ := f.key(environment.Key{PersonID: &ada.ID, ExpiresAt: &after})
	revoked, _ := f.key(environment.Key{PersonID: &ada.ID, RevokedAt: &before})
	cookie := f.signIn(ada)
	cut := adaKey[:len(adaKey)-1]
	other := map[bool]string{true: "B", false: "A"}[adaKey[20] == 'A']
	forged := adaKey[:20] + other + adaKey[21:]
	tests := []struct {
		name    string
		headers []string
		who     string // "" is refused with code
		code    string
	}{
		{"nobody", nil, "", "unauthenticated"},
		{"a session", []string{cookie}, ada.ID.String(), ""},
		{"a person's token", []string{bearer(bobKey)}, bob.ID.String(), ""},
		{"an agent's key", []string{bearer(robotKey)}, agent.ID.String(), ""},
		{"a token that ends some day", []string{bearer(lasting)}, ada.ID.String(), ""},
		{"a token beside a session", []string{bearer(bobKey), cookie}, bob.ID.String(), ""},
		{"a wrong key beside a session", []string{bearer("berth_pat_x"), cookie}, "", "invalid_key"},
		{"an expired token", []string{bearer(expired)}, "", "invalid_key"},
		{"a revoked token", []string{bearer(revoked)}, "", "invalid_key"},
		{"a cut token", []string{bearer(cut)}, "", "invalid_key"},
		{"a forged token", []string{bearer(forged)}, "", "invalid_key"},
		{"a token and more", []string{bearer(adaKey + " x")}, "", "invalid_key"},
		{"a token after two spaces", []string{bearer(" " + adaKey)}, "", "invalid_key"},
		{"another scheme", []string{"Authorization: Basic " + adaKey}, "", "invalid_key"},
		{"no scheme", []string{"Authorization: " + adaKey}, "", "invalid_key"},
		{"a header for nothing", []string{"Authorization: "}, "", "invalid_key"},
		{"a key of Paperclip's", []string{bearer("pcp_0123456789abcdef0123456789abcdef")}, "", "invalid_key"},
		{"a megabyte", []string{bearer(strings.Repeat("a", 30<<10))}, "", "invalid_key"},
		{"another cookie", []string{"Cookie: __Host-berth_session=" + strings.Repeat("a", 43)}, "", "unauthenticated"},
		{"a long cookie", []string{"Cookie: __Host-berth_session=" + strings.Repeat("a", 9000)}, "", "unauthenticated"},
		{"a session without its prefix", []string{strings.Replace(cookie, "__Host-", "", 1)}, "", "unauthenticated"},
		{"a token as a cookie", []string{"Cookie: __Host-berth_session=" + adaKey}, "", "unauthenticated"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := f.call("GET", "/api/cli-auth/me", "", tt.headers...)
			if tt.who != "" {
				if a.Status != 200 || !strings.Contains(a.Body, tt.who) {
					t.Errorf("%d %s, want %s", a.Status, a.Body, tt.who)
				}
				return
			}
			if a.Status != 401 || !strings.Contains(a.Body, `"code":"`+tt.code+`"`) || a.Header.Get("WWW-Authenticate") != "Bearer" {
				t.Errorf("%d %s %v, want 401 %s", a.Status, a.Body, a.Header, tt.code)
			}
			if page := f.call("GET", "/companies", "", tt.headers...); tt.code == "invalid_key" && (page.Status != 401 || !strings.Contains(page.Body, "does not know that key")) {
				t.Errorf("a page: %d", page.Status)
			}
		})
	}
	for _, text := range []string{adaKey, bobKey, robotKey, expired, revoked, cookie[len("Cookie: __Host-berth_session="):]} {
		without(t, "the log", f.log.String(), text)
	}
	if a := f.call("GET", "/api/cli-auth/me?token="+adaKey+"&access_token="+adaKey, ""); a.Status != 401 {
		t.Errorf("a key in the address: %d", a.Status)
	}
}

// TestNobody is refused before anything of a request is looked at, and led to
// the sign-in page where there is a page.
func TestNobody(t *testing.T) {
	f := newAuthFront(t)
	const list = "/company/settings/instance/environments"
	tests := []struct {
		name, method, path, body string
		headers                  []string
		status                   int
		location                 string
	}{
		{"a page", "GET", list + "?q=a&sort=name", "", nil, 303, "/signin?next=" + url.QueryEscape(list+"?q=a&sort=name")},
		{"the root", "GET", "/", "", nil, 303, "/signin"},
		{"a page that is none", "GET", "/nothing", "", nil, 303, "/signin?next=%2Fnothing"},
		{"another host in disguise", "GET", "//evil.test/x", "", nil, 303, "/signin"},
		{"a form", "POST", list, "name=a", []string{"Content-Type: application/x-www-form-urlencoded"}, 303, "/signin"},
		{"a form of a page", "POST", list, "name=a", []string{"Referer: " + f.url + list + "/new"}, 303, "/signin?next=" + url.QueryEscape(list+"/new")},
		{"a form of another page", "POST", list, "name=a", []string{"Referer: http://evil.test/x"}, 303, "/signin"},
		{"a form that is none", "POST", list, "{", nil, 303, "/signin"},
		{"an id that is none", "GET", list + "/x", "", nil, 303, "/signin?next=" + url.QueryEscape(list+"/x")},
		{"htmx", "GET", list, "", []string{"HX-Request: true", "HX-Current-URL: " + f.url + "/companies"}, 401, "/signin?next=%2Fcompanies"},
		{"htmx on another host's page", "GET", list, "", []string{"HX-Request: true", "HX-Current-URL: http://evil.test/companies"}, 401, "/signin"},
		{"a stream", "GET", list + "/probes/x/stream", "", []string{"Accept: text/event-stream"}, 401, ""},
		{"the API", "GET", "/api/companies", "", nil, 401, ""},
		{"the API, an id that is none", "GET", "/api/environments/x", "", nil, 401, ""},
		{"the API, a query that is none", "GET", "/api/activity?limit=x", "", nil, 401, ""},
		{"the API, a body that is none", "POST", "/api/companies", "{", nil, 401, ""},
		{"the API, a body of another type", "POST", "/api/companies", "a", []string{"Content-Type: text/plain"}, 401, ""},
		{"the API, a method that it does not take", "PUT", "/api/companies", "", nil, 401, ""},
		{"the API, no such address", "GET", "/api/nothing", "", nil, 401, ""},
		{"metrics", "GET", "/metrics", "", nil, 401, ""},
		{"OPTIONS", "OPTIONS", "/api/companies", "", nil, 401, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := f.stay(tt.method, tt.path, tt.body, tt.headers...)
			location := a.Header.Get("Location") + a.Header.Get("HX-Redirect")
			if a.Status != tt.status || location != tt.location {
				t.Errorf("%d to %q, want %d to %q", a.Status, location, tt.status, tt.location)
			}
			if challenge := a.Header.Get("WWW-Authenticate"); (challenge == "Bearer") != (tt.status == 401) {
				t.Errorf("WWW-Authenticate is %q", challenge)
			}
			if strings.HasPrefix(tt.path, "/api/") {
				var e api.Error
				if err := json.Unmarshal([]byte(a.Body), &e); err != nil || e.Code != "unauthenticated" {
					t.Errorf("body %s", a.Body)
				}
			}
		})
	}
	for _, path := range []string{"/signin", "/api/health", "/api/openapi.json", "/readyz", "/link/x"} {
		if a := f.call("GET", path, ""); a.Status == 401 || a.Status == 403 || a.Status >= 500 {
			t.Errorf("%s is open, but answers %d", path, a.Status)
		}
	}
}

// TestCredentialsWithoutDatabase: nobody is taken for nobody because it is away.
func TestCredentialsWithoutDatabase(t *testing.T) {
	f := newAuthFront(t)
	ada := f.person("ada", true, "")
	cookie := f.signIn(ada)
	key, _ := f.key(environment.Key{PersonID: &ada.ID})
	f.store.away.Store(true)
	for _, header := range []string{cookie, bearer(key)} {
		for path, want := range map[string]int{"/api/companies": 503, "/companies": 503, "/api/health": 200, "/readyz": 503} {
			if a := f.call("GET", path, "", header); a.Status != want {
				t.Errorf("%s: %d, want %d: %.200s", path, a.Status, want, a.Body)
			}
		}
	}
	f.store.away.Store(false)
	f.want(f.call("GET", "/api/companies", "", cookie), 200, nil)
}
