package handlers

import (
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"berth/environment"
	"berth/handlers/api"
)

// TestHostNamesWherePeopleSignIn: the public URL's name, and this machine's own.
func TestHostNamesWherePeopleSignIn(t *testing.T) {
	public := newAuthFront(t)
	anyName := newAuthFront(t, func(d *Deps) { d.PublicURL = "" })
	tests := []struct {
		host        string
		known, free int // with a public URL, and without one
	}{
		{"berth.example", 200, 200}, {"BERTH.example", 200, 200}, {"127.0.0.1:3100", 200, 200}, {"localhost", 200, 200}, {"[::1]:3100", 200, 200},
		{"evil.test", 403, 200}, {"berth.example.evil.test", 403, 200}, {"berth.example:8443", 403, 200}, {"10.0.0.1", 403, 200},
		{"127.0.0.1.evil.test", 403, 200}, {"berth.example.", 403, 200},
	}
	for _, tt := range tests {
		for _, path := range []string{"/api/health", "/signin", "/readyz"} {
			if a := public.call("GET", path, "", "Host: "+tt.host); a.Status != tt.known {
				t.Errorf("%s as %s: %d, want %d", path, tt.host, a.Status, tt.known)
			}
			if a := anyName.call("GET", path, "", "Host: "+tt.host); a.Status != tt.free {
				t.Errorf("%s as %s without a public URL: %d, want %d", path, tt.host, a.Status, tt.free)
			}
		}
	}
}

// TestOtherOriginsSignNobodyIn: a page of another site neither signs a browser in
// nor out, nor uses a link with it.
func TestOtherOriginsSignNobodyIn(t *testing.T) {
	f := newAuthFront(t)
	ada := f.person("ada", true, "")
	cookie := f.signIn(ada)
	const asForm = "Content-Type: application/x-www-form-urlencoded"
	credentials := url.Values{"email": {ada.Email}, "password": {frontPassword}}.Encode()
	asJSON := `{"email":"` + ada.Email + `","password":"` + frontPassword + `"}`
	for name, tt := range map[string]struct {
		headers []string
		refused bool
	}{
		"a program":                   {nil, false},
		"our own page":                {[]string{"Origin: " + f.url, "Sec-Fetch-Site: same-origin"}, false},
		"the public address":          {[]string{"Origin: https://berth.example", "Host: berth.example", "Sec-Fetch-Site: same-origin"}, false},
		"another site":                {[]string{"Origin: http://evil.test", "Sec-Fetch-Site: cross-site"}, true},
		"another site, old browser":   {[]string{"Origin: http://evil.test"}, true},
		"an opaque origin":            {[]string{"Origin: null"}, true},
		"a sandboxed frame of ours":   {[]string{"Origin: null", "Sec-Fetch-Site: same-origin"}, true},
		"a site beside ours":          {[]string{"Sec-Fetch-Site: same-site"}, true},
		"the public address, no TLS":  {[]string{"Origin: http://berth.example"}, true},
		"our address, but a proxy's":  {[]string{"Origin: https://" + strings.TrimPrefix(f.url, "http://")}, true},
		"a header that nobody trusts": {[]string{"Origin: http://evil.test", "X-Forwarded-Host: evil.test"}, true},
	} {
		for path, body := range map[string]string{"/api/auth/sign-in": asJSON, "/api/auth/token": asJSON[:len(asJSON)-1] + `,"name":"x"}`, "/signin": credentials, "/link/x": "password=x", "/signout": "", "/api/companies": `{"name":"` + environment.NewID().String() + `"}`} {
			headers := append([]string{}, tt.headers...)
			if !strings.HasPrefix(path, "/api/") {
				headers = append(headers, asForm)
			}
			if path == "/signout" || path == "/api/companies" {
				headers = append(headers, cookie)
			}
			if path == "/signout" && !tt.refused {
				continue // it would end the session of the others
			}
			a := f.stay("POST", path, body, headers...)
			if refused := a.Status == 403; refused != tt.refused {
				t.Errorf("%s to %s: %d %.200s", name, path, a.Status, a.Body)
			}
			if tt.refused && a.Header.Get("Set-Cookie") != "" {
				t.Errorf("%s to %s: a cookie was set", name, path)
			}
		}
	}
}

