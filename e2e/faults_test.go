package e2e

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/drivers/docker/enginetest"
)

// faults is a server before an engine, a registry and a way between them in which
// things go wrong.
type faults struct {
	*sandboxes
	proxy  *enginetest.Proxy
	locked *enginetest.Registry // wants a password
	away   time.Duration        // how long the engine is gone
	rand   *rand.Rand

	env, locking, gone string // environments: of an image that is there, of one behind the password, of one that comes and goes
	image              string // of gone
	codes              map[string]int
	slowest            time.Duration
}

func newFaults(t *testing.T, seed uint64, away time.Duration) *faults {
	t.Helper()
	f := &faults{sandboxes: &sandboxes{server: site(t), engine: enginetest.Start(t, enginetest.Options{DiskMiB: 200})},
		away: away, rand: rand.New(rand.NewPCG(seed, 5)), codes: map[string]int{}}
	f.proxy = enginetest.NewProxy(t, f.engine)
	f.registry = enginetest.StartRegistry(t, enginetest.RegistryOptions{})
	f.locked = enginetest.StartRegistry(t, enginetest.RegistryOptions{Username: "robot", Password: "right"})
	f.image = f.registry.Address + "/team/goes:1"
	f.registry.Push(t, f.engine, f.engine.Variant(t, "goes"), "team/goes:1")
	f.env = saveSandbox(t, f.server, f.proxy.Host, unique("Faults"), f.engine.Busybox(t), nil)
	f.gone = saveSandbox(t, f.server, f.proxy.Host, unique("Goes"), f.image, nil)
	f.locking = saveSandbox(t, f.server, f.proxy.Host, unique("Locked"), f.locked.Address+"/team/app:1",
		map[string]any{"registryUsername": "robot", "registryPassword": "wrong"})
	return f
}

// fault is one thing that goes wrong with a run.
type fault struct {
	name string
	// play begins a run, makes trouble, and ends it.
	play func(*faults, *testing.T) (env, run string)
	// codes are those of which the run must fail with one; none: it may also succeed.
	codes []string
}

const says = `echo "ran $(hostname)"; sleep 0.5; exit 3`

// during makes trouble while a run of says is under way.
func during(trouble func(*faults, *testing.T)) func(*faults, *testing.T) (string, string) {
	return func(f *faults, t *testing.T) (string, string) {
		run := f.begin(t, f.env, "sh", "-c", says)
		f.wait(900 * time.Millisecond)
		trouble(f, t)
		return f.env, run
	}
}

// before makes trouble for what is asked next.
func before(trouble func(*faults, *testing.T)) func(*faults, *testing.T) (string, string) {
	return func(f *faults, t *testing.T) (string, string) {
		trouble(f, t)
		return f.env, f.begin(t, f.env, "sh", "-c", says)
	}
}

func lose(request string) func(*faults, *testing.T) (string, string) {
	return before(func(f *faults, _ *testing.T) { f.proxy.LoseAnswer(request, 1) })
}

func refuse(request string) func(*faults, *testing.T) (string, string) {
	return before(func(f *faults, _ *testing.T) { f.proxy.Refuse(request, 1) })
}

// wait lets a random time pass.
func (f *faults) wait(d time.Duration) { <-time.After(time.Duration(f.rand.Int64N(int64(d)))) }

// whole is a run whose end is waited for while the trouble lasts.
func whole(f *faults, t *testing.T, env string) (string, string) {
	t.Helper()
	run := f.begin(t, env, "sh", "-c", says)
	if err := waitFor(longWait, func() bool { return f.work(t, run).ended() }); err != nil {
		t.Errorf("run %s is %s", run, f.work(t, run))
	}
	return env, run
}

