package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"berth/environment"
	"berth/handlers/cli"
	"berth/store/storetest"
	"berth/store/vault"
)

// backedUp starts a server, stops it and backs its database up.
func backedUp(t *testing.T) (o cli.ServeOptions, file string) {
	t.Helper()
	o = options(t)
	o.Getenv = os.Getenv
	srv, err := startServer(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := srv.Stop(); err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "berth.backup")
	b, err := backup(t.Context(), o, file)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 || info.Size() != b.Bytes {
		t.Errorf("the file: got %v, %v, want %d bytes for its owner only", info, err, b.Bytes)
	}
	keys, err := vault.Open(keysetPath(o, o.DataDir))
	if err != nil {
		t.Fatal(err)
	}
	if b.Environments != 1 || b.Fingerprint != keys.Fingerprint() || b.KeysetMissing || b.Schema == 0 {
		t.Errorf("backup: got %+v, want Local and the keyset %s", b, keys.Fingerprint())
	}
	return o, file
}

func TestRestoreIntoAnEmptyDatabase(t *testing.T) {
	o, file := backedUp(t)
	o.DatabaseURL = storetest.EmptyURL(t)
	b, err := restore(t.Context(), o, file)
	if err != nil {
		t.Fatal(err)
	}
	if b.Environments != 1 || b.Schema == 0 {
		t.Errorf("restored: got %+v", b)
	}
	db := storetest.Open(t, o.DatabaseURL)
	log, err := db.Activity(t.Context(), environment.ActivityFilter{Action: "instance.restored"})
	if err != nil || len(log.Items) != 1 {
		t.Errorf("activity of the restore: got %+v, %v", log.Items, err)
	}
	srv, err := startServer(t.Context(), o)
	if err != nil {
		t.Fatalf("start on restored data: %v", err)
	}
	if err := srv.Stop(); err != nil {
		t.Error(err)
	}
}

func TestRestoreRefusals(t *testing.T) {
	o, file := backedUp(t)
	garbage := filepath.Join(t.TempDir(), "garbage")
	if err := os.WriteFile(garbage, []byte("not a backup"), 0o600); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(t.TempDir(), "cut")
	if err := os.WriteFile(cut, whole[:len(whole)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other.json")
	if _, err := vault.Open(other); err != nil {
		t.Fatal(err)
	}
	newer := options(t)
	newer.Getenv, newer.Keyset = os.Getenv, keysetPath(o, o.DataDir)
	storetest.Exec(t, newer.DatabaseURL, `insert into goose_db_version (version_id, is_applied) values (9999, true)`)
	future := filepath.Join(t.TempDir(), "future")
	if _, err := backup(t.Context(), newer, future); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, file, keyset, url, code string
	}{
		{"no file", filepath.Join(t.TempDir(), "nothing"), "", "", "backup_not_found"},
		{"another sort of file", garbage, "", "", "backup_unreadable"},
		{"half a file", cut, "", "", "backup_unreadable"},
		{"another keyset", file, other, "", "keyset_mismatch"},
		{"no keyset", file, filepath.Join(t.TempDir(), "none.json"), "", "keyset_missing"},
		{"a database in use", file, "", o.DatabaseURL, "restore_not_empty"},
		{"of a newer Berth", future, "", "", "backup_newer"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := o
			o.Keyset = tt.keyset
			if o.Keyset == "" {
				o.Keyset = newer.Keyset
			}
			if o.DatabaseURL = tt.url; tt.url == "" {
				o.DatabaseURL = storetest.EmptyURL(t)
			}
			_, err := restore(t.Context(), o, tt.file)
			e := environment.AsError(err)
			if environment.CodeOf(err) != tt.code || e.Remediation == "" && tt.code != "backup_not_found" {
				t.Errorf("got %v (%s, remedy %q), want %s", err, environment.CodeOf(err), e.Remediation, tt.code)
			}
			if tt.url != "" {
				return
			}
			if empty, err := storetest.Open(t, o.DatabaseURL).Empty(t.Context()); err != nil || !empty {
				t.Errorf("the database after a refusal: empty %t, %v", empty, err)
			}
		})
	}
}

func TestBackupRefusals(t *testing.T) {
	o, file := backedUp(t)
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, err = backup(t.Context(), o, file)
	if environment.CodeOf(err) != "backup_exists" {
		t.Errorf("over an earlier backup: got %v", err)
	}
	if after, err := os.ReadFile(file); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the earlier backup was touched: %v", err)
	}
	fresh := filepath.Join(t.TempDir(), "fresh")
	o.DatabaseURL = storetest.EmptyURL(t)
	if _, err := backup(t.Context(), o, fresh); environment.CodeOf(err) != "nothing_to_back_up" {
		t.Errorf("of an empty database: got %v", err)
	}
	o.DatabaseURL, o.DataDir = "", filepath.Join(t.TempDir(), "none")
	if _, err := backup(t.Context(), o, fresh); environment.CodeOf(err) != "nothing_to_back_up" {
		t.Errorf("of no data folder: got %v", err)
	}
	for _, path := range []string{fresh, o.DataDir} {
		if _, err := os.Lstat(path); !os.IsNotExist(err) {
			t.Errorf("a refusal left %s: %v", path, err)
		}
	}
}
