package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/store/vault"
)

// TestDrill_BackUpWipeRestore loses everything but the keyset and a backup that
// was made while the server served: the same environments are there again, and
// their secrets open.
func TestDrill_BackUpWipeRestore(t *testing.T) {
	t.Parallel()
	s := newServer(t, "BERTH_RUN_GRACE=5m")
	s.furnish(t, "Restored")
	const canary = "canary-restored-4711"
	host := newHost(t)
	env := saveWithToken(t, s, host, canary)
	before := s.environments(t)
	first := s.tokenHash(t, env)
	busy := (&drill{server: s}).begin(t, env, "sh", "-c", "echo started; while [ ! -e go ]; do sleep 0.2; done; echo ended")
	(&drill{server: s}).prints(t, busy, "started")

	data, file := filepath.Join(s.dir, "data"), filepath.Join(s.dir, "berth.backup")
	code, out, errOut := s.cli(t, "", "backup", file, "--data-dir", data)
	if code != 0 || !strings.Contains(out, "keyset") {
		t.Fatalf("backup while it serves: %d\n%s%s", code, out, errOut)
	}
	if code, _, _ := s.cli(t, "", "backup", file, "--data-dir", data); code != 5 {
		t.Errorf("a backup over an earlier one: exit code %d, want 5", code)
	}
	wantNotInBackup(t, file, canary)
	if code, _, _ := s.cli(t, "", "restore", file, "--data-dir", data); code != 5 {
		t.Errorf("a restore under a running server: exit code %d, want 5", code)
	}
	s.stop(t)
	if code, _, _ := s.cli(t, "", "restore", file, "--data-dir", data); code != 5 {
		t.Errorf("a restore over data: exit code %d, want 5", code)
	}

	keyset := wipeButKeyset(t, data)
	other := filepath.Join(s.dir, "other.json")
	if _, err := vault.Open(other); err != nil {
		t.Fatal(err)
	}
	code, out, _ = s.cli(t, "", "restore", file, "--data-dir", data, "--keyset", other, "--json")
	if code != 5 || !strings.Contains(out, "keyset_mismatch") {
		t.Errorf("a restore with another keyset: %d\n%s", code, out)
	}
	if left, err := filepath.Glob(filepath.Join(data, "postgres*")); err != nil || len(left) > 0 {
		t.Errorf("the refusal left %v, %v", left, err)
	}
	code, out, errOut = s.cli(t, "", "restore", file, "--data-dir", data, "--keyset", keyset)
	if code != 0 {
		t.Fatalf("restore: %d\n%s%s", code, out, errOut)
	}
	s.args = append(s.args, "--keyset", keyset)
	s.start(t)
	if after := s.environments(t); after != before {
		t.Errorf("environments after the restore:\n%s\nbefore:\n%s", after, before)
	}
	if again := s.tokenHash(t, env); again != first {
		t.Errorf("the secret after the restore: hash %s, before %s", again, first)
	}
	// What was under way in the backup, and still is, is taken up.
	if err := os.WriteFile(filepath.Join(host.workspace, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got := s.ends(t, busy, 60*time.Second)
	if output := s.output(t, busy, "stdout"); got.Status != "succeeded" || output != "started\nended\n" {
		t.Errorf("the run that was under way in the backup: %s, output %q", got, output)
	}
}

// saveWithToken saves an environment with a secret key and a secret variable.
func saveWithToken(t *testing.T, s *server, h *host, token string) string {
	t.Helper()
	config := h.config()
	config["knownHosts"] = h.KnownHosts("ed25519")
	var e struct{ ID string }
	s.call(t, "POST", "/api/companies/"+s.company+"/environments", map[string]any{"name": "Box", "driver": "ssh", "config": config,
		"envVars": map[string]any{"API_TOKEN": map[string]any{"type": "secret", "value": token}}}, &e, 201)
	return e.ID
}

// environments is what is saved, without what comes and goes.
func (s *server) environments(t *testing.T) string {
	t.Helper()
	var all []struct {
		ID       string          `json:"id"`
		Name     string          `json:"name"`
		Driver   string          `json:"driver"`
		Status   string          `json:"status"`
		Revision int             `json:"revision"`
		Config   json.RawMessage `json:"config"`
		EnvVars  json.RawMessage `json:"envVars"`
	}
	s.call(t, "GET", "/api/companies/"+s.company+"/environments", nil, &all, 200)
	text, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// tokenHash has a run tell the hash of the secret variable, which says that the
// secret opens without showing it.
func (s *server) tokenHash(t *testing.T, env string) string {
	t.Helper()
	d := &drill{server: s}
	run := d.begin(t, env, "sh", "-c", `printf %s "$API_TOKEN" | sha256sum`)
	if got := s.ends(t, run, 30*time.Second); got.Status != "succeeded" {
		t.Fatalf("the run %s", got)
	}
	hash, _, _ := strings.Cut(d.output(t, run, "stdout"), " ")
	return hash
}

// wantNotInBackup reads the whole of a backup as text.
func wantNotInBackup(t *testing.T, file, canary string) {
	t.Helper()
	text, err := exec.Command("pg_restore", "--file=-", file).Output()
	if err != nil {
		t.Fatalf("pg_restore: %v", err)
	}
	if !strings.Contains(string(text), "API_TOKEN") {
		t.Error("the backup does not hold the environment")
	}
	sum := sha256.Sum256([]byte(canary))
	for _, secret := range []string{canary, hex.EncodeToString([]byte(canary)), "PRIVATE KEY"} {
		if strings.Contains(string(text), secret) {
			t.Errorf("the backup holds a secret in clear, as %d characters", len(secret))
		}
	}
	if output := hex.EncodeToString(sum[:]); !strings.Contains(string(text), hex.EncodeToString([]byte(output))) {
		t.Error("the backup does not hold the output of the run")
	}
}

// wipeButKeyset deletes a data folder, and returns where its keyset is kept.
func wipeButKeyset(t *testing.T, data string) string {
	t.Helper()
	kept := filepath.Join(filepath.Dir(data), "kept-keyset.json")
	if err := os.Rename(filepath.Join(data, "keyset.json"), kept); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(data); err != nil {
		t.Fatal(err)
	}
	return kept
}
