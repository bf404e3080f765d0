package leasing_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"berth/environment"

	"github.com/google/uuid"
	"pgregory.net/rapid"
)

// move is one step of a model's run: what, and a number that says which and how.
type move struct {
	What string
	N    int
}

func (m move) String() string { return fmt.Sprintf("%s %d", m.What, m.N) }

// modelSteps is how many steps one run has; with the runs of the test they are
// 100,000.
const (
	modelSteps = 250
	modelRuns  = 4 // of rapid's hundred
)

func moves(t *rapid.T) []move {
	kinds := []string{"advance", "advance", "advance", "advance", "advance", "advance", "advance", "advance", "advance", "advance",
		"acquire", "acquire", "finish", "finish", "fail", "lose answer", "tick", "tick", "reconcile", "beat", "wait", "wait", "crash",
		"cancel", "outage", "operate", "config", "vandal"}
	one := rapid.Custom(func(t *rapid.T) move {
		return move{What: rapid.SampledFrom(kinds).Draw(t, "what"), N: rapid.IntRange(0, 999).Draw(t, "n")}
	})
	return rapid.SliceOfN(one, modelSteps, modelSteps).Draw(t, "moves")
}

// The machine of leases against a model: two servers whose calls are let through
// one by one in any order, or not, or without an answer. Nothing is held twice,
// nothing that is held is touched, nothing ended comes back, nothing leaks, and
// nothing of another installation is touched.
func TestModel(t *testing.T) {
	total, seen := 0, map[string]int{}
	for range modelRuns {
		rapid.Check(t, func(rt *rapid.T) {
			plan := moves(rt)
			total += len(plan)
			if problems := follow(t, plan, seen); len(problems) > 0 {
				rt.Fatalf("after %v:\n%s", plan, strings.Join(problems, "\n"))
			}
		})
	}
	t.Logf("%d steps; leases by how they were acquired and ended: %v", total, seen)
	for _, want := range []string{"created", "resumed", "replacement", "lease_expired", "interrupted", "cancelled", "lease_fingerprint_mismatch",
		"provider_gone", "destroyed_by_operator", "release_cleanup_failed"} {
		if seen[want] == 0 {
			t.Errorf("no lease was %s: the model leaves something out", want)
		}
	}
}

func follow(t *testing.T, plan []move, seen map[string]int) []string {
	n := &notes{}
	synctest.Test(t, func(*testing.T) {
		n.guard(func() {
			m := newModel(n)
			defer m.close()
			for i, step := range plan {
				m.do(step)
				synctest.Wait()
				if m.check(); len(n.lines) > 0 {
					n.Errorf("at step %d: %v", i, step)
					return
				}
			}
			m.quiesce()
			for _, l := range m.rows() {
				seen[word(l.Acquisition)]++
				seen[word(l.FailureReason)]++
				seen[string(l.Status)]++
			}
		})
	})
	return n.lines
}

// parked is a call of a server that waits to be let through.
type parked struct {
	by   *modelServer
	call string
	fate chan fate
}

// model is the world, two servers, and what their callers hold.
type model struct {
	*yard
	mu      sync.Mutex
	waiting []*parked
	open    bool // all calls go through
	servers [2]*modelServer
	outage  bool
	beside  []string
	config  int
	over    map[uuid.UUID]environment.LeaseStatus
	vandals map[string]bool
	group   sync.WaitGroup
}

// modelServer is a server, its callers' acquisitions, and what they hold.
type modelServer struct {
	*keeper
	dead    bool
	busy    map[string]bool // loops under way
	cancels []context.CancelFunc
	held    []uuid.UUID
}

func newModel(t complainer) *model {
	m := &model{yard: newYard(t, reused), over: map[uuid.UUID]environment.LeaseStatus{}, vandals: map[string]bool{}}
	m.beside = []string{m.w.put(environment.NewID(), "another's", true), m.w.put([16]byte{}, "", true)}
	m.w.touched = m.touched
	for i := range m.servers {
		m.servers[i] = m.boot()
	}
	return m
}

func (m *model) boot() *modelServer {
	s := &modelServer{busy: map[string]bool{}}
	s.keeper = m.serve(func(_ context.Context, call string) fate { return m.park(s, call) })
	s.driver.late = func() time.Duration { return 9 * time.Second }
	return s
}

// park holds a call until a step lets it through.
func (m *model) park(s *modelServer, call string) fate {
	m.mu.Lock()
	driver := strings.HasPrefix(call, "driver.")
	switch {
	case s.dead:
		m.mu.Unlock()
		return fate{instead: errDead}
	case driver && m.outage:
		m.mu.Unlock()
		return fate{instead: errUnreachable}
	case m.open:
		m.mu.Unlock()
		return fate{}
	}
	p := &parked{by: s, call: call, fate: make(chan fate, 1)}
	m.waiting = append(m.waiting, p)
	m.mu.Unlock()
	return <-p.fate
}

