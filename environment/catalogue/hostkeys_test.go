package catalogue_test

import (
	"encoding/base64"
	"slices"
	"strings"
	"sync"
	"testing"

	"berth/environment"
)

// line is a known_hosts line of an invented key.
func line(host, kind, key string) string {
	return host + " " + kind + " " + base64.StdEncoding.EncodeToString([]byte(key))
}

func presented(host, kind, key string) environment.HostKey {
	return environment.KnownHostsPins(line(host, kind, key), host)[0]
}

func pinnedText(t *testing.T, env environment.Environment) string {
	t.Helper()
	text, _ := keys(t, env)["knownHosts"].(string)
	return text
}

func TestTrustPinsThePresentedKey(t *testing.T) {
	b := newBench(t)
	env := b.create(sshDraft("Build box", "port", 2222, "password", "canary-1"))
	ed, rsa := presented("[build.example]:2222", "ssh-ed25519", "one"), presented("[build.example]:2222", "ssh-rsa", "two")
	b.ssh.presents = []environment.HostKey{ed, rsa}

	_, err := b.TrustHostKey(t.Context(), b.actor, env.ID, "SHA256:other", false)
	e := refusal(t, err, environment.KindConflict, "host_key_not_presented")
	if shown, _ := e.Details["presented"].([]environment.HostKey); len(shown) != 2 {
		t.Errorf("details %v", e.Details)
	}
	next, err := b.TrustHostKey(t.Context(), b.actor, env.ID, " "+ed.Fingerprint+"\n", false)
	if err != nil || pinnedText(t, next) != ed.KnownHostsLine+"\n" {
		t.Fatalf("pinned %q, %v", pinnedText(t, next), err)
	}
	if next.ConfigRevision != next.Revision {
		t.Error("the old verdict still counts as current")
	}
	if b.ssh.scanned.EnvironmentID != env.ID || b.ssh.scanned.Secrets["password"].Reveal() != "canary-1" {
		t.Error("the scan had not what it needs for the hops")
	}
	again, err := b.TrustHostKey(t.Context(), b.actor, env.ID, ed.Fingerprint, false)
	if err != nil || again.Revision != next.Revision {
		t.Errorf("trusting it again gives revision %d after %d, %v", again.Revision, next.Revision, err)
	}
	entry := b.entries(env)[0]
	if entry.Action != "environment.host_key_trusted" || entry.Details["fingerprint"] != ed.Fingerprint {
		t.Errorf("activity %+v", entry)
	}
}

func TestTrustReplacesOnlyWhenAsked(t *testing.T) {
	b := newBench(t)
	text := strings.Join([]string{
		"# ours", line("[build.example]:2222,other.example", "ssh-rsa", "old"), line("bastion", "ssh-ed25519", "hop"),
		"@cert-authority " + line("*.example", "ssh-ed25519", "authority"), "",
	}, "\n")
	env := b.create(sshDraft("Build box", "port", 2222, "knownHosts", text))
	key := presented("[build.example]:2222", "ssh-ed25519", "new")
	b.ssh.presents = []environment.HostKey{key}

	_, err := b.TrustHostKey(t.Context(), b.actor, env.ID, key.Fingerprint, false)
	e := refusal(t, err, environment.KindConflict, environment.CodeHostKeyReplaces)
	trusted, _ := e.Details["trusted"].([]environment.HostKey)
	shown, _ := e.Details["presented"].([]environment.HostKey)
	if len(trusted) != 1 || trusted[0].Type != "ssh-rsa" || len(shown) != 1 {
		t.Errorf("details %v", e.Details)
	}
	next, err := b.TrustHostKey(t.Context(), b.actor, env.ID, key.Fingerprint, true)
	if err != nil {
		t.Fatal(err)
	}
	if replaced, _ := b.entries(env)[0].Details["replaced"].([]string); !slices.Equal(replaced, []string{trusted[0].Fingerprint}) {
		t.Errorf("the log says that %v was replaced", replaced)
	}
	wanted := strings.Join([]string{
		"# ours", line("other.example", "ssh-rsa", "old"), line("bastion", "ssh-ed25519", "hop"),
		"@cert-authority " + line("*.example", "ssh-ed25519", "authority"), key.KnownHostsLine, "",
	}, "\n")
	if pinnedText(t, next) != wanted {
		t.Errorf("pinned\n%s\nwant\n%s", pinnedText(t, next), wanted)
	}
}

func TestTrustRefusesARevokedKey(t *testing.T) {
	b := newBench(t)
	env := b.create(sshDraft("Build box", "knownHosts", "@revoked "+line("*", "ssh-ed25519", "stolen")))
	key := presented("build.example", "ssh-ed25519", "stolen")
	b.ssh.presents = []environment.HostKey{key}
	_, err := b.TrustHostKey(t.Context(), b.actor, env.ID, key.Fingerprint, true)
	want(t, err, environment.KindConflict, environment.CodeHostKeyRevoked)
}

// TestTrustSeesAnEditDuringTheScan: a key that was scanned at one address is
// not pinned for another.
func TestTrustSeesAnEditDuringTheScan(t *testing.T) {
	b := newBench(t)
	env := b.create(sshDraft("Build box"))
	key := presented("build.example", "ssh-ed25519", "one")
	b.ssh.presents = []environment.HostKey{key}
	b.ssh.onScan = func() { b.update(env, environment.Patch{Config: config("host", "other.example")}) }
	_, err := b.TrustHostKey(t.Context(), b.actor, env.ID, key.Fingerprint, false)
	want(t, err, environment.KindConflict, "host_key_not_presented")
	b.ssh.onScan = func() { b.update(env, environment.Patch{SetDescription: true, Description: new("edited")}) }
	env = b.update(env, environment.Patch{Config: config("host", "build.example")})
	if next, err := b.TrustHostKey(t.Context(), b.actor, env.ID, key.Fingerprint, false); err != nil || *next.Description != "edited" {
		t.Errorf("an edit elsewhere stands in the way: %v", err)
	}
}

