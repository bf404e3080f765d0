package environment_test

import (
	"strings"
	"testing"

	"berth/environment"
)

func TestC01_HostBracketsBelongToTheAddress(t *testing.T) {
	for name, tc := range map[string]struct {
		in, want string
		refused  bool
	}{
		"name":                       {in: "build.example", want: "build.example"},
		"trimmed":                    {in: " build.example\n", want: "build.example"},
		"IPv4":                       {in: "127.0.0.1", want: "127.0.0.1"},
		"IPv6":                       {in: "::1", want: "::1"},
		"IPv6 in brackets":           {in: "[::1]", want: "::1"},
		"IPv6 with zone":             {in: "[fe80::1%eth0]", want: "fe80::1%eth0"},
		"IPv4 in IPv6":               {in: "::ffff:127.0.0.1", want: "::ffff:127.0.0.1"},
		"255 characters":             {in: strings.Repeat("a", 255), want: strings.Repeat("a", 255)},
		"256 characters":             {in: strings.Repeat("a", 256), refused: true},
		"two pairs of brackets":      {in: "[[::1]]", refused: true},
		"brackets around a name":     {in: "[build.example]", refused: true},
		"brackets around nothing":    {in: "[]", refused: true},
		"half a bracket":             {in: "[::1", refused: true},
		"port in the host":           {in: "build.example:2222", refused: true},
		"bracketed with port":        {in: "[::1]:2222", refused: true},
		"user in the host":           {in: "root@build.example", refused: true},
		"URL":                        {in: "ssh://build.example", refused: true},
		"option":                     {in: "-oProxyCommand=x", refused: true},
		"blank within":               {in: "build example", refused: true},
		"shell":                      {in: "a;b", refused: true},
		"pattern":                    {in: "*.example", refused: true},
		"NUL":                        {in: "a\x00b", refused: true},
		"empty":                      {in: "  ", refused: true},
		"something with many colons": {in: "a:b:c", refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			got, problem := environment.CleanHost(tc.in)
			if got != tc.want || (problem != "") != tc.refused {
				t.Errorf("CleanHost(%q) = %q, %q; want %q, refused %v", tc.in, got, problem, tc.want, tc.refused)
			}
		})
	}
	c := environment.SSHConfig{Host: "::1", Port: 2222, Username: "runner"}
	if c.Address() != "[::1]:2222" || c.Target() != "runner@[::1]:2222" {
		t.Errorf("address %q, target %q", c.Address(), c.Target())
	}
}

func TestKnownHostsName(t *testing.T) {
	for _, tc := range []struct {
		host string
		port int
		want string
	}{
		{"build.example", 22, "build.example"},
		{"build.example", 2222, "[build.example]:2222"},
		{"::1", 22, "::1"},
		{"::1", 2222, "[::1]:2222"},
	} {
		if got := environment.KnownHostsName(tc.host, tc.port); got != tc.want {
			t.Errorf("KnownHostsName(%q, %d) = %q, want %q", tc.host, tc.port, got, tc.want)
		}
	}
}
