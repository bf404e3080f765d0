package handlers

import (
	"net/url"
	"strings"
	"testing"
)

// TestC54_OtherOriginsChangeNothing is the table of who may send a change. (The
// case speaks of a terminal; the same pages would drive everything else too.)
func TestC54_OtherOriginsChangeNothing(t *testing.T) {
	f := newFront(t)
	u, err := url.Parse(f.url)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name    string
		headers []string
		status  int
	}{
		{"a program", nil, 201},
		{"a program that says its mode", []string{"Sec-Fetch-Mode: cors"}, 201},
		{"our own page", []string{"Origin: " + f.url, "Sec-Fetch-Site: same-origin"}, 201},
		{"our own page, old browser", []string{"Origin: " + f.url}, 201},
		{"the public address", []string{"Origin: https://berth.example", "Host: berth.example", "Sec-Fetch-Site: same-origin"}, 201},
		{"typed address", []string{"Sec-Fetch-Site: none"}, 201},
		{"another site", []string{"Origin: http://evil.test", "Sec-Fetch-Site: cross-site"}, 403},
		{"another site, old browser", []string{"Origin: http://evil.test"}, 403},
		{"an opaque origin", []string{"Origin: null"}, 403},
		{"an opaque origin that claims to be ours", []string{"Origin: null", "Sec-Fetch-Site: same-origin"}, 403},
		{"another port", []string{"Origin: http://127.0.0.1:1", "Sec-Fetch-Site: same-site"}, 403},
		{"another port, no origin", []string{"Sec-Fetch-Site: same-site"}, 403},
		{"cross-site without origin", []string{"Sec-Fetch-Site: cross-site"}, 403},
		{"another scheme", []string{"Origin: https://" + u.Host}, 403},
		{"a name that begins like ours", []string{"Origin: http://127.0.0.1.evil.test"}, 403},
		{"the public address over http", []string{"Origin: http://berth.example"}, 403},
		{"no origin at all, but a word", []string{"Origin: x"}, 403},
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := f.call("POST", "/api/companies", `{"name":"c`+strings.Repeat("x", i)+`"}`, tt.headers...)
			if a.Status != tt.status {
				t.Errorf("%v: status %d, want %d: %s", tt.headers, a.Status, tt.status, a.Body)
			}
			if get := f.call("GET", "/api/health", "", tt.headers...); get.Status != 200 {
				t.Errorf("%v: a GET changes nothing, got %d", tt.headers, get.Status)
			}
			if up := f.call("GET", "/api/health", "", append(tt.headers, "Connection: Upgrade", "Upgrade: websocket")...); (up.Status == 403) != (tt.status == 403) {
				t.Errorf("%v: an upgrade got %d", tt.headers, up.Status)
			}
		})
	}
}

func TestHostNames(t *testing.T) {
	f := newFront(t)
	tests := []struct {
		host   string
		status int
	}{
		{"127.0.0.1:3100", 200}, {"localhost:3100", 200}, {"LOCALHOST", 200}, {"[::1]:3100", 200}, {"[::1]", 200},
		{"berth.localhost:1", 200}, {"127.8.9.1", 200}, {"berth.example", 200}, {"BERTH.example", 200},
		{"evil.test", 403}, {"evil.test:3100", 403}, {"127.0.0.1.evil.test", 403}, {"localhost.evil.test", 403},
		{"berth.example:99", 403}, {"10.0.0.1", 403}, {"0.0.0.0:3100", 403}, {"notlocalhost", 403},
	}
	for _, tt := range tests {
		for _, path := range []string{"/api/companies", "/api/health"} {
			a := f.call("GET", path, "", "Host: "+tt.host)
			if a.Status != tt.status {
				t.Errorf("%s as %s: status %d, want %d", path, tt.host, a.Status, tt.status)
			}
			if tt.status == 403 && !strings.Contains(a.Body, "host_not_allowed") {
				t.Errorf("%s as %s: body %s", path, tt.host, a.Body)
			}
		}
	}
}

func TestHeadersOfEveryAnswer(t *testing.T) {
	f := newFront(t)
	for _, path := range []string{"/api/health", "/api/nothing", "/nothing", "/api/companies/x", "/metrics"} {
		h := f.call("GET", path, "").Header
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'", "X-Content-Type-Options": "nosniff",
			"Referrer-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin", "X-Request-Id": "-",
		} {
			if !strings.Contains(h.Get(name), want) {
				t.Errorf("%s: %s is %q, want %q in it", path, name, h.Get(name), want)
			}
		}
	}
	if csp := f.call("GET", "/", "").Header.Get("Content-Security-Policy"); strings.Contains(csp, "unsafe") {
		t.Errorf("the policy lets inline code run: %s", csp)
	}
}

func TestRequestLimits(t *testing.T) {
	f := newFront(t)
	name := func(n int) string { return `{"name":"` + strings.Repeat("a", n) + `"}` }
	frame := len(name(0))
	tests := []struct {
		name, method, path, body string
		headers                  []string
		status                   int
		code                     string
	}{
		{"body at the limit", "POST", "/api/companies", name(maxBody - frame), nil, 422, ""},
		{"body past the limit", "POST", "/api/companies", name(maxBody - frame + 1), nil, 413, "body_too_large"},
		{"form body", "POST", "/api/companies", "name=a", []string{"Content-Type: application/x-www-form-urlencoded"}, 415, "unsupported_media_type"},
		{"text body", "POST", "/api/companies", `{"name":"a"}`, []string{"Content-Type: text/plain"}, 415, "unsupported_media_type"},
		{"JSON with a charset", "POST", "/api/companies", `{"name":"charset"}`, []string{"Content-Type: application/json; charset=utf-8"}, 201, ""},
		{"no body", "POST", "/api/companies", "", nil, 400, "body_missing"},
		{"long address", "GET", "/api/companies?q=" + strings.Repeat("a", maxAddress), "", nil, 414, "request_uri_too_long"},
		{"unknown address", "GET", "/api/nothing", "", nil, 404, "not_found"},
		{"other method", "PUT", "/api/companies", "", nil, 405, "method_not_allowed"},
		{"HEAD", "HEAD", "/api/health", "", nil, 200, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := f.call(tt.method, tt.path, tt.body, tt.headers...)
			if a.Status != tt.status || (tt.code != "" && !strings.Contains(a.Body, `"code":"`+tt.code+`"`)) {
				t.Errorf("status %d, want %d %s: %.300s", a.Status, tt.status, tt.code, a.Body)
			}
		})
	}
}