func TestTrustWhereThereAreNoHostKeys(t *testing.T) {
	b := newBench(t)
	_, err := b.TrustHostKey(t.Context(), b.actor, b.local.ID, "SHA256:x", false)
	want(t, err, environment.KindUnsupported, "unsupported")
	_, err = b.TrustHostKey(t.Context(), b.actor, environment.NewID(), "SHA256:x", false)
	want(t, err, environment.KindNotFound, environment.CodeEnvironmentNotFound)
}

func TestPinFirstUse(t *testing.T) {
	b := newBench(t)
	env := b.create(sshDraft("Build box", "strictHostKeyChecking", false, "knownHosts", line("bastion", "ssh-ed25519", "hop")))
	learned := line("bastion", "ssh-ed25519", "another") + "\n" + line("build.example", "ssh-ed25519", "one") + "\n" + line("build.example", "ssh-rsa", "two") + "\n"
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if err := b.PinFirstUse(t.Context(), env.ID, learned); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	v := b.get(env)
	wanted := line("bastion", "ssh-ed25519", "hop") + "\n" + line("build.example", "ssh-ed25519", "one") + "\n" + line("build.example", "ssh-rsa", "two") + "\n"
	if pinnedText(t, v.Environment) != wanted {
		t.Errorf("pinned\n%s\nwant\n%s", pinnedText(t, v.Environment), wanted)
	}
	if v.Revision != 2 || v.ConfigRevision != 1 {
		t.Errorf("revision %d, config revision %d: the verdict that pinned would be old", v.Revision, v.ConfigRevision)
	}
	if entry := b.entries(env)[0]; entry.Action != "environment.host_key_trusted" || entry.ActorKind != environment.ActorSystem {
		t.Errorf("activity %+v", entry)
	}
	if err := b.PinFirstUse(t.Context(), environment.NewID(), learned); environment.CodeOf(err) != environment.CodeEnvironmentNotFound {
		t.Errorf("a row that is gone: %v", err)
	}
}

// TestPinFirstUseAfterStrictWasTurnedOn: the edit wins.
func TestPinFirstUseAfterStrictWasTurnedOn(t *testing.T) {
	b := newBench(t)
	env := b.create(sshDraft("Build box"))
	if err := b.PinFirstUse(t.Context(), env.ID, line("build.example", "ssh-ed25519", "one")); err != nil {
		t.Fatal(err)
	}
	if text := pinnedText(t, b.get(env).Environment); text != "" {
		t.Errorf("pinned %q", text)
	}
}

func TestScanHostKeys(t *testing.T) {
	b := newBench(t)
	b.ssh.presents = []environment.HostKey{presented("[::1]:2222", "ssh-ed25519", "one")}
	env := b.create(sshDraft("Build box", "password", "canary-1"))
	got, err := b.ScanHostKeys(t.Context(), b.actor, &env.ID, " [::1] ", 2222, " bastion ")
	if err != nil || len(got) != 1 {
		t.Fatal(got, err)
	}
	c := string(b.ssh.scanned.Config)
	if !strings.Contains(c, `"host":"::1","port":2222,"username":"runner"`) || !strings.Contains(c, `"proxyJump":"bastion"`) ||
		b.ssh.scanned.Secrets["password"].Reveal() != "canary-1" {
		t.Errorf("scanned with %s", c)
	}
	if _, err := b.ScanHostKeys(t.Context(), b.actor, nil, "build.example", 0, ""); err != nil || !strings.Contains(string(b.ssh.scanned.Config), `"port":22,`) {
		t.Errorf("scanned with %s, %v", b.ssh.scanned.Config, err)
	}
	if _, err := b.ScanHostKeys(t.Context(), b.actor, &b.local.ID, "build.example", 22, ""); err != nil {
		t.Errorf("beside a row of another driver: %v", err)
	}
	_, err = b.ScanHostKeys(t.Context(), b.actor, nil, "a b", 65536, "")
	if e := refusal(t, err, environment.KindInvalid, "validation_failed"); fields(e) != "host port" {
		t.Errorf("wrong at %q", fields(e))
	}
}

func TestKeyToolsAndCapabilities(t *testing.T) {
	b := newBench(t)
	if _, facts, err := b.GenerateKey(t.Context(), b.actor, "berth"); err != nil || !strings.HasSuffix(facts.PublicKey, " berth") {
		t.Errorf("%v, %v", facts, err)
	}
	if facts, err := b.InspectKey(t.Context(), b.actor, environment.NewSecret("four"), environment.Secret{}); err != nil || facts.Bits != 4 {
		t.Errorf("%v, %v", facts, err)
	}
	if c, ignored, err := b.ReadSSHConfig(t.Context(), b.actor, "x"); err != nil || c["host"] != "x" || len(ignored) != 1 {
		t.Errorf("%v, %v, %v", c, ignored, err)
	}
	caps, err := b.Capabilities(t.Context(), b.actor)
	if err != nil || !slices.ContainsFunc(caps, func(c environment.Capabilities) bool { return c.Driver == "ssh" && c.ScanHostKey && c.Keys && !c.Exec }) {
		t.Errorf("%v, %v", caps, err)
	}
}
