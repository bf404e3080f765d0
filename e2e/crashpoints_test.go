package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// scene is a step of a sandbox's life at which the server dies.
type scene struct {
	step string
	kept bool // it comes up only where a sandbox is picked up again
}

func scenes() []scene {
	return []scene{{"list", false}, {"acquire.before-create", false}, {"acquire.after-create", false}, {"start", false}, {"exec", false},
		{"release.before", false}, {"release.after", false}, {"resume", true}, {"resume.after", true}}
}

// walk is two servers on one database with one world of fake sandboxes.
type walk struct {
	servers [2]*server
	world   string
	marks   string // a file for each run, with a line for each time that it was done
	deaths  int
}

func newWalk(t *testing.T) *walk {
	t.Helper()
	db := newDatabase(t)
	dir := t.TempDir()
	w := &walk{world: filepath.Join(dir, "world"), marks: filepath.Join(dir, "marks")}
	if err := os.Mkdir(w.marks, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range w.servers {
		w.servers[i] = newServer(t, "DATABASE_URL="+db.cluster.URL(), "BERTH_KEYSET="+filepath.Join(dir, "keyset.json"),
			"BERTH_FAKE_DIR="+w.world, "BERTH_RUN_GRACE=20s")
	}
	w.servers[0].furnish(t, unique("Walk"))
	w.servers[1].company = w.servers[0].company
	return w
}

// environment has a script that kills two servers at a step.
func (w *walk) environment(t *testing.T, s scene) string {
	t.Helper()
	config := map[string]any{"provider": "fake", "script": map[string]string{s.step: "crash times=2"}}
	if s.kept {
		config["reuseLease"] = true
	}
	var e environment
	w.try(t, "POST", "/api/companies/"+w.servers[0].company+"/environments", map[string]any{"name": unique("At " + s.step), "driver": "sandbox", "config": config}, &e)
	return e.ID
}

// revive starts what has died, however often it does, and returns a server that
// answers.
func (w *walk) revive(t *testing.T) {
	t.Helper()
	for _, s := range w.servers {
		for tries := 0; ; tries++ {
			select {
			case <-s.exited.done:
			default:
				tries = -1
			}
			if tries < 0 {
				break
			}
			if w.deaths++; tries == 10 {
				t.Fatalf("it dies again and again\n%s", tail(s.log.String(), 3000))
			}
			if err := s.launch(); err != nil && !strings.Contains(err.Error(), "the server ended") {
				t.Fatal(err)
			}
		}
	}
}

// try asks one server and then the other until one of them answers.
func (w *walk) try(t *testing.T, method, path string, body, answer any) {
	t.Helper()
	var said string
	if err := waitFor(longWait, func() bool {
		for _, s := range w.servers {
			status, out, err := s.try(method, path, body)
			if err == nil && status < 300 {
				if answer != nil {
					decode(t, out, answer)
				}
				return true
			}
			said = fmt.Sprint(status, string(out), err)
			w.revive(t)
		}
		return false
	}); err != nil {
		t.Fatalf("%s %s: %s", method, path, said)
	}
}

// begin starts a run on a server that may die of it.
func (w *walk) begin(s *server, env string) {
	mark := filepath.Join(w.marks, unique("mark"))
	body := map[string]any{"environmentId": env, "command": []string{"sh", "-c", "echo done >> '" + mark + "'"}}
	_, _, _ = s.try(http.MethodPost, "/api/companies/"+s.company+"/runs", body) // its death is what it is about
}

// die plays a scene: it ends when two servers have died at its step.
func (w *walk) die(t *testing.T, s scene, env string, first int) {
	t.Helper()
	if s.step == "list" { // servers list as they start
		w.servers[first].kill(t)
		if err := w.servers[first].launch(); err != nil && !strings.Contains(err.Error(), "the server ended") {
			t.Fatal(err)
		}
	}
	began, turn := time.Now(), first
	for w.died(s) < 2 {
		if time.Since(began) > longWait {
			t.Fatalf("%s: %d deaths only; %s", s.step, w.died(s), w.describe(t, env))
		}
		w.revive(t)
		if s.step != "list" && !w.busy(t, env) {
			w.begin(w.servers[turn%2], env)
			turn++
		}
		_ = waitFor(500*time.Millisecond, func() bool { return w.anyDead() })
	}
	w.revive(t)
}

func (w *walk) anyDead() bool {
	for _, s := range w.servers {
		select {
		case <-s.exited.done:
			return true
		default:
		}
	}
	return false
}

// died is how many servers have died at a step.
func (w *walk) died(s scene) int {
	n := 0
	for _, server := range w.servers {
		for line := range strings.Lines(server.log.String()) {
			if strings.Contains(line, "script ends the server") && (strings.Contains(line, "step="+s.step+"\n") || strings.Contains(line, `"step":"`+s.step+`"`) ||
				strings.HasSuffix(strings.TrimSpace(line), "step="+s.step)) {
				n++
			}
		}
	}
	return n
}

// busy reports whether a run of an environment is under way.
func (w *walk) busy(t *testing.T, env string) bool {
	t.Helper()
	for _, r := range w.all(t, env) {
		if !r.ended() {
			return true
		}
	}
	return false
}

func (w *walk) all(t *testing.T, env string) []work {
	t.Helper()
	var all []work
	w.try(t, "GET", "/api/companies/"+w.servers[0].company+"/runs?limit=1000&environmentId="+env, nil, &all)
	return all
}

// leases are those of an environment, by what they are in.
func (w *walk) leases(t *testing.T, env string) map[string]int {
	t.Helper()
	var all []struct{ Status string }
	w.try(t, "GET", "/api/environments/"+env+"/leases?limit=1000", nil, &all)
	n := map[string]int{}
	for _, l := range all {
		n[l.Status]++
	}
	return n
}

// clean reports whether nothing of an environment is under way.
func (w *walk) clean(t *testing.T, env string) bool {
	t.Helper()
	n := w.leases(t, env)
	return n["acquiring"]+n["active"]+n["releasing"]+n["pending_cleanup"] == 0 && !w.busy(t, env)
}

// sandboxes is how many there are in the world.
func (w *walk) sandboxes(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(w.world, "sandboxes"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return len(entries)
}

func (w *walk) describe(t *testing.T, env string) string {
	t.Helper()
	text := fmt.Sprintf("leases %v, %d sandboxes", w.leases(t, env), w.sandboxes(t))
	for _, r := range w.all(t, env) {
		text += "\nrun " + r.ID + " " + r.String()
	}
	for i, s := range w.servers {
		text += fmt.Sprintf("\nserver %d: %s", i, tail(s.log.String(), 3000))
	}
	return text
}

// done checks what the runs did: nothing twice.
func (w *walk) done(t *testing.T) (runs int) {
	t.Helper()
	entries, err := os.ReadDir(w.marks)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(w.marks, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), "done"); n != 1 {
			t.Errorf("a run was done %d times", n)
		}
	}
	return len(entries)
}

