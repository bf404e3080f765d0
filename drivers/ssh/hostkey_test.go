package ssh_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/drivers/ssh"
	"berth/drivers/ssh/sshdtest"
	"berth/environment"

	"github.com/google/uuid"
)

func TestC06_PinnedEd25519AmongThree(t *testing.T) {
	t.Parallel()
	s := sshdtest.Start(t, sshdtest.Config{})
	d := newDriver(t)
	for _, kind := range []string{"ed25519", "ecdsa", "rsa"} {
		t.Run(kind, func(t *testing.T) {
			r := probe(t, d, specOf(t, d, settings(s, map[string]any{"knownHosts": s.KnownHosts(kind)})))
			mustPass(t, r)
			if got, want := stageOf(r, "host_key").Measured["fingerprint"], s.Fingerprint(kind); got != want {
				t.Errorf("presented %v, pinned %v", got, want)
			}
		})
	}
}

func TestC08_BracketsWithoutPort(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	s := sshdtest.Start(t, sshdtest.Config{Hosts: []string{"::1"}, KeyTypes: []string{"ed25519"}})
	key := s.HostKey("ed25519")
	text := "[127.0.0.1]:2222 " + key + "\n[::1] " + key + "\nbuild-box.test " + key + "\n"
	_, err := configure(t, d, settings(s, map[string]any{"knownHosts": text}), nil)
	contains(t, fieldsOf(err)["config.knownHosts"], "Line 2", "port")

	keys, err := d.ScanHostKeys(t.Context(), specOf(t, d, settings(s, map[string]any{"knownHosts": nil})))
	if err != nil || len(keys) != 1 {
		t.Fatalf("scan: %v, %v", keys, err)
	}
	if want := sshdtest.KnownHostsName("::1", s.Port) + " " + key; keys[0].KnownHostsLine != want {
		t.Errorf("line %q, want %q", keys[0].KnownHostsLine, want)
	}
	mustPass(t, probe(t, d, specOf(t, d, settings(s, map[string]any{"knownHosts": keys[0].KnownHostsLine}))))
	if _, err := configure(t, d, settings(s, map[string]any{"knownHosts": "::1 " + key}), nil); err != nil {
		t.Errorf("the line for port 22 is refused: %v", fieldsOf(err))
	}
}

func TestC09_TwoDaemonsBehindOneAddress(t *testing.T) {
	t.Parallel()
	a := sshdtest.Start(t, sshdtest.Config{KeyTypes: []string{"ed25519"}})
	b := sshdtest.Start(t, sshdtest.Config{KeyTypes: []string{"ed25519"}})
	d := newDriver(t)
	both := a.KnownHosts() + b.KnownHosts()
	specA := specOf(t, d, settings(a, map[string]any{"knownHosts": both}))
	specB := specOf(t, d, settings(b, map[string]any{"knownHosts": b.KnownHosts()}))
	mustPass(t, probe(t, d, specA))
	mustPass(t, probe(t, d, specB))
	a.MakeHostKey("ed25519")
	b.MakeHostKey("ed25519")
	a.Restart()
	b.Restart()
	mustFail(t, probe(t, d, specA), "host_key", environment.CodeHostKeyChanged)
	mustFail(t, probe(t, d, specB), "host_key", environment.CodeHostKeyChanged)
}