// let lets one of the waiting calls through.
func (m *model) let(n int, f func(call string) fate) {
	m.mu.Lock()
	if len(m.waiting) == 0 {
		m.mu.Unlock()
		return
	}
	i := n % len(m.waiting)
	p := m.waiting[i]
	m.waiting = slices.Delete(m.waiting, i, i+1)
	m.mu.Unlock()
	p.fate <- f(p.call)
}

var errDatabase = environment.Unavailable("database_unavailable", "The database does not answer.")

// broken is what a call says that did not get through, or whose answer did not.
func broken(call string) error {
	if strings.HasPrefix(call, "driver.") {
		return errUnreachable
	}
	return errDatabase
}

func (m *model) do(step move) {
	s := m.servers[step.N%2]
	rest := step.N / 2
	switch step.What {
	case "advance":
		for range 1 + step.N%4 {
			m.let(step.N, func(string) fate { return fate{} })
			synctest.Wait()
		}
	case "fail":
		m.let(step.N, func(call string) fate { return fate{instead: broken(call)} })
	case "lose answer":
		m.let(step.N, func(call string) fate { return fate{after: broken(call)} })
	case "acquire":
		m.start(s, rest)
	case "finish":
		if len(s.held) > 0 {
			m.finish(s, rest)
		}
	case "tick", "beat", "reconcile":
		m.loop(s, step.What)
	case "wait":
		m.mu.Lock()
		m.outage = m.outage && rest%5 == 0
		m.mu.Unlock()
		m.wait([]time.Duration{time.Second, 5 * time.Second, 20 * time.Second, 130 * time.Second}[rest%4])
	case "crash":
		if rest%3 == 0 {
			m.crash(step.N%2, rest%2 == 0)
		}
	case "cancel":
		if len(s.cancels) > 0 {
			s.cancels[rest%len(s.cancels)]()
		}
	case "outage":
		m.mu.Lock()
		m.outage = rest%2 == 0
		m.mu.Unlock()
	case "operate":
		m.operate(s, rest)
	case "config":
		m.config = rest % 2
	case "vandal":
		if ids := m.w.ids(m.instance); len(ids) > 0 && rest%4 == 0 {
			id := ids[rest%len(ids)]
			m.vandals[id] = true
			m.w.drop(id)
		}
	}
}

// spawn does part of a server's work.
func (m *model) spawn(do func()) { m.group.Go(do) }

func (m *model) start(s *modelServer, n int) {
	configs := []string{reused, ephemeral, `{"provider":"docker","engine":"a","leasePolicy":"retain_on_failure"}`, `{"provider":"docker","engine":"a","archiveOnRelease":true}`}
	r := m.request()
	r.Spec.Config = []byte(configs[max(0, n%8-4)])
	r.Fingerprint = fmt.Sprint(m.config)
	r.Fresh = n%16 == 1
	ctx, cancel := context.WithCancel(context.Background())
	s.cancels = append(s.cancels, cancel)
	m.spawn(func() {
		defer cancel()
		l, _, err := s.Acquire(ctx, r)
		m.mu.Lock()
		defer m.mu.Unlock()
		if err == nil && !s.dead {
			s.held = append(s.held, l.ID)
		}
	})
}

func (m *model) finish(s *modelServer, n int) {
	m.mu.Lock()
	i := n % len(s.held)
	id := s.held[i]
	s.held = slices.Delete(s.held, i, i+1)
	m.mu.Unlock()
	outcome := []environment.LeaseStatus{environment.LeaseReleased, environment.LeaseReleased, environment.LeaseFailed, environment.LeaseExpired}[n%4]
	m.spawn(func() { _, _ = s.Finish(context.Background(), id, environment.Spec{}, outcome, "") })
}

