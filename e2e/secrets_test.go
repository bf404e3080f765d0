package e2e

import (
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestSecrets_CanariesAreNowhere plants a word in every secret and looks for it
// wherever something of Berth can be read: answers, pages, log, process lists,
// the data folder, the tables.
func TestSecrets_CanariesAreNowhere(t *testing.T) {
	db := newDatabase(t)
	s := newServer(t, "DATABASE_URL="+db.cluster.URL(), "BERTH_LOG_LEVEL=debug")
	s.furnish(t, "Canaries")
	host := newHost(t)
	const canary = "canary-4711"
	config := host.config()
	config["password"] = canary + "-password"
	config["knownHosts"] = host.KnownHosts("ed25519")
	var e struct{ ID string }
	s.call(t, "POST", "/api/companies/"+s.company+"/environments", map[string]any{
		"name": "Box", "driver": "ssh", "config": config,
		"envVars": map[string]any{
			"API_TOKEN":     map[string]any{"type": "secret", "value": canary + "-variable"},
			"SERVICE_TOKEN": map[string]any{"type": "plain", "value": canary + "-plain"}, // looks secret
			"LINK":          map[string]any{"type": "plain", "value": "http://u:" + canary + "@127.0.0.1/"},
		},
	}, &e, 201)
	s.call(t, "PATCH", "/api/environments/"+e.ID, map[string]any{"config": map[string]any{"password": canary + "-changed"}}, nil, 200)
	s.call(t, "POST", "/api/environments/"+e.ID+"/probe", nil, nil, 200)
	var w work
	s.call(t, "POST", "/api/companies/"+s.company+"/runs", map[string]any{
		"environmentId": e.ID, "command": []string{"sh", "-c", `printenv API_TOKEN; printenv OWN_TOKEN; cat; sleep 4`},
		"env": map[string]string{"OWN_TOKEN": canary + "-own"}, "stdin": "fed\n",
	}, &w, 201)
	(&drill{server: s}).prints(t, w.ID, "fed")
	for _, p := range processes(t) {
		if strings.Contains(p.command, canary) {
			t.Errorf("process %d (%s) shows it: %s", p.pid, p.name, p.command)
		}
	}
	if got := s.ends(t, w.ID, 20*time.Second); got.Status != "succeeded" {
		t.Fatalf("the run %s", got)
	}
	company, environment, run := "/api/companies/"+s.company, "/api/environments/"+e.ID, "/api/runs/"+w.ID
	for _, path := range []string{
		company + "/environments", environment, environment + "/probes", environment + "/leases", environment + "/delete-blast-radius",
		company + "/runs", run, run + "/log", run + "/log?raw=1", run + "/events?after=0", "/api/activity", "/metrics",
		pages, pages + "/" + e.ID, pages + "/" + e.ID + "?tab=configuration", pages + "/" + e.ID + "?tab=activity", pages + "/" + e.ID + "/edit",
		"/companies/" + s.company + "/runs/" + w.ID, "/companies/" + s.company + "/runs/" + w.ID + "?x=" + canary[:6],
	} {
		res, err := http.Get(s.url + path)
		if err != nil {
			t.Fatal(err)
		}
		if body := readAll(t, res); res.StatusCode != 200 || strings.Contains(body, canary) || strings.Contains(body, "PRIVATE KEY-----\n") {
			t.Errorf("%s: %d; a secret is in it: %v", path, res.StatusCode, strings.Contains(body, canary))
		}
	}
	_, out, _ := s.cli(t, "", "env", "get", "Box", "--json")
	if strings.Contains(out, canary) || !strings.Contains(out, "API_TOKEN") {
		t.Errorf("the command line shows %s", out)
	}
	if strings.Contains(s.log.String(), canary) {
		t.Error("the log has it")
	}
	wantNoCanary(t, s.dir, canary)
	wantNoCanary(t, host.Home, canary)
	dump, err := exec.Command("pg_dump", "--inserts", db.cluster.URL()).Output()
	if err != nil {
		t.Fatalf("pg_dump: %v", err)
	}
	if n := strings.Count(string(dump), canary); n > 0 || !strings.Contains(string(dump), "API_TOKEN") {
		t.Errorf("the tables hold it %d times", n)
	}
}

// wantNoCanary reads every file below a folder.
func wantNoCanary(t *testing.T, dir, canary string) {
	t.Helper()
	read := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		read++
		if strings.Contains(string(b), canary) {
			t.Errorf("%s has it", path)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	t.Logf("%d files read below %s", read, dir)
}
