package e2e

import (
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"berth/drivers/ssh/sshdtest"
)

// failing is a way in which a host fails: what its environment is changed to,
// and what people then read.
type failing struct {
	code   string
	config map[string]any
	page   string // the state of the test's panel
	says   string // beside target and port
}

// TestFailureCodes fails in every way that loopback offers, on the command line
// and in the browser. Both name the target, the port and the layer.
func TestFailureCodes(t *testing.T) {
	s, host := site(t), newHost(t)
	name := unique("Failing")
	s.remove(t, name)
	id := host.save(t, s, name)
	b := open(t, s.url, desktop)
	for _, f := range waysToFail(t, host) {
		t.Run(f.code, func(t *testing.T) {
			config := host.config()
			config["knownHosts"], config["requiredTools"], config["passphrase"] = host.KnownHosts("ed25519"), []string{}, nil
			for k, v := range f.config {
				config[k] = v
			}
			s.change(t, id, config)
			where := net.JoinHostPort(fmt.Sprint(config["host"]), fmt.Sprint(config["port"]))
			exit, out, _ := s.cli(t, "", "env", "probe", id)
			if exit != 6 {
				t.Errorf("the command line exits %d, want 6:\n%s", exit, out)
			}
			for _, part := range []string{"code: " + f.code, where, f.says} {
				if !strings.Contains(out, part) {
					t.Errorf("the command line does not say %q:\n%s", part, out)
				}
			}
			tab := b.in(t)
			tab.visit(pages + "/" + id)
			before, err := tab.find("#test").GetAttribute("data-probe")
			tab.must(err, "the test on the page")
			tab.press("Test")
			tab.sees(fmt.Sprintf("#test[data-state=%s]:not([data-probe='%s'])", f.page, before))
			tab.reads("#test .verdict", where)
		})
	}
}

func waysToFail(t *testing.T, host *host) []failing {
	t.Helper()
	other := sshdtest.Start(t, sshdtest.Config{Lines: []string{"KexAlgorithms diffie-hellman-group-exchange-sha256"}})
	odd := sshdtest.Start(t, sshdtest.Config{Lines: []string{"ForceCommand /bin/false"}})
	stranger := sshdtest.Keygen(t, filepath.Join(host.Dir, "stranger"), "-t", "ed25519", "-N", "")
	revoked := host.KnownHosts("ed25519")
	return []failing{
		{"dns_not_found", map[string]any{"host": "no-such-host.invalid"}, "unreachable", "no-such-host.invalid"},
		{"connect_refused", map[string]any{"port": closedPort(t)}, "unreachable", "refused"},
		{"not_ssh", map[string]any{"port": talker(t, "HTTP/1.1 400 Bad Request\r\n\r\n")}, "unreachable", "SSH"},
		{"host_key_unknown", map[string]any{"knownHosts": nil}, "host-key-unknown", host.fingerprint()},
		{"host_key_changed", map[string]any{"knownHosts": strings.Replace(other.KnownHosts("ed25519"), strconv.Itoa(other.Port), strconv.Itoa(host.Port), 1)}, "host-key-changed", other.Fingerprint("ed25519")},
		{"host_key_revoked", map[string]any{"knownHosts": "@revoked " + revoked}, "host-key-revoked", "revoked"},
		{"no_common_algorithm", map[string]any{"port": other.Port, "knownHosts": other.KnownHosts("ed25519")}, "unfit", "algorithm"},
		{"login_refused", map[string]any{"privateKey": stranger}, "auth-failed", host.User},
		{"credential_missing", map[string]any{"privateKeySecretRef": nil, "privateKey": nil}, "credential-missing", "key"},
		{"shell_unusable", map[string]any{"port": odd.Port, "knownHosts": odd.KnownHosts("ed25519"), "privateKey": odd.PrivateKey}, "unfit", "/bin/sh"},
		{"workspace_missing", map[string]any{"remoteWorkspacePath": "/dev/null/work"}, "unfit", "/dev/null/work"},
		{"workspace_not_writable", map[string]any{"remoteWorkspacePath": "/proc"}, "unfit", "/proc"},
		{"tool_missing", map[string]any{"requiredTools": []string{"no-such-tool"}}, "unfit", "no-such-tool"},
		{"greeting_timeout", map[string]any{"port": talker(t, "")}, "unreachable", "greeting"},
	}
}

// closedPort is a port at which nothing listens.
func closedPort(t *testing.T) int {
	t.Helper()
	address, err := freeAddress()
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// talker listens, says its word and hangs up; without a word it holds the
// connection.
func talker(t *testing.T, word string) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var held []net.Conn
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte(word)) // whoever left does not hear it
			if word != "" {
				_ = c.Close()
				continue
			}
			held = append(held, c)
		}
	}()
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		<-done
		for _, c := range held {
			_ = c.Close()
		}
	})
	address, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		t.Fatalf("listening at %v", l.Addr())
	}
	return address.Port
}

// in is the tab for the assertions of a test within a test.
func (b *tab) in(t *testing.T) *tab { return &tab{t: t, page: b.page, base: b.base} }
