package cluster

import (
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"testing"

	"berth/environment"
)

func TestForThisUser(t *testing.T) {
	dir := t.TempDir()
	if err := ForThisUser(dir); err != nil {
		t.Errorf("a folder of one's own: got %v", err)
	}
	if err := ForThisUser(filepath.Join(dir, "none")); err != nil {
		t.Errorf("a folder that is not there: got %v", err)
	}
	if os.Geteuid() != 0 {
		return // only root can make the rest, and only root is refused
	}
	data := filepath.Join(dir, "postgres")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(data, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	if err := ForThisUser(dir); environment.CodeOf(err) != "data_dir_of_another_user" {
		t.Errorf("a cluster of another user: got %v", err)
	}
}

func TestRunningWhereNothingRuns(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "postgres")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	if has, err := HasData(dir); err != nil || has {
		t.Errorf("an empty folder has data: %t, %v", has, err)
	}
	own := strconv.Itoa(os.Getpid()) // runs, and is no postmaster
	for name, text := range map[string]string{
		"PG_VERSION":     "15\n",
		"postmaster.pid": own + "\n" + data + "\n1\n5432\n" + dir + "\n\n1 1\nready   \n",
	} {
		if err := os.WriteFile(filepath.Join(data, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if has, err := HasData(dir); err != nil || !has {
		t.Errorf("a cluster's folder has no data: %t, %v", has, err)
	}
	if url, ok, err := Running(t.Context(), dir); ok || err != nil {
		t.Errorf("a postmaster that is gone: got %q, %t, %v", url, ok, err)
	}
}

func TestClientTarget(t *testing.T) {
	for _, c := range []struct {
		url, name string
		env       []string
	}{
		{"postgres://berth:p%40ss@db.example:5433/berth?sslmode=require&statement_timeout=5s&binary_parameters=yes",
			"postgres://berth@db.example:5433/berth?connect_timeout=10&sslmode=require", []string{"PGPASSWORD=p@ss"}},
		{"postgres://u:p@/berth?host=/run/x", "postgres://u@/berth?connect_timeout=10&host=%2Frun%2Fx", []string{"PGPASSWORD=p"}},
		{"postgresql://db/berth?password=p&user=u&connect_timeout=3", "postgresql://db/berth?connect_timeout=3", []string{"PGPASSWORD=p", "PGUSER=u"}},
	} {
		got, err := clientTarget(c.url)
		if err != nil || got.name != c.name || !reflect.DeepEqual(got.env, c.env) {
			t.Errorf("%s: got %s, %q, %v, want %s, %q", c.url, got.name, got.env, err, c.name, c.env)
		}
	}
	if _, err := clientTarget("host=db password=p"); environment.CodeOf(err) != "database_url_invalid" {
		t.Errorf("no URL: got %v", err)
	}
}

func TestCopiedRows(t *testing.T) {
	got := copiedRows("SET x = 1;\nCOPY public.instance (id, keyset_fingerprint, name) FROM stdin;\n1\t\\N\tCOPY a (b) FROM stdin;\n\\.\n\n" +
		"COPY public.empty (id) FROM stdin;\n\\.\nCOPY public.two (id) FROM stdin;\na\nb\n\\.\n")
	want := map[string][]map[string]string{
		"instance": {{"id": "1", "name": "COPY a (b) FROM stdin;"}}, "two": {{"id": "a"}, {"id": "b"}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
