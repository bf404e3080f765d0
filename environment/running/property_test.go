package running_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/environment"

	"pgregory.net/rapid"
)

// mishap is something that happens to a run from outside.
type mishap struct {
	after time.Duration // the one before
	what  string
	lasts time.Duration
}

func (m mishap) String() string { return fmt.Sprintf("%s later %s for %s", m.after, m.what, m.lasts) }

func mishaps(t *rapid.T) []mishap {
	ms := rapid.Custom(func(t *rapid.T) mishap {
		return mishap{
			after: time.Duration(rapid.IntRange(0, 6000).Draw(t, "after")) * time.Millisecond,
			what:  rapid.SampledFrom([]string{"kill", "kill", "stop", "cancel", "database away", "driver fails", "second server"}).Draw(t, "what"),
			lasts: time.Duration(rapid.SampledFrom([]int{0, 1, 20, 90}).Draw(t, "lasts")) * time.Second,
		}
	})
	return rapid.SliceOfN(ms, 0, 5).Draw(t, "mishaps")
}

// befall makes a mishap happen.
func (b *bed) befall(m mishap, id [16]byte) {
	time.Sleep(m.after)
	switch m.what {
	case "kill":
		b.server.kill()
		time.Sleep(m.lasts)
		b.boot()
	case "stop":
		b.server.stop()
		time.Sleep(m.lasts)
		b.boot()
	case "second server":
		b.boot()
	case "cancel":
		if _, err := b.server.Cancel(context.Background(), operator, id); err != nil {
			b.t.Errorf("cancel: %v", err)
		}
	case "database away":
		b.server.store.setAway(true)
		time.Sleep(m.lasts)
		b.server.store.setAway(false)
	case "driver fails":
		b.target.set(func(t *target) {
			t.refuseExec = environment.Unavailable(environment.CodeConnectRefused, "refused")
		})
		time.Sleep(m.lasts)
		b.target.set(func(t *target) { t.refuseExec = nil })
	}
}

// notes collects what a bubble has to complain of: a property's own failures
// must not leave the bubble by a panic.
type notes struct{ lines []string }

type giveUp struct{}

func (*notes) Helper()                     {}
func (n *notes) Errorf(f string, a ...any) { n.lines = append(n.lines, fmt.Sprintf(f, a...)) }
func (n *notes) Fatalf(f string, a ...any) { n.Errorf(f, a...); panic(giveUp{}) }
func (n *notes) guard(do func())           { defer n.caught(); do() }
func (n *notes) caught() {
	if v := recover(); v != nil && v != (giveUp{}) {
		n.Errorf("panic: %v", v)
	}
}

// Whatever happens, in whatever order: the run ends, its row says what became
// of it, nothing is left behind, and no output that is stored is wrong.
func TestRun_anyMishaps(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		plan := mishaps(rt)
		if problems := suffer(t, plan); len(problems) > 0 {
			rt.Fatalf("after %v:\n%s", plan, strings.Join(problems, "\n"))
		}
	})
}

// A server that was taken for dead twice, and then got the run back while its
// first worker was storing the end, went on from what it had read before that.
func TestRun_comesBackWhileItsEndIsStored(t *testing.T) {
	plan := []mishap{
		{1306 * time.Millisecond, "second server", 0}, {187 * time.Millisecond, "second server", 0},
		{151 * time.Millisecond, "kill", time.Second}, {time.Millisecond, "stop", 20 * time.Second},
	}
	for range 40 { // it takes a certain order of goroutines
		if problems := suffer(t, plan); len(problems) > 0 {
			t.Fatal(strings.Join(problems, "\n"))
		}
	}
}

// suffer runs a command through mishaps and returns what came out wrong.
func suffer(t *testing.T, plan []mishap) []string {
	steps, wantOut, wantErr := talk()
	n := &notes{}
	synctest.Test(t, func(*testing.T) {
		target := newTarget(steps...)
		target.acquireTime = 2 * time.Second
		b := newBed(n, target)
		defer b.close()
		n.guard(func() {
			r := b.start(b.input("talk"))
			for _, m := range plan {
				b.befall(m, r.ID)
			}
			r = b.end(r.ID)
			checkEnded(n, b, r, plan)
			stdout, stderr := b.output(r.ID)
			if !strings.HasPrefix(wantOut, stdout) || !strings.HasPrefix(wantErr, stderr) {
				n.Errorf("stored %q and %q, want a beginning of what was written", stdout, stderr)
			}
			if r.ExitCode != nil && *r.ExitCode == 7 && (stdout != wantOut || stderr != wantErr) {
				n.Errorf("ended with its exit code but only %q and %q", stdout, stderr)
			}
		})
	})
	return n.lines
}

func checkEnded(t fatal, b *bed, r environment.Run, plan []mishap) {
	t.Helper()
	cancelled, harmless := false, true
	for _, m := range plan {
		cancelled = cancelled || m.what == "cancel"
		harmless = harmless && m.what != "cancel" && m.what != "driver fails" && m.lasts < b.grace
	}
	if n := b.target.started(r.ID); n > 1 {
		t.Errorf("started %d times", n)
	}
	if r.FinishedAt == nil || r.Input != nil || r.Status == environment.RunSucceeded {
		t.Errorf("ended as %+v", r)
	}
	if r.Status == environment.RunCancelled && !cancelled {
		t.Errorf("cancelled by nobody")
	}
	for _, p := range r.Phases {
		if p.FinishedAt == nil {
			t.Errorf("phase %s has no end", p.Name)
		}
	}
	if harmless {
		checkWhole(t, b, r)
		return
	}
	time.Sleep(2 * b.grace) // what nobody looks after ends by itself
	checkClean(t, b)
}