// TestDrill_CrashPoints walks through the steps of a sandbox's life; at each of them
// servers die twice in a row, with another one beside them.
func TestDrill_CrashPoints(t *testing.T) {
	t.Parallel()
	crashPoints(t, false)
}

// crashPoints waits after each step until all is clean, if it is to be patient, else
// only at the end.
func crashPoints(t *testing.T, patient bool) {
	t.Helper()
	w := newWalk(t)
	envs := map[string]scene{}
	var slowest time.Duration
	settle := func(env string, s scene) {
		t.Helper()
		began := time.Now()
		if err := waitFor(2*time.Minute, func() bool { return w.clean(t, env) }); err != nil {
			t.Fatalf("%s: %s", s.step, w.describe(t, env))
		}
		took := time.Since(began)
		slowest = max(slowest, took)
		t.Logf("%s: clean %s after the last start", s.step, took.Round(10*time.Millisecond))
	}
	for i, s := range scenes() {
		env := w.environment(t, s)
		envs[env] = s
		w.die(t, s, env, i%2)
		if patient {
			settle(env, s)
		}
	}
	for env, s := range envs {
		settle(env, s)
	}
	kept, made := 0, 0
	for env := range envs {
		for status, n := range w.leases(t, env) {
			made += n
			if status == "retained" {
				kept += n
			}
		}
	}
	if err := waitFor(3*time.Minute, func() bool { return w.sandboxes(t) == kept }); err != nil {
		t.Errorf("%d sandboxes are there, %d are kept", w.sandboxes(t), kept)
	}
	if patient {
		until(t, 3*time.Minute, "what is kept is stopped", func() bool {
			running, err := filepath.Glob(filepath.Join(w.world, "sandboxes", "*", "running"))
			return err == nil && len(running) == 0
		})
	}
	created, err := os.Stat(filepath.Join(w.world, "calls", "created"))
	if err != nil {
		t.Fatal(err)
	}
	if created.Size() > int64(made) {
		t.Errorf("%d sandboxes were made for %d leases", created.Size(), made)
	}
	t.Logf("%d steps, %d deaths, %d leases, %d sandboxes made, %d kept, %d commands done once; clean at the latest %s after the last start",
		len(envs), w.deaths, made, created.Size(), kept, w.done(t), slowest.Round(10*time.Millisecond))
}
