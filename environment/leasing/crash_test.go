package leasing_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"berth/environment"
)

// errDead is all that a killed server hears.
var errDead = environment.Conflict("dead", "The server is dead.")

// mortal is a server's life: it ends at one of its calls.
type mortal struct {
	mu    sync.Mutex
	calls []string
	at    int    // the call, from 1; 0: never
	mode  string // "before" the call, "after" it, or "late": after its answer was due
	dead  bool
	next  gate // what else befalls a call
}

func (m *mortal) gate(ctx context.Context, call string) fate {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead {
		return fate{instead: errDead}
	}
	m.calls = append(m.calls, call)
	if len(m.calls) == m.at {
		m.dead = true
		if m.mode == "after" {
			return fate{after: errDead}
		}
		return fate{instead: errDead}
	}
	if m.next != nil {
		return m.next(ctx, call)
	}
	return fate{}
}

func (m *mortal) isDead() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.dead
}

// drama is something that a server does, with what was there before it.
type drama struct {
	config  string
	before  func(*yard)
	play    func(*yard, *keeper)
	suffers gate
}

func acquireAndFinish(outcome environment.LeaseStatus) func(*yard, *keeper) {
	return func(y *yard, k *keeper) {
		l, _, err := k.Acquire(context.Background(), y.request())
		if err == nil {
			_, _ = k.Finish(context.Background(), l.ID, environment.Spec{}, outcome, "") // killed, or not
		}
	}
}

func dramas() map[string]drama {
	shelve := func(y *yard) { y.kept() }
	mismatch := func(y *yard) {
		y.kept()
		y.env.Config = []byte(`{"provider":"docker","engine":"a","reuseLease":true,"cpus":2}`)
	}
	return map[string]drama{
		"ephemeral":       {config: ephemeral, play: acquireAndFinish(environment.LeaseReleased)},
		"archived":        {config: `{"provider":"docker","archiveOnRelease":true}`, play: acquireAndFinish(environment.LeaseReleased)},
		"reuse, first":    {config: reused, play: acquireAndFinish(environment.LeaseReleased)},
		"reuse, again":    {config: reused, before: shelve, play: acquireAndFinish(environment.LeaseReleased)},
		"reuse, cancel":   {config: reused, before: shelve, play: acquireAndFinish(environment.LeaseExpired)},
		"replacement":     {config: reused, before: func(y *yard) { y.w.drop(*y.kept().ProviderID) }, play: acquireAndFinish(environment.LeaseReleased)},
		"another config":  {config: reused, before: mismatch, play: acquireAndFinish(environment.LeaseReleased)},
		"create fails":    {config: reused, play: acquireAndFinish(environment.LeaseReleased), suffers: gateOf("driver.Acquire", after(errUnreachable))},
		"create vanishes": {config: ephemeral, play: acquireAndFinish(environment.LeaseReleased), suffers: gateOf("driver.Acquire", instead(errUnreachable))},
		"release fails":   {config: reused, play: acquireAndFinish(environment.LeaseReleased), suffers: gateOf("driver.Release", instead(errUnreachable))},
		"destroy": {config: reused, before: shelve, play: func(y *yard, k *keeper) {
			_, _ = k.Destroy(context.Background(), operator, y.rows()[0].ID)
		}},
		"strangers": {config: reused, before: func(y *yard) {
			y.kept()
			y.w.put(y.instance, environment.NewID().String(), true)
			time.Sleep(2 * time.Minute)
		}, play: func(_ *yard, k *keeper) { _, _ = k.Reconcile(context.Background()) }},
	}
}

// live is a server at its loops for a while, or until it dies.
func (y *yard) live(k *keeper, m *mortal, rounds int, pause time.Duration) {
	ctx := context.Background()
	for i := 0; i < rounds && !m.isDead(); i++ {
		_ = y.store.BeatServer(ctx, k.owner) // it is registered
		_ = k.Beat(ctx)
		_, _ = k.Tick(ctx)
		if i%3 == 0 {
			_, _ = k.Reconcile(ctx)
		}
		time.Sleep(pause)
	}
}

// clean lets a last server put everything right, and says what it did not.
func (y *yard) clean() (problems []string) {
	k, m := y.serve(open), &mortal{}
	time.Sleep(11 * time.Second) // all others are dead
	y.live(k, m, 13, 30*time.Second)
	held := []string{}
	for _, l := range y.rows() {
		switch {
		case l.Status == environment.LeaseRetained:
			held = append(held, *l.ProviderID)
		case !l.Status.Ended():
			problems = append(problems, fmt.Sprintf("a row is stuck: %s for %s, %d tries, %s", l.Status, word(l.FailureReason), l.CleanupAttempts, word(l.CleanupError)))
		}
	}
	slices.Sort(held)
	there := y.w.ids(y.instance)
	slices.Sort(there)
	if !slices.Equal(held, there) {
		problems = append(problems, fmt.Sprintf("rows name %v, the provider holds %v", held, there))
	}
	return problems
}

