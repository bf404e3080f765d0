package cli_test

import (
	"bytes"
	"context"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"berth/handlers/cli"
)

// TestServeFlags reads the flags of a server without starting one.
func TestServeFlags(t *testing.T) {
	network := func(texts ...string) []netip.Prefix {
		var all []netip.Prefix
		for _, text := range texts {
			all = append(all, netip.MustParsePrefix(text))
		}
		return all
	}
	tests := []struct {
		name    string
		args    []string
		env     map[string]string
		proxies []netip.Prefix
		public  string
		refused string // part of the message; "" is taken
	}{
		{"nothing", nil, nil, nil, "", ""},
		{"a proxy", []string{"--trusted-proxy", "127.0.0.1/32"}, nil, network("127.0.0.1/32"), "", ""},
		{"proxies", []string{"--trusted-proxy", "10.1.2.3/8, ::1/128,"}, nil, network("10.0.0.0/8", "::1/128"), "", ""},
		{"an address alone", []string{"--trusted-proxy", "192.0.2.7"}, nil, network("192.0.2.7/32"), "", ""},
		{"by the environment", nil, map[string]string{"BERTH_TRUSTED_PROXIES": "10.0.0.0/8"}, network("10.0.0.0/8"), "", ""},
		{"the flag wins", []string{"--trusted-proxy", "192.0.2.0/24"}, map[string]string{"BERTH_TRUSTED_PROXIES": "10.0.0.0/8"}, network("192.0.2.0/24"), "", ""},
		{"a name", []string{"--trusted-proxy", "proxy.test"}, nil, nil, "", "proxy.test"},
		{"too many bits", []string{"--trusted-proxy", "10.0.0.0/33"}, nil, nil, "", "10.0.0.0/33"},
		{"an address with a zone", []string{"--trusted-proxy", "fe80::1%eth0"}, nil, nil, "", "fe80"},
		{"a public URL", []string{"--public-url", "https://berth.example"}, nil, nil, "https://berth.example", ""},
		{"a public URL with a slash", []string{"--public-url", "https://berth.example/"}, nil, nil, "https://berth.example/", ""},
		{"a public URL with a path", []string{"--public-url", "https://berth.example/x"}, nil, nil, "", "--public-url"},
		{"a public URL without a scheme", []string{"--public-url", "berth.example"}, nil, nil, "", "--public-url"},
		{"a public URL with a password", []string{"--public-url", "https://a:b@berth.example"}, nil, nil, "", "--public-url"},
		{"another mode", []string{"--mode", "open"}, nil, nil, "", "--mode"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got *cli.ServeOptions
			var out, errOut bytes.Buffer
			hooks := cli.Hooks{Serve: func(_ context.Context, o cli.ServeOptions) error { got = &o; return nil }}
			code := cli.Execute(t.Context(), cli.Env{
				Args: append([]string{"serve"}, tt.args...), Out: &out, Err: &errOut, In: strings.NewReader(""),
				Getenv: func(name string) string { return tt.env[name] },
			}, hooks)
			if tt.refused != "" {
				if code != 2 || got != nil || !strings.Contains(errOut.String(), tt.refused) {
					t.Errorf("exit %d, %s, want 2 and %q", code, errOut.String(), tt.refused)
				}
				return
			}
			if code != 0 || got == nil || !slices.Equal(got.TrustedProxies, tt.proxies) || got.PublicURL != tt.public {
				t.Errorf("exit %d, %s: %+v", code, errOut.String(), got)
			}
		})
	}
}