// TestProxiedOrigins: behind a trusted proxy the browser's own origin counts,
// and the cookie is for TLS.
func TestProxiedOrigins(t *testing.T) {
	f := newAuthFront(t, func(d *Deps) {
		d.PublicURL, d.TrustedProxies = "", []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})
	ada := f.person("ada", true, "")
	body := `{"email":"` + ada.Email + `","password":"` + frontPassword + `"}`
	proxied := []string{"X-Forwarded-Proto: https", "X-Forwarded-Host: berth.test", "X-Forwarded-For: 192.0.2.7", "User-Agent: Browser/1"}
	a := f.want(f.call("POST", "/api/auth/sign-in", body, append(proxied, "Origin: https://berth.test")...), 200, nil)
	if c := cookieOf(t, a); !c.Secure || c.Name != "__Host-berth_session" {
		t.Errorf("the cookie is %s", c)
	}
	sessions, err := f.store.Sessions(t.Context(), ada.ID)
	if err != nil || len(sessions) != 1 || sessions[0].Address != "192.0.2.7" || sessions[0].UserAgent != "Browser/1" {
		t.Errorf("sessions %+v, %v", sessions, err)
	}
	for _, origin := range []string{"http://berth.test", f.url, "https://evil.test"} {
		f.want(f.call("POST", "/api/auth/sign-in", body, append(proxied, "Origin: "+origin)...), 403, nil)
	}
	f.want(f.call("POST", "/api/auth/sign-in", body, "Origin: "+f.url), 200, nil) // and past the proxy
}

