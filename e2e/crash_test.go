package e2e

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/drivers/docker/enginetest"
)

// fleet is two servers on one database, before one engine.
type fleet struct {
	*sandboxes
	servers [2]*server
	proxy   *enginetest.Proxy
	env     string
	rand    *rand.Rand
	slowest time.Duration // from the restart until all was clean
}

// newFleet starts the two. seed is that of the trials.
func newFleet(t *testing.T, seed uint64) *fleet {
	t.Helper()
	db := newDatabase(t)
	f := &fleet{sandboxes: &sandboxes{engine: engineOf(t)}, rand: rand.New(rand.NewPCG(seed, 4))}
	f.proxy = enginetest.NewProxy(t, f.engine)
	keys := filepath.Join(t.TempDir(), "keyset.json")
	for i := range f.servers {
		f.servers[i] = newServer(t, "DATABASE_URL="+db.cluster.URL(), "BERTH_KEYSET="+keys, "BERTH_RUN_GRACE=20s")
	}
	f.server = f.servers[0]
	f.furnish(t, unique("Fleet"))
	f.servers[1].company = f.company
	f.env = saveSandbox(t, f.server, f.proxy.Host, unique("Crash"), f.engine.Busybox(t), nil)
	return f
}

func (f *fleet) upTo(d time.Duration) time.Duration { return time.Duration(f.rand.Int64N(int64(d))) }

// pause lets a random time pass: what is under way then is what a trial is about.
func (f *fleet) pause(d time.Duration) { <-time.After(f.upTo(d)) }

// trial begins work on one server, kills it at any moment, often twice in a row,
// sometimes both, and wants everything clean again.
func (f *fleet) trial(t *testing.T, i int) {
	t.Helper()
	victim := f.servers[f.rand.IntN(2)]
	what := f.begins(t, victim, i)
	f.pause(700 * time.Millisecond)
	kills := 1 + f.rand.IntN(2)
	for range kills {
		victim.kill(t)
		if f.rand.IntN(3) == 0 {
			f.pause(50 * time.Millisecond)
		}
		victim.start(t)
		f.pause(400 * time.Millisecond)
	}
	began := time.Now()
	if err := waitFor(longWait, func() bool { return f.clean(t) }); err != nil {
		t.Fatalf("trial %d (%s, killed %d times): %s", i, what, kills, f.describe(t))
	}
	f.slowest = max(f.slowest, time.Since(began))
}

// begins starts a run, one that fails, or a probe.
func (f *fleet) begins(t *testing.T, s *server, i int) string {
	t.Helper()
	switch f.rand.IntN(4) {
	case 0:
		s.call(t, "POST", "/api/environments/"+f.env+"/probe?wait=0&companyId="+f.company, nil, nil, 202)
		return "probe"
	case 1:
		return "run that fails " + s.begin(t, f.env, "sh", "-c", fmt.Sprintf("echo ran %d; exit 9", i))
	case 2:
		return "short run " + s.begin(t, f.env, "echo", "ran", fmt.Sprint(i))
	}
	return "run " + s.begin(t, f.env, "sh", "-c", fmt.Sprintf("echo ran %d; sleep 0.5", i))
}

// clean reports whether nothing is under way and the engine holds nothing.
func (f *fleet) clean(t *testing.T) bool {
	t.Helper()
	if len(f.held(t, f.env)) > 0 {
		return false
	}
	for _, status := range []string{"acquiring", "active", "releasing", "pending_cleanup"} {
		var leases []struct{ ID string }
		f.call(t, "GET", "/api/environments/"+f.env+"/leases?status="+status, nil, &leases, 200)
		if len(leases) > 0 {
			return false
		}
	}
	return !slices.ContainsFunc(f.runs(t), func(w work) bool { return !w.ended() })
}

func (f *fleet) runs(t *testing.T) []work {
	t.Helper()
	var all []work
	f.call(t, "GET", "/api/companies/"+f.company+"/runs?limit=1000", nil, &all, 200)
	return all
}

func (f *fleet) describe(t *testing.T) string {
	t.Helper()
	_, leases, _ := f.try("GET", "/api/environments/"+f.env+"/leases?limit=20", nil)
	text := fmt.Sprintf("the engine holds %v; leases %s; runs", f.held(t, f.env), leases)
	for _, w := range f.runs(t) {
		if !w.ended() {
			text += " " + w.ID + " " + w.String()
		}
	}
	for i, s := range f.servers {
		text += fmt.Sprintf("\nserver %d: %s", i, tail(s.log.String(), 3000))
	}
	return text
}

// once fails when a container was made twice for a lease or a command ran twice.
func (f *fleet) once(t *testing.T) {
	t.Helper()
	made := map[string]int{}
	for _, line := range f.proxy.Requests() {
		if _, name, ok := strings.Cut(line, "/containers/create?name="); ok {
			name, _, _ = strings.Cut(name, "&")
			made[name]++
		}
	}
	for name, n := range made {
		if n > 1 {
			t.Errorf("%s was asked for %d times", name, n)
		}
	}
	for _, w := range f.runs(t) {
		if out := f.output(t, w.ID, "stdout"); strings.Count(out, "ran ") > 1 {
			t.Errorf("run %s ran more than once: %q", w.ID, out)
		}
	}
}

// TestDrill_SandboxServersKilled is a score of what the soak does 200 times.
func TestDrill_SandboxServersKilled(t *testing.T) {
	t.Parallel()
	killServers(t, 20)
}

func killServers(t *testing.T, trials int) {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	f := newFleet(t, seed)
	for i := range trials {
		f.trial(t, i)
	}
	f.once(t)
	t.Logf("%d trials: nothing left in the engine, no lease held, no run under way; cleaned at the latest %s after the last start",
		trials, f.slowest.Round(10*time.Millisecond))
}
