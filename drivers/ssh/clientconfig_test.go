package ssh_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/environment"
)

func TestReadClientConfig(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "included")
	if err := os.WriteFile(secret, []byte("Host box\n  HostName stolen.test\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := newDriver(t)
	for _, c := range []struct {
		name, text, want string
		ignored          []string
	}{
		{"a block", "Host box\n  HostName 10.0.0.7\n  Port 2222\n  User build\n  ProxyJump me@bastion:22,inner\n  IdentityFile ~/.ssh/id\n  ServerAliveInterval 30\n",
			"map[host:10.0.0.7 keepAliveSec:30 port:2222 proxyJump:me@bastion,inner username:build]", []string{"IdentityFile ~/.ssh/id"}},
		{"alias alone", "Host box.test\n", "map[host:box.test]", nil},
		{"CRLF, tabs, equals, quotes, case", "host box\r\n\thostname=\"10.0.0.7\"\r\n\tPORT = 2222\r\n", "map[host:10.0.0.7 port:2222]", nil},
		{"IPv6", "Host six\n HostName ::1\n", "map[host:::1]", nil},
		{"first host that is no pattern", "Host *\n  User everybody\nHost web-*\n  User web\nHost a b\n  HostName first.test\nHost c\n  HostName second.test\n",
			"map[host:first.test username:everybody]", nil},
		{"first value counts", "Host box\n  Port 1\n  Port 2\nHost *\n  Port 3\n", "map[host:box port:1]", nil},
		{"%h", "Host box\n  HostName %h.corp.test\n", "map[host:box.corp.test]", nil},
		{"include and match are not followed", "Include " + secret + "\nHost box\n  User me\n  Include " + secret + "\nMatch exec \"touch /tmp/pwn\"\n  HostName stolen.test\nHost other\n",
			"map[host:box username:me]", []string{"Include", "Match"}},
		{"what cannot be", "Host box\n  Port 99999\n  User -x\n  ProxyJump a:b:c\n  ProxyCommand nc %h %p\n  StrictHostKeyChecking no\n",
			"map[host:box strictHostKeyChecking:false]", []string{"port 99999", "user -x", "proxyjump", "ProxyCommand", "trust on first use"}},
		{"no Host line", "HostName 10.0.0.7\nUser me\n", "map[host:10.0.0.7 username:me]", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			config, ignored, err := d.ReadClientConfig(c.text)
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(config); got != c.want {
				t.Errorf("config %s, want %s", got, c.want)
			}
			contains(t, strings.Join(ignored, "\n"), c.ignored...)
		})
	}
	for _, text := range []string{"", "hello", "# nothing\n", "Host *\n", strings.Repeat("x", 70000), "Host \"\n"} {
		if config, _, err := d.ReadClientConfig(text); environment.KindOf(err) != environment.KindInvalid {
			t.Errorf("%.20q: %v, %v", text, config, err)
		}
	}
}