// TestSignInsAreLimited: thirty a minute from one address, on every road.
func TestSignInsAreLimited(t *testing.T) {
	f := newAuthFront(t, func(d *Deps) { d.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
	f.person("ada", true, "")
	const from, other = "X-Forwarded-For: 192.0.2.7", "X-Forwarded-For: 192.0.2.8"
	for i := range signInsAMinute {
		method, path, body := "POST", "/api/auth/sign-in", `{"email":"`+strconv.Itoa(i)+`@berth.test","password":"wrong"}`
		if i%3 == 1 {
			path, body = "/api/auth/token", body[:len(body)-1]+`,"name":"x"}`
		}
		if i%3 == 2 {
			method, path, body = "GET", "/link/berth_link_x", ""
		}
		a := f.call(method, path, body, from)
		if a.Status == 429 && a.Header.Get("RateLimit-Remaining") != "" {
			t.Fatalf("try %d: %d %s", i+1, a.Status, a.Body)
		}
		if a.Header.Get("RateLimit-Limit") != "30" || a.Header.Get("RateLimit-Remaining") != strconv.Itoa(signInsAMinute-1-i) || a.Header.Get("RateLimit-Reset") == "" {
			t.Errorf("try %d: %v", i+1, a.Header)
		}
	}
	var e api.Error
	a := f.want(f.call("POST", "/api/auth/sign-in", "{", from), 429, &e)
	if e.Code != "rate_limited" || a.Header.Get("Retry-After") != "2" || a.Header.Get("RateLimit-Remaining") != "0" || a.Header.Get("RateLimit-Reset") != "60" {
		t.Errorf("the next one: %s %v", a.Body, a.Header)
	}
	if a := f.call("POST", "/signin", "email=a&password=b", from, "Content-Type: application/x-www-form-urlencoded"); a.Status != 429 || a.Header.Get("Retry-After") == "" {
		t.Errorf("the page: %d %v", a.Status, a.Header)
	}
	if a := f.call("POST", "/api/auth/sign-in", "{", other); a.Status != 400 {
		t.Errorf("from elsewhere: %d", a.Status)
	}
	if a := f.call("GET", "/signin", "", from); a.Status != 200 || a.Header.Get("RateLimit-Limit") != "" {
		t.Errorf("looking at the page: %d", a.Status)
	}
}

// TestProbesAreLimited for each person alone.
func TestProbesAreLimited(t *testing.T) {
	f := newAuthFront(t)
	ada, grace := f.person("ada", true, ""), f.person("grace", true, "")
	adaKey, _ := f.key(environment.Key{PersonID: &ada.ID})
	graceKey, _ := f.key(environment.Key{PersonID: &grace.ID})
	path := f.environments() + "/probe-config"
	for i := range probesAMinute {
		if a := f.call("POST", path, `{}`, bearer(adaKey)); a.Status == 429 {
			t.Fatalf("probe %d of a minute is refused", i+1)
		}
	}
	tries := 0
	for a := f.call("POST", path, `{}`, bearer(adaKey)); a.Status != 429; a = f.call("POST", path, `{}`, bearer(adaKey)) {
		if tries++; tries > probesAMinute {
			t.Fatal("probes are not limited") // what came back during the loop is a few
		}
	}
	for _, other := range []string{"/api/environments/scan-host-key", "/company/settings/instance/environments/test-all"} {
		if a := f.call("POST", other, `{}`, bearer(adaKey)); a.Status != 429 && a.Header.Get("RateLimit-Remaining") != "0" {
			t.Errorf("%s: %d %v", other, a.Status, a.Header)
		}
	}
	if a := f.call("POST", path, `{}`, bearer(graceKey)); a.Status == 429 || a.Header.Get("RateLimit-Limit") != "600" {
		t.Errorf("somebody else: %d %v", a.Status, a.Header)
	}
	f.want(f.call("GET", "/api/companies", "", bearer(adaKey)), 200, nil)
	if a := f.call("POST", path, `{}`); a.Status != 401 || a.Header.Get("RateLimit-Limit") != "" {
		t.Errorf("nobody: %d %v", a.Status, a.Header)
	}
}

// TestNothingIsLimitedInLocalTrusted: the operator is alone.
func TestNothingIsLimitedInLocalTrusted(t *testing.T) {
	f := newFront(t)
	for range signInsAMinute + 5 {
		if a := f.call("POST", "/api/auth/sign-in", `{"email":"a@berth.test","password":"x"}`); a.Status == 429 || a.Header.Get("RateLimit-Limit") != "" {
			t.Fatalf("%d %v", a.Status, a.Header)
		}
	}
}

// TestC74_LogHoldsNoCredential: the log of requests tells routes, never what was
// in an address, a cookie or a key. (The case speaks of a terminal's ticket; a
// one-time link is one too.)
func TestC74_LogHoldsNoCredential(t *testing.T) {
	f := newAuthFront(t)
	ada := f.person("ada", true, "")
	cookie := f.signIn(ada)
	key, _ := f.key(environment.Key{PersonID: &ada.ID})
	forged := "berth_pat_canaryAcanaryBcanaryCcanaryDcanaryEcanaryF"
	link := "berth_link_canaryUcanaryVcanaryWcanaryXcanaryYcanaryZ"
	answers := ""
	for _, path := range []string{"/link/" + link, "/companies?key=" + link, "/api/environments/" + link, "/nothing/" + link,
		"/signin?next=/x/" + link, "/api/companies"} {
		for _, method := range []string{"GET", "POST", "PUT"} {
			for _, header := range []string{"", cookie, bearer(key), bearer(forged), "Authorization: Basic " + forged, "Cookie: __Host-berth_session=" + forged, "User-Agent: " + forged} {
				var headers []string
				if header != "" {
					headers = []string{header}
				}
				a := f.stay(method, path, "", headers...)
				answers += a.Body
			}
		}
	}
	log := f.log.String() + f.call("GET", "/metrics", "", bearer(key)).Body
	_, cookieText, _ := strings.Cut(cookie, "=")
	for _, secret := range []string{link, forged, key, cookieText} {
		without(t, "the log", log, secret)
		if secret != link {
			without(t, "an answer", answers, secret)
		}
	}
	if !strings.Contains(log, "route=/link/:token") || !strings.Contains(log, "status=401") {
		t.Error("the log does not tell what was asked")
	}
	noted, err := f.store.Activity(t.Context(), environment.ActivityFilter{Limit: 1000})
	if err != nil || len(noted.Items) == 0 {
		t.Fatalf("no activity: %v", err)
	}
	activity := fmt.Sprintf("%+v", noted.Items)
	for _, secret := range []string{link, forged, key, cookieText} {
		without(t, "the activity", activity, secret)
	}
}