func TestC11_ChangedKeyEndsAtOnce(t *testing.T) {
	t.Parallel()
	s := sshdtest.Start(t, sshdtest.Config{KeyTypes: []string{"ecdsa", "rsa"}})
	d := newDriver(t)
	other := sshdtest.Keygen(t, filepath.Join(t.TempDir(), "other"), "-t", "ed25519", "-N", "")
	pin := strings.Join(strings.Fields(publicOf(t, other))[:2], " ")
	pinned, err := d.InspectKey(environment.NewSecret(pin), environment.Secret{})
	if err != nil {
		t.Fatal(err)
	}
	spec := specOf(t, d, settings(s, map[string]any{"knownHosts": sshdtest.KnownHostsName(s.Host, s.Port) + " " + pin}))
	s.ClearLog()
	started := time.Now()
	r := probe(t, d, spec)
	if took := time.Since(started); took > 3*time.Second {
		t.Errorf("took %s", took)
	}
	stage := mustFail(t, r, "host_key", environment.CodeHostKeyChanged)
	contains(t, stage.Message, pinned.Fingerprint, s.Fingerprint("ecdsa"), s.Fingerprint("rsa"), s.Addr())
	if len(r.Presented) != 2 || len(r.Trusted) != 1 || r.Trusted[0].Fingerprint != pinned.Fingerprint || r.Pin != "" {
		t.Errorf("presented %v, trusted %v, pin %q", r.Presented, r.Trusted, r.Pin)
	}
	noLogin(t, s)
}

// noLogin checks that sshd saw no authentication attempt.
func noLogin(t *testing.T, s *sshdtest.Server) {
	t.Helper()
	sshdtest.Wait(t, "sshd let the connections go", func() bool { return s.Connections() == 0 })
	for _, word := range []string{"Accepted", "Failed", "Postponed", "Invalid user", "authenticating user"} {
		if strings.Contains(s.Log(), word) {
			t.Errorf("sshd's log shows a login (%s):\n%s", word, s.Log())
		}
	}
}

func TestC13_PastedScanOutput(t *testing.T) {
	t.Parallel()
	s := sshdtest.Start(t, sshdtest.Config{})
	d := newDriver(t)
	older := sshdtest.Keygen(t, filepath.Join(t.TempDir(), "older"), "-t", "ed25519", "-N", "")
	text := s.Keyscan("-H") + "\n\n# an older key\n" + sshdtest.KnownHostsName(s.Host, s.Port) + " " + publicOf(t, older) + "\n"
	if !strings.Contains(text, "|1|") || !strings.Contains(text, "# 127.0.0.1") {
		t.Fatalf("ssh-keyscan gave no hashed names or comments: %s", text)
	}
	out, err := configure(t, d, settings(s, map[string]any{"knownHosts": strings.ReplaceAll(text, "\n", "\r\n")}), nil)
	if err != nil {
		t.Fatal(fieldsOf(err))
	}
	if stored := *decode(t, out).KnownHosts; strings.Contains(stored, "\r") || !strings.HasSuffix(stored, "\n") {
		t.Errorf("stored %q", stored)
	}
	r := probe(t, d, environment.Spec{Config: out.Config, Secrets: out.Secrets})
	mustPass(t, r)
	if got := stageOf(r, "host_key").Measured["fingerprint"]; got != s.Fingerprint("ed25519") {
		t.Errorf("shown is %v, presented %s", got, s.Fingerprint("ed25519"))
	}
}

func TestHostKey_UnknownShowsEveryKeyAndSendsNothing(t *testing.T) {
	t.Parallel()
	s := sshdtest.Start(t, sshdtest.Config{})
	d := newDriver(t)
	s.ClearLog()
	r := probe(t, d, specOf(t, d, settings(s, map[string]any{"knownHosts": nil})))
	stage := mustFail(t, r, "host_key", environment.CodeHostKeyUnknown)
	if len(r.Presented) != 3 || len(r.Trusted) != 0 {
		t.Fatalf("presented %v, trusted %v", r.Presented, r.Trusted)
	}
	for i, kind := range []string{"ed25519", "ecdsa", "rsa"} {
		contains(t, stage.Message, s.Fingerprint(kind))
		if want := strings.TrimSpace(s.KnownHosts(kind)); r.Presented[i].KnownHostsLine != want {
			t.Errorf("line %q, want %q", r.Presented[i].KnownHostsLine, want)
		}
	}
	noLogin(t, s)
	mustPass(t, probe(t, d, specOf(t, d, settings(s, map[string]any{"knownHosts": r.Presented[2].KnownHostsLine}))))
}

