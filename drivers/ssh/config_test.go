package ssh_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"berth/environment"
)

// plain is a config that is fine.
func plain(change map[string]any) map[string]any {
	config := map[string]any{"host": "box.test", "username": "build", "remoteWorkspacePath": "/work"}
	for key, value := range change {
		config[key] = value
	}
	return config
}

func decode(t testing.TB, out environment.ConfigOutput) environment.SSHConfig {
	t.Helper()
	var c environment.SSHConfig
	if err := json.Unmarshal(out.Config, &c); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestConfigure_Defaults(t *testing.T) {
	t.Parallel()
	out, err := configure(t, newDriver(t), plain(map[string]any{"host": "  box.test ", "username": " build ", "remoteWorkspacePath": " /a b "}), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"host":"box.test","port":22,"username":"build","remoteWorkspacePath":"/a b","privateKey":null,"privateKeySecretRef":null,` +
		`"knownHosts":null,"strictHostKeyChecking":true,"passphraseSecretRef":null,"passwordSecretRef":null,"certificate":null,` +
		`"useAgent":false,"proxyJump":null,"requiredTools":[],"keepAliveSec":15,"minFreeMB":100,"keyType":null,"keyFingerprint":null}`
	if string(out.Config) != want {
		t.Errorf("config\n got %s\nwant %s", out.Config, want)
	}
}

func TestC03_Ports(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	for _, c := range []struct {
		port any
		want int // 0: refused
	}{
		{0, 0}, {-1, 0}, {65536, 0}, {2222.5, 0}, {"abc", 0}, {" 2222 ", 2222}, {"", 22}, {nil, 22}, {1, 1}, {65535, 65535},
		{"65536", 0}, {"0", 0}, {"+22", 0}, {"0x16", 0}, {"22 22", 0}, {true, 0}, {[]int{22}, 0}, {"2222", 2222}, {json.Number("1e3"), 0},
	} {
		t.Run(fmt.Sprintf("%v", c.port), func(t *testing.T) {
			out, err := configure(t, d, plain(map[string]any{"port": c.port}), nil)
			if c.want == 0 {
				if said := fieldsOf(err)["config.port"]; !strings.Contains(said, "65535") {
					t.Errorf("port %v: %q at config.port, want what a port is: %v", c.port, said, err)
				}
				return
			}
			if err != nil {
				t.Fatalf("port %v: %v", c.port, err)
			}
			if got := decode(t, out).Port; got != c.want {
				t.Errorf("port %v: saved %d, want %d", c.port, got, c.want)
			}
		})
	}
}

func TestC01_HostsAreStoredWithoutBrackets(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	for _, host := range []string{"::1", "[::1]", " [::1] "} {
		out, err := configure(t, d, plain(map[string]any{"host": host, "port": 2222}), nil)
		if err != nil {
			t.Fatal(err)
		}
		c := decode(t, out)
		if c.Host != "::1" || c.Address() != "[::1]:2222" || d.Describe(out.Config) != "build@[::1]:2222" {
			t.Errorf("host %q: stored %q, shown %q, described %q", host, c.Host, c.Address(), d.Describe(out.Config))
		}
	}
}

func TestConfigure_Refusals(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	long := strings.Repeat("x", 5000)
	for _, c := range []struct {
		name, key string
		value     any
		says      string
	}{
		{"unknown key", "colour", "red", "colour"},
		{"no host", "host", nil, "host"},
		{"host with port", "host", "box:22", "port"},
		{"host is an option", "host", "-oProxyCommand=x", "dash"},
		{"no user", "username", " ", "user"},
		{"user is an option", "username", "-lroot", "dash"},
		{"user with line break", "username", "a\nb", "blanks"},
		{"relative path", "remoteWorkspacePath", "relative/dir", "relative"},
		{"other home", "remoteWorkspacePath", "~root/x", "another user"},
		{"no path", "remoteWorkspacePath", "", "folder"},
		{"path with NUL", "remoteWorkspacePath", "/a\x00b", "characters"},
		{"path with line break", "remoteWorkspacePath", "/a\nb", "line breaks"},
		{"long path", "remoteWorkspacePath", "/" + long, "4096"},
		{"path is no text", "remoteWorkspacePath", 7, "text"},
		{"keep-alive", "keepAliveSec", 3601, "3600"},
		{"negative keep-alive", "keepAliveSec", -1, "0"},
		{"free disk", "minFreeMB", "lots", "whole number"},
		{"boolean", "useAgent", "perhaps", "true or false"},
		{"tool by relative path", "requiredTools", []string{"./x"}, "absolute"},
		{"tool is an option", "requiredTools", []string{"-x"}, "dash"},
		{"tools are no list", "requiredTools", "git", "list"},
		{"51 tools", "requiredTools", strings.Fields(strings.Repeat("t ", 1) + numbered(51)), "50"},
		{"jump host", "proxyJump", "a:b:c", "port"},
		{"six jump hosts", "proxyJump", "a,b,c,d,e,f", "5"},
		{"reference", "privateKeySecretRef", "x", "secret_ref"},
		{"public key", "privateKey", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ me@box", "public half"},
		{"no key", "privateKey", "hello", "BEGIN"},
		{"PuTTY key", "privateKey", "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none", "puttygen"},
		{"cut off", "privateKey", "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1r\n", "cut off"},
		{"damaged", "privateKey", "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Blb$$$\n-----END OPENSSH PRIVATE KEY-----", "damaged"},
		{"certificate of the web", "privateKey", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----", "CERTIFICATE"},
		{"certificate", "certificate", "x", "cert.pub"},
		{"long password", "password", strings.Repeat("p", environment.MaxSecret+1), "64 KiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := configure(t, d, plain(map[string]any{c.key: c.value}), nil)
			message := fieldsOf(err)["config."+c.key]
			if message == "" {
				t.Fatalf("no error at config.%s: %v", c.key, err)
			}
			contains(t, message, c.says)
		})
	}
}

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "tool%d ", i)
	}
	return b.String()
}

func TestConfigure_LimitsAreKept(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	out, err := configure(t, d, plain(map[string]any{
		"requiredTools": strings.Fields(numbered(50)), "keepAliveSec": 3600, "minFreeMB": 0, "remoteWorkspacePath": "/" + strings.Repeat("x", 4095),
		"password": strings.Repeat("p", environment.MaxSecret), "proxyJump": "a,b,c,d,e", "strictHostKeyChecking": false, "useAgent": "on",
	}), nil)
	if err != nil {
		t.Fatal(err, fieldsOf(err))
	}
	c := decode(t, out)
	if len(c.RequiredTools) != 50 || c.KeepAliveSec != 3600 || c.MinFreeMB != 0 || c.StrictHostKeyChecking || !c.UseAgent || *c.ProxyJump != "a,b,c,d,e" {
		t.Errorf("stored %+v", c)
	}
	if strings.Contains(string(out.Config), "ppp") || len(out.Secrets["password"].Reveal()) != environment.MaxSecret {
		t.Error("the password is in the config, or not among the secrets")
	}
}

func TestConfigure_ProxyJump(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	for text, want := range map[string]string{
		"bastion":                            "bastion",
		" me@bastion:2222 , inner ":          "me@bastion:2222,inner",
		"[::1]:22":                           "[::1]:22",
		"::1":                                "[::1]:22",
		"me@[fe80::1%eth0]:2200":             "me@[fe80::1%eth0]:2200",
		"ssh://me@bastion:22":                "me@bastion",
		"none":                               "",
		"":                                   "",
		"user@corp@bastion":                  "user@corp@bastion",
		"a:0":                                "refused",
		"a:":                                 "refused",
		"a,,b":                               "refused",
		"@a":                                 "refused",
		"[::1":                               "refused",
		"[::1]x":                             "refused",
		"[::1]:":                             "refused",
		"-oProxyCommand=touch /tmp/pwn":      "refused",
		"a b":                                "refused",
		"a;touch /tmp/pwn":                   "refused",
		"me@-host":                           "refused",
		"bastion:22:22":                      "refused",
		strings.Repeat("h", 256):             "refused",
		"bastion:" + strings.Repeat("2", 40): "refused",
	} {
		t.Run(text, func(t *testing.T) {
			out, err := configure(t, d, plain(map[string]any{"proxyJump": text}), nil)
			if want == "refused" {
				if fieldsOf(err)["config.proxyJump"] == "" {
					t.Errorf("%q was not refused", text)
				}
				return
			}
			if err != nil {
				t.Fatal(fieldsOf(err))
			}
			got := ""
			if c := decode(t, out); c.ProxyJump != nil {
				got = *c.ProxyJump
			}
			if got != want {
				t.Errorf("%q: stored %q, want %q", text, got, want)
			}
		})
	}
}