// loop does one round of one of a server's loops, which does not overlap itself.
func (m *model) loop(s *modelServer, what string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s.busy[what] {
		return
	}
	s.busy[what] = true
	m.spawn(func() {
		ctx := context.Background()
		switch what {
		case "tick":
			_, _ = s.Tick(ctx)
		case "beat":
			_ = s.Beat(ctx)
		case "reconcile":
			_, _ = s.Reconcile(ctx)
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		s.busy[what] = false
	})
}

// wait lets time pass; servers say that they live.
func (m *model) wait(d time.Duration) {
	for end := time.Now().Add(d); ; time.Sleep(min(8*time.Second, time.Until(end))) {
		for _, s := range m.servers {
			if err := m.store.BeatServer(context.Background(), s.owner); err != nil {
				m.t.Fatalf("beat: %v", err)
			}
		}
		if !time.Now().Before(end) {
			return
		}
	}
}

// crash kills a server with all that it is at, and starts another in its place.
func (m *model) crash(i int, answered bool) {
	s := m.servers[i]
	m.mu.Lock()
	s.dead = true
	var its []*parked
	m.waiting = slices.DeleteFunc(m.waiting, func(p *parked) bool {
		if p.by == s {
			its = append(its, p)
		}
		return p.by == s
	})
	m.mu.Unlock()
	for _, p := range its {
		if answered {
			p.fate <- fate{after: errDead}
		} else {
			p.fate <- fate{instead: errDead}
		}
	}
	for _, cancel := range s.cancels {
		cancel()
	}
	s.held = nil
	m.servers[i] = m.boot()
}

func (m *model) operate(s *modelServer, n int) {
	rows := m.rows()
	if len(rows) == 0 || n%3 == 0 {
		return
	}
	id := rows[n%len(rows)].ID
	m.spawn(func() {
		switch n % 4 {
		case 0:
			_, _ = s.Release(context.Background(), operator, id)
		case 1:
			_, _ = s.RetryCleanup(context.Background(), operator, id)
		default:
			_, _ = s.Destroy(context.Background(), operator, id)
		}
	})
}

// touched judges the stop or the end of an object when it happens: whatever row
// names it is not in use, nor on the shelf.
func (m *model) touched(o object, how environment.Disposition) {
	for _, l := range m.rows() {
		if l.ProviderID != nil && *l.ProviderID == o.id && (l.Status == environment.LeaseActive || l.Status == environment.LeaseRetained) {
			m.t.Errorf("%s of %s, which lease %s has as %s", how, o.id, l.ID, l.Status)
		}
	}
}

// check looks at all rows: one holder for each object and scope, and ended rows as
// they were.
func (m *model) check() {
	objects, scopes := map[string]uuid.UUID{}, map[string]uuid.UUID{}
	for _, l := range m.rows() {
		if was, ok := m.over[l.ID]; ok && was != l.Status {
			m.t.Errorf("lease %s ended as %s and is %s", l.ID, was, l.Status)
		}
		if l.Status.Ended() {
			m.over[l.ID] = l.Status
			continue
		}
		holds := l.Status == environment.LeaseActive || l.Status == environment.LeaseReleasing || l.Status == environment.LeaseRetained
		if holds && l.ProviderID != nil {
			if other, twice := objects[*l.ProviderID]; twice {
				m.t.Errorf("%s is held by %s and %s", *l.ProviderID, other, l.ID)
			}
			objects[*l.ProviderID] = l.ID
		}
		if l.Status.InUse() && l.ScopeKey != nil {
			if other, twice := scopes[*l.ScopeKey]; twice {
				m.t.Errorf("a scope is held by %s and %s", other, l.ID)
			}
			scopes[*l.ScopeKey] = l.ID
		}
	}
	for _, id := range m.beside {
		if !m.w.running(id) {
			m.t.Errorf("%s is another installation's and was touched", id)
		}
	}
}

// quiesce lets everything through and time pass, and looks for what is left.
func (m *model) quiesce() {
	m.release()
	m.settle(6*time.Minute, 20*time.Second, 3)
	m.settle(35*time.Minute, time.Minute, 4)
	m.check()
	held := map[uuid.UUID]bool{}
	for _, s := range m.servers {
		for _, id := range s.held {
			held[id] = true
		}
	}
	var named []string
	for _, l := range m.rows() {
		switch l.Status {
		case environment.LeaseActive, environment.LeaseRetained:
			if !m.vandals[*l.ProviderID] {
				named = append(named, *l.ProviderID)
			}
			if l.Status == environment.LeaseActive && !held[l.ID] {
				m.t.Errorf("lease %s is active and nobody's", l.ID)
			}
		case environment.LeaseAcquiring, environment.LeaseReleasing, environment.LeasePendingCleanup:
			m.t.Errorf("lease %s is stuck in %s, %s", l.ID, l.Status, word(l.CleanupError))
		}
	}
	there := m.w.ids(m.instance)
	slices.Sort(named)
	slices.Sort(there)
	if !slices.Equal(named, there) {
		m.t.Errorf("rows name %v, the provider holds %v", named, there)
	}
	for _, s := range m.servers {
		for len(s.held) > 0 {
			m.finish(s, 0)
		}
	}
	m.settle(26*time.Hour, 30*time.Minute, 6)
	m.holds(0)
}

// release opens the gates.
func (m *model) release() {
	m.mu.Lock()
	m.open, m.outage = true, false
	waiting := m.waiting
	m.waiting = nil
	m.mu.Unlock()
	for _, p := range waiting {
		p.fate <- fate{}
	}
}

// settle is both servers at their loops.
func (m *model) settle(d, step time.Duration, reconcile int) {
	end := time.Now().Add(d)
	for i := 0; time.Now().Before(end); i++ {
		m.wait(0)
		for _, s := range m.servers {
			m.loop(s, "beat")
			m.loop(s, "tick")
			if i%reconcile == 0 {
				m.loop(s, "reconcile")
			}
			synctest.Wait()
		}
		time.Sleep(step)
	}
}

func (m *model) close() {
	m.release()
	for _, s := range m.servers {
		m.mu.Lock()
		s.dead = true
		m.mu.Unlock()
		for _, cancel := range s.cancels {
			cancel()
		}
	}
	m.group.Wait()
}