// A server is killed between any two calls to its database and its provider, and so
// is the one that comes after it. In the end nothing is left but what rows name.
func TestCrash_everyPointTwice(t *testing.T) {
	trials := 0
	for name, d := range dramas() {
		whole := perform(t, d, &mortal{next: d.suffers}, nil)
		if len(whole.problems) > 0 {
			t.Fatalf("%s, without a crash:\n%s", name, strings.Join(whole.problems, "\n"))
		}
		for at := 1; at <= len(whole.calls); at++ {
			for _, mode := range []string{"before", "after", "late"} {
				if mode == "late" && whole.calls[at-1] != "driver.Acquire" {
					continue
				}
				// How far the next one comes, and then its death at every call.
				second := &mortal{}
				perform(t, d, &mortal{at: at, mode: mode, next: d.suffers}, second)
				for again := 1; again <= min(len(second.calls), 18); again++ {
					trials++
					got := perform(t, d, &mortal{at: at, mode: mode, next: d.suffers}, &mortal{at: again, mode: []string{"before", "after"}[again%2]})
					if len(got.problems) > 0 {
						t.Fatalf("%s: killed %s call %d (%s), and then at call %d (%s):\n%s", name, mode, at, whole.calls[at-1], again, second.calls[again-1],
							strings.Join(got.problems, "\n"))
					}
				}
			}
		}
	}
	t.Logf("%d trials", trials)
}

type performance struct {
	calls    []string
	problems []string
}

// perform plays a drama with a server that may be killed, and with one after it.
func perform(t *testing.T, d drama, first, second *mortal) performance {
	n := &notes{}
	var p performance
	synctest.Test(t, func(*testing.T) {
		n.guard(func() {
			y := newYard(n, d.config)
			if d.before != nil {
				d.before(y)
			}
			k := y.serve(first.gate)
			if first.mode == "late" {
				k.driver.late = func() time.Duration { return 20 * time.Second }
			}
			d.play(y, k)
			p.calls = slices.Clone(first.calls)
			if first.at == 0 {
				first.next = nil // what it suffers from passes
				y.live(k, first, 3, 10*time.Second)
			}
			if second != nil {
				time.Sleep(11 * time.Second)
				y.live(y.serve(second.gate), second, 4, 10*time.Second)
			}
			p.problems = y.clean()
		})
	})
	p.problems = append(p.problems, n.lines...)
	return p
}

// notes collects what a bubble has to complain of: a failure must not leave it by
// a panic.
type notes struct {
	mu    sync.Mutex
	lines []string
}

var errGivenUp = errors.New("given up")

func (*notes) Helper() {}
func (n *notes) Errorf(f string, a ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lines = append(n.lines, fmt.Sprintf(f, a...))
}
func (n *notes) Fatalf(f string, a ...any) { n.Errorf(f, a...); panic(errGivenUp) }
func (n *notes) guard(do func()) {
	defer func() {
		if v := recover(); v != nil && v != errGivenUp {
			n.Errorf("panic: %v", v)
		}
	}()
	do()
}

// Two servers at work at their loops, killed at random calls and started again, in
// 200 trials: afterwards no sandbox that no row names, and no row that is stuck.
func TestCrash_randomTrials(t *testing.T) {
	for trial := range uint64(200) {
		if problems := rampage(t, rand.New(rand.NewPCG(4, trial))); len(problems) > 0 {
			t.Fatalf("trial %d:\n%s", trial, strings.Join(problems, "\n"))
		}
	}
}

func rampage(t *testing.T, dice *rand.Rand) []string {
	n := &notes{}
	synctest.Test(t, func(*testing.T) {
		n.guard(func() {
			config := []string{ephemeral, reused, `{"provider":"docker","archiveOnRelease":true}`}[dice.IntN(3)]
			y := newYard(n, config)
			beside := y.w.put(environment.NewID(), "another installation's", true)
			var crowd sync.WaitGroup
			for range 6 {
				m := &mortal{at: 1 + dice.IntN(60), mode: []string{"before", "after"}[dice.IntN(2)]}
				k := y.serve(m.gate)
				k.driver.late = func() time.Duration { return 15 * time.Second }
				ctx, cancel := context.WithCancel(context.Background())
				crowd.Go(func() { _ = k.Run(ctx) }) // nil at all times
				crowd.Go(func() { y.life(ctx, k, m) })
				pace := time.Duration(1+dice.IntN(20)) * time.Second
				crowd.Go(func() {
					defer cancel()
					for range 8 {
						outcome := []environment.LeaseStatus{environment.LeaseReleased, environment.LeaseFailed, environment.LeaseExpired}[pace%3]
						acquireAndFinish(outcome)(y, k)
						time.Sleep(pace)
					}
				})
				time.Sleep(time.Duration(dice.IntN(40)) * time.Second)
			}
			crowd.Wait()
			for _, p := range y.clean() {
				n.Errorf("%s", p)
			}
			if !y.w.running(beside) {
				n.Errorf("another installation's sandbox was touched")
			}
		})
	})
	return n.lines
}

// life beats for a server until it dies or stops.
func (y *yard) life(ctx context.Context, k *keeper, m *mortal) {
	for ctx.Err() == nil && !m.isDead() {
		_ = y.store.BeatServer(context.Background(), k.owner) // it is registered
		time.Sleep(2 * time.Second)
	}
}
