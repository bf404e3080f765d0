package cluster

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"berth/environment"
)

// repository serves testdata/postgresql.txz as a Maven repository does.
func repository(t *testing.T, sum func([]byte) string) string {
	t.Helper()
	txz, err := os.ReadFile("testdata/postgresql.txz")
	if err != nil {
		t.Fatal(err)
	}
	var jar bytes.Buffer
	z := zip.NewWriter(&jar)
	f, err := z.Create("postgres.txz")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(txz); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := jar.Bytes()
		if strings.HasSuffix(r.URL.Path, ".sha256") {
			body = []byte(sum(jar.Bytes()))
		}
		_, _ = w.Write(body)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func checksum(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// empty is a data folder on a machine without PostgreSQL.
func empty(t *testing.T) place {
	t.Helper()
	root, err := os.MkdirTemp("", "berth-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	p := place{root: root, data: filepath.Join(root, "postgres"), socket: filepath.Join(root, "socket")}
	if p.account, err = ordinaryUser(); err != nil {
		t.Fatal(err)
	}
	if err := p.makeRoot(); err != nil {
		t.Fatal(err)
	}
	return p
}

func env(pairs map[string]string) func(string) string {
	return func(name string) string { return pairs[name] }
}

func TestFetchedPostgresRuns(t *testing.T) {
	before := libraryLogs()
	ctx, log, p := t.Context(), slog.New(slog.DiscardHandler), empty(t)
	getenv := env(map[string]string{"BERTH_POSTGRES_REPOSITORY": repository(t, checksum)})
	var err error
	if p.bin, err = p.binaries(ctx, getenv, nil, log); err != nil {
		t.Fatalf("fetch a PostgreSQL: %v", err)
	}
	if p.bin != p.fetched() {
		t.Errorf("programs: got %s, want the fetched ones in %s", p.bin, p.fetched())
	}
	entries, err := os.ReadDir(p.root)
	if err != nil || len(entries) != 1 {
		t.Errorf("files after a fetch: got %v, %v, want the programs alone", entries, err)
	}
	if after := libraryLogs(); len(after) > len(before) {
		t.Errorf("logs of the library: got %v, want no new ones beside %v", after, before)
	}
	if err := p.makeSocketDir(p.socket); err != nil {
		t.Fatal(err)
	}
	c, err := p.start(ctx, log, []string{"fsync=off"})
	if err != nil {
		t.Fatalf("start the fetched PostgreSQL: %v", err)
	}
	if err := c.Stop(context.WithoutCancel(ctx)); err != nil {
		t.Errorf("stop it: %v", err)
	}
	again, err := p.binaries(ctx, env(nil), nil, log)
	if err != nil && environment.CodeOf(err) != "postgres_version" || err == nil && again != p.bin {
		t.Errorf("programs at the next start: got %s, %v, want those that are there", again, err)
	}
}

func TestNoPostgresNamesThePackage(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for name, url := range map[string]string{"no network": gone.URL, "altered on the way": repository(t, func([]byte) string { return "no such sum" })} {
		t.Run(name, func(t *testing.T) {
			p := empty(t)
			_, err := p.binaries(t.Context(), env(map[string]string{"BERTH_POSTGRES_REPOSITORY": url}), nil, slog.New(slog.DiscardHandler))
			if environment.CodeOf(err) != "postgres_missing" || !strings.Contains(environment.AsError(err).Remediation, "apt install postgresql") {
				t.Errorf("got %v, want postgres_missing with the package to install", err)
			}
			entries, err := os.ReadDir(p.root)
			if err != nil || len(entries) != 0 {
				t.Errorf("files after a fetch that failed: got %v, %v, want none", entries, err)
			}
		})
	}
}

func TestNamedFolderOfPrograms(t *testing.T) {
	dirs := candidates(env(nil))
	if len(dirs) == 0 {
		t.Fatal("no PostgreSQL is installed here")
	}
	p, log := empty(t), slog.New(slog.DiscardHandler)
	got, err := p.binaries(t.Context(), env(map[string]string{"BERTH_POSTGRES_BIN": dirs[0]}), nil, log)
	if err != nil || got != dirs[0] {
		t.Errorf("named folder: got %s, %v, want %s", got, err, dirs[0])
	}
	_, err = p.binaries(t.Context(), env(map[string]string{"BERTH_POSTGRES_BIN": p.root}), dirs, log)
	if environment.CodeOf(err) != "postgres_missing" {
		t.Errorf("named folder without programs: got %v, want postgres_missing", err)
	}
	inPath := candidates(env(map[string]string{"PATH": "relative:" + dirs[0]}))
	if inPath[0] != dirs[0] || slices.Contains(inPath, "relative") {
		t.Errorf("candidates with a folder in PATH: got %v, want it first and nothing relative", inPath)
	}
}

func TestForeignSocketFolderIsRefused(t *testing.T) {
	p := empty(t)
	dir := filepath.Join(p.root, "planted")
	if err := os.Symlink(os.TempDir(), dir); err != nil {
		t.Fatal(err)
	}
	if err := p.makeSocketDir(dir); err == nil {
		t.Error("a planted link was taken for the folder of the socket")
	}
}