func TestHostKey_TrustOnFirstUse(t *testing.T) {
	t.Parallel()
	s := sshdtest.Start(t, sshdtest.Config{})
	d := newDriver(t)
	comment := "# kept\n"
	r := probe(t, d, specOf(t, d, settings(s, map[string]any{"knownHosts": comment, "strictHostKeyChecking": false})))
	mustPass(t, r)
	if want := comment + s.KnownHosts("ed25519"); r.Pin != want {
		t.Errorf("pin %q, want %q", r.Pin, want)
	}
	spec := specOf(t, d, settings(s, map[string]any{"knownHosts": r.Pin, "strictHostKeyChecking": false}))
	if again := probe(t, d, spec); !again.OK || again.Pin != "" {
		t.Errorf("second probe: ok %v, pin %q", again.OK, again.Pin)
	}
	s.MakeHostKey("ed25519")
	s.Restart()
	if r = probe(t, d, spec); r.Pin != "" {
		t.Errorf("a changed key was pinned: %q", r.Pin)
	}
	mustFail(t, r, "host_key", environment.CodeHostKeyChanged)
}

func TestHostKey_RunPinsOnFirstUse(t *testing.T) {
	t.Parallel()
	s := sshdtest.Start(t, sshdtest.Config{KeyTypes: []string{"ed25519"}})
	var mu sync.Mutex
	pinned := map[uuid.UUID]string{}
	d := newDriver(t, func(o *ssh.Options) {
		o.OnPin = func(_ context.Context, id uuid.UUID, text string) error {
			mu.Lock()
			defer mu.Unlock()
			pinned[id] = text
			return nil
		}
	})
	spec := specOf(t, d, settings(s, map[string]any{"knownHosts": nil, "strictHostKeyChecking": false}))
	ref, err := d.Acquire(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if pinned[spec.EnvironmentID] != s.KnownHosts() {
		t.Errorf("pinned %q, want %q", pinned[spec.EnvironmentID], s.KnownHosts())
	}
	s.MakeHostKey("ed25519")
	s.Kill()
	s.Start()
	if _, err := d.Read(t.Context(), ref, "."); environment.CodeOf(err) != environment.CodeHostKeyChanged {
		t.Errorf("the lease took another key: %v", err)
	}
}

func TestHostKey_Revoked(t *testing.T) {
	t.Parallel()
	s := sshdtest.Start(t, sshdtest.Config{})
	d := newDriver(t)
	for name, text := range map[string]string{
		"of a pinned key": "@revoked * " + s.HostKey("ed25519") + "\n" + s.KnownHosts("ed25519"),
		"alone":           "@revoked * " + s.HostKey("ed25519") + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			s.ClearLog()
			r := probe(t, d, specOf(t, d, settings(s, map[string]any{"knownHosts": text, "strictHostKeyChecking": false})))
			contains(t, mustFail(t, r, "host_key", environment.CodeHostKeyRevoked).Message, s.Fingerprint("ed25519"))
			noLogin(t, s)
		})
	}
}