func allFaults() []fault {
	return []fault{
		{"the engine restarts", during(func(f *faults, t *testing.T) { f.engine.Restart(t) }), nil},
		{"the engine is gone for a while", during(func(f *faults, t *testing.T) {
			f.engine.Kill(t)
			<-time.After(f.away)
			f.engine.Run(t)
		}), nil},
		{"the engine answers slowly", during(func(f *faults, t *testing.T) {
			f.proxy.Delay(100 * time.Millisecond)
			f.wait(3 * time.Second)
			f.proxy.Delay(0)
		}), nil},
		{"the engine answers slowly from the start", func(f *faults, t *testing.T) (string, string) {
			f.proxy.Delay(50 * time.Millisecond)
			defer f.proxy.Delay(0)
			return whole(f, t, f.env)
		}, nil},
		{"the engine says nothing for a while", during(func(f *faults, _ *testing.T) { f.proxy.Hang(); f.wait(3 * time.Second); f.proxy.Go() }), nil},
		{"connections are cut", during(func(f *faults, _ *testing.T) { f.proxy.Cut(); f.wait(300 * time.Millisecond); f.proxy.Cut() }), nil},
		{"create's answer is lost", lose("/containers/create"), nil},
		{"start's answer is lost", lose("/start"), nil},
		{"delete's answer is lost", lose("DELETE "), nil},
		{"create is refused", refuse("/containers/create"), nil},
		{"start is refused", refuse("/start"), nil},
		{"delete is refused", refuse("DELETE "), nil},
		{"the image is deleted after the probe", func(f *faults, t *testing.T) (string, string) {
			if f.registry.Digest(t, "team/goes:1") == "" {
				f.registry.Push(t, f.engine, f.engine.Variant(t, "goes"), "team/goes:1")
			}
			if v := f.probe(t, f.gone); !v.OK {
				t.Errorf("the probe before: %+v", v)
			}
			f.registry.Delete(t, "team/goes", f.registry.Digest(t, "team/goes:1"))
			f.engine.Untag(t, f.image)
			return whole(f, t, f.gone)
		}, []string{"image_not_found"}},
		{"the registry is away", func(f *faults, t *testing.T) (string, string) {
			f.engine.Untag(t, f.image)
			f.registry.Stop(t)
			defer f.registry.Start(t)
			return whole(f, t, f.gone)
		}, []string{"registry_unreachable"}},
		{"the registry refuses the password", func(f *faults, t *testing.T) (string, string) { return whole(f, t, f.locking) }, []string{"image_denied"}},
		{"the engine's disk is full", func(f *faults, t *testing.T) (string, string) {
			f.engine.FillDisk(t)
			defer f.engine.FreeDisk(t)
			return whole(f, t, f.env)
		}, nil},
	}
}

// trial plays one fault and wants the run to have ended with a code and a message,
// or as it should, and nothing of it to be left anywhere.
func (f *faults) trial(t *testing.T, x fault) {
	t.Helper()
	env, run := x.play(f, t)
	began := time.Now()
	var w work
	if err := waitFor(3*time.Minute, func() bool {
		w = f.work(t, run)
		return w.ended() && (w.Lease == nil || isOver(w.Lease.Status)) && len(f.held(t, env)) == 0
	}); err != nil {
		_, leases, _ := f.try("GET", "/api/environments/"+env+"/leases?limit=3", nil)
		t.Fatalf("%s: run %s is %s; the engine holds %v; leases %s", x.name, run, w, f.held(t, env), leases)
	}
	f.slowest = max(f.slowest, time.Since(began))
	if w.Failure == nil || w.Failure.Code == "" || w.Failure.Code == "internal" || w.Failure.Message == "" {
		t.Fatalf("%s: %s", x.name, w)
	}
	code := w.Failure.Code
	did := code == "command_failed"
	if did && (w.ExitCode == nil || *w.ExitCode != 3) {
		t.Errorf("%s: %s", x.name, w)
	}
	f.codes[code]++
	if len(x.codes) > 0 && !slices.Contains(x.codes, code) {
		t.Errorf("%s: %s; want one of %v", x.name, w, x.codes)
	}
	out := f.output(t, run, "stdout")
	here, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(out, "ran ") > 1 || strings.Contains(out, "ran "+here+"\n") || did && !strings.HasPrefix(out, "ran ") {
		t.Errorf("%s: %s, it said %q", x.name, w, out)
	}
	if pids := leftovers(t, run); len(pids) > 0 {
		leavesNothing(t, run, 5*time.Second)
	}
	t.Logf("%s: %s, clean after %s", x.name, code, time.Since(began).Round(10*time.Millisecond))
}

// TestDrill_EngineFaults plays each fault, and a few of them again.
func TestDrill_EngineFaults(t *testing.T) {
	t.Parallel()
	engineFaults(t, 20, 2*time.Second)
}

func engineFaults(t *testing.T, trials int, away time.Duration) {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	f := newFaults(t, seed, away)
	all := allFaults()
	for i := range trials {
		x := all[i%len(all)]
		if i >= len(all) { // what takes long is played long once
			f.away = min(away, 3*time.Second)
			x = all[f.rand.IntN(len(all))]
		}
		f.trial(t, x)
	}
	codes := ""
	for _, code := range slices.Sorted(maps.Keys(f.codes)) {
		codes += fmt.Sprintf(" %s %d", code, f.codes[code])
	}
	t.Logf("%d trials: nothing left in the engine, no lease held, nothing run twice or here; clean at the latest %s after the trouble;%s",
		trials, f.slowest.Round(10*time.Millisecond), codes)
}
