package handlers

import (
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/labstack/echo/v4"
)

// TestForwardedHeaders: what a proxy says is believed only of a trusted one.
func TestForwardedHeaders(t *testing.T) {
	const none = ""
	tests := []struct {
		name, remote, public  string
		forwarded, proto      []string
		host                  string
		address, wantHost     string
		wantSecure, wantProxy bool
	}{
		{"direct", "192.0.2.7:999", none, nil, nil, "", "192.0.2.7", "berth.test", false, false},
		{"direct, forged", "192.0.2.7:999", none, []string{"1.1.1.1"}, []string{"https"}, "evil.test", "192.0.2.7", "berth.test", false, false},
		{"proxied", "10.0.0.1:999", none, []string{"192.0.2.7"}, []string{"https"}, "berth.example", "192.0.2.7", "berth.example", true, true},
		{"proxied by http", "10.0.0.1:999", none, []string{"192.0.2.7"}, []string{"http"}, "", "192.0.2.7", "berth.test", false, false},
		{"the client's own invention comes first", "10.0.0.1:999", none, []string{"1.1.1.1, 192.0.2.7"}, nil, "", "192.0.2.7", "berth.test", false, false},
		{"in headers of its own", "10.0.0.1:999", none, []string{"1.1.1.1", "192.0.2.7"}, nil, "", "192.0.2.7", "berth.test", false, false},
		{"two proxies", "10.0.0.1:999", none, []string{"192.0.2.7, 10.0.0.2"}, nil, "", "192.0.2.7", "berth.test", false, false},
		{"only proxies", "10.0.0.1:999", none, []string{"10.0.0.3, 10.0.0.2"}, nil, "", "10.0.0.3", "berth.test", false, false},
		{"no address", "10.0.0.1:999", none, []string{"unknown"}, nil, "", "10.0.0.1", "berth.test", false, false},
		{"not an address behind one that is", "10.0.0.1:999", none, []string{"evil, 10.0.0.2"}, nil, "", "10.0.0.2", "berth.test", false, false},
		{"nothing said", "10.0.0.1:999", none, nil, nil, "", "10.0.0.1", "berth.test", false, false},
		{"IPv6 with a port", "10.0.0.1:999", none, []string{"[2001:db8::1]:4711"}, nil, "", "2001:db8::1", "berth.test", false, false},
		{"IPv4 in IPv6", "[::ffff:10.0.0.1]:999", none, []string{"::ffff:192.0.2.7"}, nil, "", "192.0.2.7", "berth.test", false, false},
		{"a host that is none", "10.0.0.1:999", none, nil, nil, "evil.test/x", "10.0.0.1", "berth.test", false, false},
		{"a host that is two", "10.0.0.1:999", none, nil, nil, "evil.test, berth.example", "10.0.0.1", "berth.example", false, false},
		{"the last word on the scheme", "10.0.0.1:999", none, nil, []string{"https, http"}, "", "10.0.0.1", "berth.test", false, false},
		{"a public URL with TLS", "192.0.2.7:999", "https://berth.example", nil, nil, "", "192.0.2.7", "berth.test", true, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := &server{Deps: Deps{PublicURL: tt.public, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}}
			r := httptest.NewRequest("GET", "http://berth.test/", nil)
			r.RemoteAddr = tt.remote
			r.Header["X-Forwarded-For"], r.Header["X-Forwarded-Proto"] = tt.forwarded, tt.proto
			if tt.host != "" {
				r.Header.Set("X-Forwarded-Host", tt.host)
			}
			c := echo.New().NewContext(r, httptest.NewRecorder())
			var got peer
			err := s.findPeer(func(c echo.Context) error { got = peerOf(c); return nil })(c)
			if err != nil || got.address.String() != tt.address || r.Host != tt.wantHost || got.secure != tt.wantSecure || got.overTLS != tt.wantProxy {
				t.Errorf("%v: address %s, host %s, secure %v, over TLS %v", err, got.address, r.Host, got.secure, got.overTLS)
			}
			for name := range r.Header {
				t.Errorf("the header %s was left", name)
			}
			if s.client(c).Address != tt.address {
				t.Errorf("the client is %+v", s.client(c))
			}
		})
	}
}