func TestHostKey_Authority(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ca, foreign := filepath.Join(dir, "ca"), filepath.Join(dir, "foreign")
	sshdtest.Keygen(t, ca, "-t", "ed25519", "-N", "")
	sshdtest.Keygen(t, foreign, "-t", "ed25519", "-N", "")
	authority := func(file string) string {
		return "@cert-authority 127.0.0.* " + strings.Join(strings.Fields(readFile(t, file+".pub"))[:2], " ") + "\n"
	}
	for _, c := range []struct {
		name, principal, known string
		valid                  string
		revoke                 bool
		code                   string
	}{
		{name: "trusted", principal: "127.0.0.1", known: authority(ca)},
		{name: "another principal", principal: "elsewhere.test", known: authority(ca), code: environment.CodeHostKeyUnknown},
		{name: "another authority", principal: "127.0.0.1", known: authority(foreign), code: environment.CodeHostKeyUnknown},
		{name: "expired", principal: "127.0.0.1", known: authority(ca), valid: "20200101:20200102", code: environment.CodeHostKeyUnknown},
		{name: "revoked authority", principal: "127.0.0.1", known: authority(ca) + strings.Replace(authority(ca), "@cert-authority", "@revoked", 1), code: environment.CodeHostKeyRevoked},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := sshdtest.Start(t, sshdtest.Config{KeyTypes: []string{"ed25519"}})
			args := []string{"-q", "-s", ca, "-h", "-I", "host", "-n", c.principal}
			if c.valid != "" {
				args = append(args, "-V", c.valid)
			}
			if out, err := exec.Command("ssh-keygen", append(args, s.HostKeyFile("ed25519")+".pub")...).CombinedOutput(); err != nil {
				t.Fatalf("sign the host key: %v: %s", err, out)
			}
			s.AddLine("HostCertificate " + s.HostKeyFile("ed25519") + "-cert.pub")
			s.Restart()
			d := newDriver(t)
			r := probe(t, d, specOf(t, d, settings(s, map[string]any{"knownHosts": c.known})))
			if c.code == "" {
				mustPass(t, r)
				return
			}
			mustFail(t, r, "host_key", c.code)
			if len(r.Presented) != 1 || r.Presented[0].Fingerprint != s.Fingerprint("ed25519") {
				t.Errorf("presented %v, want the bare key", r.Presented)
			}
			r = probe(t, d, specOf(t, d, settings(s, map[string]any{"knownHosts": c.known, "strictHostKeyChecking": false})))
			if mustFail(t, r, "host_key", c.code); r.Pin != "" {
				t.Errorf("first use pinned %q although an authority is trusted", r.Pin)
			}
			r = probe(t, d, specOf(t, d, settings(s, map[string]any{"knownHosts": c.known + s.KnownHosts()})))
			if pinnedBeside := c.code != environment.CodeHostKeyRevoked; r.OK != pinnedBeside {
				t.Errorf("with the bare key pinned beside: ok %v, %s", r.OK, r.Summary)
			}
		})
	}
}

func TestScanHostKeys(t *testing.T) {
	t.Parallel()
	s := sshdtest.Start(t, sshdtest.Config{})
	d := newDriver(t)
	s.ClearLog()
	spec := specOf(t, d, settings(s, map[string]any{"knownHosts": nil, "privateKey": nil}))
	keys, err := d.ScanHostKeys(t.Context(), spec)
	if err != nil || len(keys) != 3 {
		t.Fatalf("scan: %v, %v", keys, err)
	}
	noLogin(t, s)
	s.Stop()
	_, err = d.ScanHostKeys(t.Context(), spec)
	if environment.CodeOf(err) != environment.CodeConnectRefused {
		t.Errorf("scan of nothing: %v", err)
	}
}

func TestHostKey_NoCommonAlgorithm(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	for name, line := range map[string]string{
		"key exchange": "KexAlgorithms diffie-hellman-group16-sha512,diffie-hellman-group18-sha512",
		"host key":     "HostKeyAlgorithms ssh-rsa",
		"cipher":       "Ciphers aes256-cbc",
	} {
		t.Run(name, func(t *testing.T) {
			s := sshdtest.Start(t, sshdtest.Config{Lines: []string{line}, KeyTypes: []string{"rsa"}})
			r := probe(t, d, specOf(t, d, settings(s, nil)))
			stage := mustFail(t, r, "host_key", environment.CodeNoCommonAlgorithm)
			contains(t, stage.Message, s.Addr(), "algorithm", strings.Split(strings.Fields(line)[1], ",")[0])
		})
	}
}
