package environment_test

import (
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"berth/environment"

	"pgregory.net/rapid"
)

// key is the base64 of an invented key; the tools do not look inside.
func key(name string) string { return base64.StdEncoding.EncodeToString([]byte(name)) }

func TestKnownHostsPins(t *testing.T) {
	text := strings.Join([]string{
		"# build.example ssh-rsa " + key("comment"),
		"",
		"build.example,10.0.0.7 ssh-ed25519 " + key("a") + " root@build",
		"  [build.example]:2222\tssh-rsa   " + key("b"),
		"*.lab.example,!door.lab.example ssh-ed25519 " + key("c"),
		"[*.lab.example]:2222 ssh-ed25519 " + key("d"),
		"host? ssh-ed25519 " + key("e"),
		"@cert-authority *.example ssh-ed25519 " + key("ca"),
		"@revoked * ssh-ed25519 " + key("r"),
		"[::1]:2222 ssh-ed25519 " + key("f"),
		"build.example ssh-ed25519",
	}, "\r\n")
	for name, want := range map[string]string{
		"build.example":             "a",
		"BUILD.example":             "a",
		"10.0.0.7":                  "a",
		"[build.example]:22":        "a",
		"[build.example]:2222":      "b",
		"x.lab.example":             "c",
		"door.lab.example":          "",
		"[x.lab.example]:2222":      "d",
		"[x.lab.example]:2200":      "",
		"host1":                     "e",
		"host12":                    "",
		"[::1]:2222":                "f",
		"[0:0::1]:2222":             "f",
		"::1":                       "",
		"other.example":             "",
		"comment":                   "",
		"build.example,10.0.0.7":    "",
		"[build.example]:2222 evil": "",
	} {
		var got []string
		for _, k := range environment.KnownHostsPins(text, name) {
			blob, err := base64.StdEncoding.DecodeString(strings.Fields(k.KnownHostsLine)[2])
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(blob))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s is pinned to %q, want %q", name, got, want)
		}
	}
	if environment.KnownHostsRevokes(text, "x ssh-ed25519 "+key("a")) || !environment.KnownHostsRevokes(text, "x ssh-ed25519 "+key("r")) {
		t.Error("the wrong key is revoked")
	}
}

func TestKnownHostsWithout(t *testing.T) {
	rest := " ssh-ed25519 " + key("a") + " comment"
	for name, tc := range map[string]struct{ text, host, want string }{
		"the only name":       {"build" + rest, "build", ""},
		"one of several":      {"other,build,third" + rest, "build", "other,third" + rest},
		"its own port only":   {"build" + rest + "\n[build]:2222" + rest, "[build]:2222", "build" + rest},
		"a pattern":           {"*.example" + rest, "a.example", "*.example,!a.example" + rest},
		"a pattern and name":  {"*.example,a.example" + rest, "a.example", "*.example,!a.example" + rest},
		"a pattern of ports":  {"[*.example]:2222" + rest, "[a.example]:2222", "[*.example]:2222,![a.example]:2222" + rest},
		"comments stay":       {"# build\n\nbuild" + rest + "\n# end", "build", "# build\n\n# end"},
		"authorities stay":    {"@cert-authority build" + rest, "build", "@cert-authority build" + rest},
		"revocations stay":    {"@revoked build" + rest, "build", "@revoked build" + rest},
		"another host's line": {"building" + rest, "build", "building" + rest},
		"exceptions alone go": {"build,!door" + rest, "build", ""},
		"nothing":             {"", "build", ""},
		"what is no line":     {"build", "build", "build"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := environment.KnownHostsWithout(tc.text, tc.host); got != tc.want {
				t.Errorf("left\n%s\nwant\n%s", got, tc.want)
			}
		})
	}
}

// TestKnownHostsHashedNames compares with what OpenSSH's own tool hashes.
func TestKnownHostsHashedNames(t *testing.T) {
	line := "AAAAC3NzaC1lZDI1NTE5AAAAIJ2dwEoxPbMvzKNvEhkEdSxuNv3hVZzOBBYVHhJxuqkR"
	file := filepath.Join(t.TempDir(), "known_hosts")
	if err := os.WriteFile(file, []byte("build.example ssh-ed25519 "+line+"\n[build.example]:2222 ssh-ed25519 "+line+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("ssh-keygen", "-H", "-f", file).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	hashed, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(hashed)
	if strings.Contains(text, "build") {
		t.Fatalf("not hashed: %s", text)
	}
	for _, name := range []string{"build.example", "Build.Example", "[build.example]:2222"} {
		if pins := environment.KnownHostsPins(text, name); len(pins) != 1 {
			t.Errorf("%s has %d pins", name, len(pins))
		}
	}
	if pins := environment.KnownHostsPins(text, "other.example"); len(pins) != 0 {
		t.Errorf("another host has %d pins", len(pins))
	}
	left := environment.KnownHostsWithout(text, "build.example")
	if len(environment.KnownHostsPins(left, "build.example")) != 0 || len(environment.KnownHostsPins(left, "[build.example]:2222")) != 1 {
		t.Errorf("left %s", left)
	}
}

// TestKnownHostsEdits: whatever the text, taking a host out leaves the others'
// pins, and putting a line in adds that one.
func TestKnownHostsEdits(t *testing.T) {
	hosts := []string{"a", "b.example", "[b.example]:2222", "::1", "*.example", "!b.example", "?", "|1|bad|hash", "[*]:2222"}
	lines := rapid.Custom(func(t *rapid.T) string {
		names := rapid.SliceOfNDistinct(rapid.SampledFrom(hosts), 1, 3, rapid.ID).Draw(t, "names")
		kind := rapid.SampledFrom([]string{"ssh-ed25519", "ssh-rsa"}).Draw(t, "kind")
		form := rapid.SampledFrom([]string{"N K B", "@revoked N K B", "# N K B", "", "N K", "\tN  K B  comment"}).Draw(t, "form")
		blob := key(rapid.StringMatching(`[a-c]{1,2}`).Draw(t, "key"))
		return strings.NewReplacer("N", strings.Join(names, ","), "K", kind, "B", blob).Replace(form)
	})
	subjects := []string{"a", "b.example", "[b.example]:2222", "::1", "c.example"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(lines, 0, 6).Draw(t, "lines"), "\n")
		host := rapid.SampledFrom(subjects).Draw(t, "host")
		left := environment.KnownHostsWithout(text, host)
		for _, other := range subjects {
			was, is := fingerprints(text, other), fingerprints(left, other)
			if other == host {
				was = ""
			}
			if is != was {
				t.Fatalf("without %s, %s is pinned to %q, was %q:\n%s\n->\n%s", host, other, is, was, text, left)
			}
		}
		with := environment.KnownHostsWith(left, host+" ssh-ed25519 "+key("new"))
		pins := environment.KnownHostsPins(with, host)
		if len(pins) != 1 || !strings.HasSuffix(with, "\n") || strings.HasPrefix(with, "\n") {
			t.Fatalf("with a line for %s there are %d pins:\n%s", host, len(pins), with)
		}
	})
}

func fingerprints(text, host string) string {
	var out []string
	for _, k := range environment.KnownHostsPins(text, host) {
		out = append(out, k.Fingerprint)
	}
	return strings.Join(out, " ")
}
