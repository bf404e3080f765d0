package vault_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"berth/environment"
	"berth/store/vault"
)

func open(t *testing.T, path string) *vault.Vault {
	t.Helper()
	v, err := vault.Open(path)
	if err != nil {
		t.Fatalf("open %s: %v", path, err)
	}
	return v
}

func TestSealedOpensAgainAfterARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keyset.json")
	first, id := open(t, path), environment.NewID()
	for name, value := range map[string]string{"text": "pässword", "empty": "", "bytes": "a\x00\xff", "largest": strings.Repeat("x", environment.MaxSecret)} {
		t.Run(name, func(t *testing.T) {
			sealed, err := first.Seal(id, environment.NewSecret(value))
			if err != nil {
				t.Fatal(err)
			}
			if len(value) > 3 && bytes.Contains(sealed, []byte(value)) {
				t.Error("the value can be read in what was sealed")
			}
			got, err := open(t, path).Open(id, sealed)
			if err != nil || got.Reveal() != value {
				t.Errorf("open what was sealed: got %d bytes, %v, want %d", len(got.Reveal()), err, len(value))
			}
		})
	}
	if a, b := first.Fingerprint(), open(t, path).Fingerprint(); a != b || a == "" {
		t.Errorf("fingerprints of one keyset: got %q and %q", a, b)
	}
}

func TestOpenRefuses(t *testing.T) {
	mine, other := open(t, filepath.Join(t.TempDir(), "keyset.json")), open(t, filepath.Join(t.TempDir(), "keyset.json"))
	id := environment.NewID()
	sealed, err := mine.Seal(id, environment.NewSecret("canary"))
	if err != nil {
		t.Fatal(err)
	}
	altered := bytes.Clone(sealed)
	altered[len(altered)-1] ^= 1
	for name, try := range map[string]func() (environment.Secret, error){
		"another id":     func() (environment.Secret, error) { return mine.Open(environment.NewID(), sealed) },
		"another keyset": func() (environment.Secret, error) { return other.Open(id, sealed) },
		"altered":        func() (environment.Secret, error) { return mine.Open(id, altered) },
		"nothing":        func() (environment.Secret, error) { return mine.Open(id, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			got, err := try()
			if environment.CodeOf(err) != "keyset_mismatch" || !got.Empty() {
				t.Errorf("got %d bytes, error %v, want keyset_mismatch", len(got.Reveal()), err)
			}
		})
	}
	if mine.Fingerprint() == other.Fingerprint() {
		t.Error("two keysets have one fingerprint")
	}
}

func TestKeysetFileIsPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keyset.json")
	open(t, path)
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("mode of a new keyset: got %v, %v, want 0600", info.Mode(), err)
	}
	for _, mode := range []os.FileMode{0o640, 0o604, 0o620, 0o666} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := vault.Open(path); environment.CodeOf(err) != "keyset_exposed" {
			t.Errorf("open a keyset of mode %04o: got %v, want keyset_exposed", mode, err)
		}
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := vault.Open(path); environment.CodeOf(err) != "keyset_unreadable" {
		t.Errorf("open a broken keyset: got %v, want keyset_unreadable", err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("files beside the keyset: got %v, %v, want none", entries, err)
	}
}

func TestServersThatStartAtOnceShareOneKeyset(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keyset.json")
	var all sync.WaitGroup
	prints := make([]string, 8)
	for i := range prints {
		all.Go(func() {
			if v, err := vault.Open(path); err == nil {
				prints[i] = v.Fingerprint()
			}
		})
	}
	all.Wait()
	for i, p := range prints {
		if p == "" || p != prints[0] {
			t.Errorf("fingerprint of server %d: got %q, want %q", i, p, prints[0])
		}
	}
}
