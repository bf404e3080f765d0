package vault_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"berth/environment"
	"berth/store/vault"

	"github.com/google/uuid"
)

func seal(t *testing.T, v *vault.Vault, value string) (uuid.UUID, []byte) {
	t.Helper()
	id := environment.NewID()
	sealed, err := v.Seal(id, environment.NewSecret(value))
	if err != nil {
		t.Fatal(err)
	}
	return id, sealed
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// opens reports whether a vault opens what was sealed.
func opens(v *vault.Vault, id uuid.UUID, sealed []byte, want string) bool {
	got, err := v.Open(id, sealed)
	return err == nil && got.Reveal() == want
}

func TestRotateKeepsOldKeysUntilPrune(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keyset.json")
	v := open(t, path)
	first := v.Fingerprint()
	id, old := seal(t, v, "canary-1")
	if !bytes.HasPrefix(old, v.Marks()[0]) {
		t.Error("what the primary key sealed does not begin with its mark")
	}
	must(t, v.Rotate())
	second := v.Fingerprint()
	if all := v.Fingerprints(); !slices.Equal(all, []string{second, first}) || first == second {
		t.Errorf("fingerprints after a rotation: %v, want the new one and %s", all, first)
	}
	newID, sealed := seal(t, v, "canary-2")
	if !bytes.HasPrefix(sealed, v.Marks()[0]) || bytes.HasPrefix(old, v.Marks()[0]) {
		t.Error("the mark does not tell the new key from the old one")
	}
	again := open(t, path)
	if !opens(again, id, old, "canary-1") || !opens(again, newID, sealed, "canary-2") || again.Fingerprint() != second {
		t.Error("a restarted vault does not open what both keys sealed")
	}
	must(t, again.Rotate()) // a turn was begun: no third key
	if len(again.Fingerprints()) != 2 || again.Fingerprint() != second {
		t.Errorf("a second rotation made another key: %v", again.Fingerprints())
	}
	must(t, v.Prune())
	must(t, v.Prune())
	if opens(open(t, path), id, old, "canary-1") || !opens(open(t, path), newID, sealed, "canary-2") || len(v.Fingerprints()) != 1 {
		t.Error("a prune keeps the old key, or loses the new one")
	}
	if !opens(v, id, old, "canary-1") {
		t.Error("what was read before the prune does not open behind it")
	}
	if _, sealed := seal(t, v, "canary-3"); !bytes.HasPrefix(sealed, v.Marks()[0]) {
		t.Error("a dropped key seals")
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode after a rotation: got %v, %v, want 0600", info.Mode(), err)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("files beside the keyset: got %v, %v, want none", entries, err)
	}
}

func TestTwoVaultsOnOneFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keyset.json")
	mine, other := open(t, path), open(t, path)
	oldID, old := seal(t, other, "canary-1")
	must(t, mine.Rotate())
	id, sealed := seal(t, mine, "canary-2")
	if !opens(other, id, sealed, "canary-2") {
		t.Error("a vault does not read the file again for a key that it does not know")
	}
	if other.Fingerprint() != mine.Fingerprint() || !opens(other, oldID, old, "canary-1") {
		t.Error("a vault that read the file again does not go by it")
	}
	must(t, mine.Prune())
	must(t, other.Reload())
	if len(other.Fingerprints()) != 1 || !opens(other, oldID, old, "canary-1") {
		t.Error("a vault keeps a key that another dropped, or opens nothing that was read before")
	}
	must(t, mine.Rotate())
	must(t, mine.Prune())
	must(t, other.Reload())
	if opens(other, oldID, old, "canary-1") {
		t.Error("a vault opens with a key that was dropped two turns ago")
	}
	must(t, mine.Rotate())
	must(t, mine.Prune())
	if err := other.Prune(); err == nil {
		t.Error("a vault with an old primary key dropped the others'")
	}
	if id, sealed := seal(t, mine, "canary-3"); !opens(open(t, path), id, sealed, "canary-3") {
		t.Error("the file lost the key of now")
	}
}

func TestVaultsThatRotateAtOnceShareTheNewKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keyset.json")
	vaults := make([]*vault.Vault, 6)
	for i := range vaults {
		vaults[i] = open(t, path)
	}
	var all sync.WaitGroup
	for _, v := range vaults {
		all.Go(func() {
			if err := v.Rotate(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for i, v := range vaults {
		if got := v.Fingerprints(); !slices.Equal(got, vaults[0].Fingerprints()) || len(got) != 2 {
			t.Errorf("keys of vault %d: %v, want two, as the first has", i, got)
		}
	}
}

// TestAStaleCopyFailsClearly: a server whose file is a copy of before.
func TestAStaleCopyFailsClearly(t *testing.T) {
	dir := t.TempDir()
	path, copied := filepath.Join(dir, "keyset.json"), filepath.Join(dir, "copy.json")
	v := open(t, path)
	text, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(copied, text, 0o600))
	stale := open(t, copied)
	must(t, v.Rotate())
	id, sealed := seal(t, v, "canary-1")
	_, err = stale.Open(id, sealed)
	e, ok := errors.AsType[*environment.Error](err)
	if !ok || e.Code != "keyset_mismatch" || e.Remediation == "" || !bytes.Contains([]byte(e.Message), []byte("does not hold")) {
		t.Errorf("open with a stale copy: got %v, want keyset_mismatch that says what to do", err)
	}
}

func TestAFileThatIsOpenToOthersIsNotReadAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keyset.json")
	v := open(t, path)
	id, sealed := seal(t, v, "canary-1")
	must(t, os.Chmod(path, 0o640))
	for what, do := range map[string]func() error{"reload": v.Reload, "rotate": v.Rotate, "prune": v.Prune} {
		if err := do(); environment.CodeOf(err) != "keyset_exposed" {
			t.Errorf("%s: got %v, want keyset_exposed", what, err)
		}
	}
	if !opens(v, id, sealed, "canary-1") {
		t.Error("a vault that is open lost its key")
	}
	must(t, os.Remove(path))
	if err := v.Rotate(); err == nil {
		t.Error("a rotation without a file went through")
	}
}

func TestALinkToTheKeysetStaysALink(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "real.json"), filepath.Join(dir, "keyset.json")
	open(t, path)
	must(t, os.Symlink(path, link))
	v := open(t, link)
	must(t, v.Rotate())
	if target, err := os.Readlink(link); err != nil || target != path {
		t.Errorf("the link is gone: %q, %v", target, err)
	}
	if got := open(t, path).Fingerprint(); got != v.Fingerprint() {
		t.Errorf("the file has the key %s, want %s", got, v.Fingerprint())
	}
}
