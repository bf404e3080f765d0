package environmenttest

import (
	"testing"
	"time"

	"berth/environment"
	"berth/environment/leasing"

	"github.com/google/uuid"
)

func testLeases(t *testing.T, s suite) {
	ctx := t.Context()
	a, b, e := s.company("a"), s.company("b"), s.environment("box")
	l := s.lease(a, e, nil)
	got, err := s.Lease(ctx, l.ID)
	s.must(err)
	l.Ref, l.Receipt, l.Metadata = []byte("null"), []byte("null"), []byte("null")
	if got.ExpiresAt == nil || got.ExpiresAt.Sub(got.HeartbeatAt) != environment.LeaseTTL {
		t.Errorf("expiry of a lease: got %v after a beat at %s, want %s later", got.ExpiresAt, got.HeartbeatAt, environment.LeaseTTL)
	}
	got.HeartbeatAt, got.ExpiresAt = time.Time{}, nil
	same(t, "created lease", got, l)
	at, id := moment(7), "ssh://deploy@host:22/srv"
	_, err = s.UpdateLease(ctx, l.ID, func(l *environment.Lease) error {
		l.Status, l.ProviderID, l.LastUsedAt, l.Ref = environment.LeaseActive, &id, at, []byte(`{"driver":"ssh"}`)
		return nil
	}, &environment.Activity{Action: "environment_lease.acquired", EntityType: "environment_lease", EntityID: l.ID.String()})
	s.must(err)
	got, err = s.Lease(ctx, l.ID)
	s.must(err)
	sameJSON(t, "ref", got.Ref, []byte(`{"driver":"ssh"}`))
	if got.Status != environment.LeaseActive || got.ProviderID == nil || *got.ProviderID != id || !got.LastUsedAt.Equal(at) {
		t.Errorf("active lease: got %+v", got)
	}
	page, err := s.Activity(ctx, environment.ActivityFilter{EntityType: "environment_lease", EntityID: l.ID.String()})
	s.must(err)
	same(t, "activity of a lease", len(page.Items), 1)
	other, mine := s.lease(b, e, nil), s.lease(a, s.environment("other"), nil)
	ids := func(f leasing.Filter) []uuid.UUID {
		found := []uuid.UUID{}
		for {
			page, err := s.Leases(ctx, f)
			s.must(err)
			for _, l := range page.Items {
				found = append(found, l.ID)
			}
			if f.Cursor = page.Next; f.Cursor == "" {
				return found
			}
		}
	}
	same(t, "leases, newest use first, over pages", ids(leasing.Filter{Limit: 1}), []uuid.UUID{l.ID, mine.ID, other.ID})
	same(t, "leases of a company", ids(leasing.Filter{CompanyID: &b.ID}), []uuid.UUID{other.ID})
	same(t, "leases of an environment", ids(leasing.Filter{EnvironmentID: mine.EnvironmentID}), []uuid.UUID{mine.ID})
	same(t, "active leases", ids(leasing.Filter{Status: environment.LeaseActive}), []uuid.UUID{l.ID})
}

func testLeaseMoves(t *testing.T, s suite) {
	ctx := t.Context()
	l := s.lease(s.company("acme"), s.environment("box"), nil)
	_, err := s.UpdateLease(ctx, l.ID, func(l *environment.Lease) error { l.Status = environment.LeaseReleased; return nil }, nil)
	s.code("a move that is none", err, environment.KindConflict, "lease_state_changed")
	got, err := s.Lease(ctx, l.ID)
	s.must(err)
	same(t, "status after a refused move", got.Status, environment.LeaseAcquiring)
	nobody := environment.NewID()
	_, err = s.Lease(ctx, nobody)
	s.code("read a lease that is not there", err, environment.KindNotFound, "lease_not_found")
	_, err = s.UpdateLease(ctx, nobody, func(*environment.Lease) error { return nil }, nil)
	s.code("change a lease that is not there", err, environment.KindNotFound, "lease_not_found")
	l.ID, l.EnvironmentID = environment.NewID(), &nobody
	s.code("lease what is not there", s.CreateLease(ctx, l), environment.KindNotFound, environment.CodeEnvironmentNotFound)
}

func testOrphanedLeases(t *testing.T, s suite) {
	ctx := t.Context()
	c, e := s.company("acme"), s.environment("box")
	underWay, over := s.run(c, e), s.run(c, e)
	s.move(over.ID, environment.RunFailed)
	kept := s.lease(c, e, &underWay.ID)
	ofEnded, ofNone, released := s.lease(c, e, &over.ID), s.lease(c, e, nil), s.lease(c, e, nil)
	s.hold(ofNone.ID, environment.LeaseActive, environment.LeaseReleasing)
	waiting := s.lease(c, e, nil) // in a queue of its own
	s.hold(waiting.ID, environment.LeaseActive, environment.LeasePendingCleanup)
	s.hold(released.ID, environment.LeaseFailed)
	got, err := s.OrphanedLeases(ctx, environment.NewID(), 10)
	s.must(err)
	same(t, "leases taken from a server that lives", len(got), 0)
	next := s.die()
	taken := map[uuid.UUID]bool{}
	for range 3 {
		got, err = s.OrphanedLeases(ctx, next, 1)
		s.must(err)
		for _, l := range got {
			taken[l.ID] = true
			same(t, "owner of what was taken", l.Owner, next)
		}
	}
	same(t, "leases taken from a dead server", taken, map[uuid.UUID]bool{ofEnded.ID: true, ofNone.ID: true})
	s.move(underWay.ID, environment.RunCancelled)
	got, err = s.OrphanedLeases(ctx, next, 10)
	s.must(err)
	if len(got) != 1 || got[0].ID != kept.ID {
		t.Errorf("leases taken when their run had ended: got %+v, want %s", got, kept.ID)
	}
}

// testClaimsOfTheDead: who died while it let go of a sandbox holds up nobody.
func testClaimsOfTheDead(t *testing.T, s suite) {
	ctx := t.Context()
	c, e := s.company("acme"), s.environment("box")
	claimed := func(l *environment.Lease) error {
		l.CleanupClaimUntil = new(time.Now().Add(time.Hour))
		return nil
	}
	releasing, waiting := s.lease(c, e, nil), s.lease(c, e, nil)
	s.hold(releasing.ID, environment.LeaseActive, environment.LeaseReleasing)
	s.hold(waiting.ID, environment.LeaseActive, environment.LeasePendingCleanup)
	for _, l := range []environment.Lease{releasing, waiting} {
		_, err := s.UpdateLease(ctx, l.ID, claimed, nil)
		s.must(err)
	}
	got, err := s.ClaimCleanups(ctx, environment.NewID(), 5, time.Hour)
	s.must(err)
	same(t, "claimed from a server that lives", len(got), 0)
	next := s.die()
	got, err = s.OrphanedLeases(ctx, next, 5)
	s.must(err)
	if len(got) != 1 || got[0].ID != releasing.ID || got[0].CleanupClaimUntil != nil {
		t.Errorf("taken from a server that has ended: got %+v", got)
	}
	got, err = s.ClaimCleanups(ctx, next, 5, time.Hour)
	s.must(err)
	same(t, "claimed from a server that has ended", leaseIDs(got), setOf(waiting))
	got, err = s.ClaimCleanups(ctx, next, 5, time.Hour)
	s.must(err)
	same(t, "claimed twice", len(got), 0)
}

func testUses(t *testing.T, s suite) {
	c, e := s.company("acme"), s.environment("box")
	r := s.run(c, e)
	s.run(c, e)
	s.move(r.ID, environment.RunFailed)
	l, cleanup := s.lease(c, e, nil), s.lease(c, e, nil)
	s.hold(cleanup.ID, environment.LeaseActive, environment.LeasePendingCleanup)
	s.hold(s.lease(c, e, nil).ID, environment.LeaseFailed)
	want := environment.Uses{ActiveLeases: 1, PendingCleanup: 1, ActiveRuns: 1, Runs: 2}
	same(t, "uses", s.view(e.ID).Uses, want)
	page, err := s.ListEnvironments(t.Context(), environment.ListFilter{})
	s.must(err)
	same(t, "uses in the list", page.Items[0].Uses, want)
	s.hold(l.ID, environment.LeaseActive)
	impact, err := s.Impact(t.Context(), e.ID)
	s.must(err)
	same(t, "impact", impact, environment.Impact{EnvironmentID: e.ID, Blocked: []string{"active_use", "pending_sandbox_cleanup"}, Uses: want})
}

func testFleet(t *testing.T, s suite) {
	ctx := t.Context()
	s.must(s.BeatServer(ctx, s.server))
	stranger := environment.NewID()
	s.must(s.RegisterServer(ctx, stranger, environment.NewID(), "test"))
	s.must(s.BeatServer(ctx, s.server))
	s.begun(s.probe(s.environment("box")))
	s.must(s.RetireServer(ctx, stranger))
	n, err := s.InterruptOrphans(ctx, environment.NewID())
	s.must(err)
	same(t, "probes interrupted when another node's server stopped", n, 0)
	s.die()
	s.code("beat of a server that was replaced", s.BeatServer(ctx, s.server), environment.KindConflict, "server_retired")
	s.must(s.RetireServer(ctx, s.server))
	n, err = s.InterruptOrphans(ctx, environment.NewID())
	s.must(err)
	same(t, "probes interrupted when this node's server was replaced", n, 1)
}

func drain(wake <-chan struct{}) {
	select {
	case <-wake:
	default:
	}
}

// woken wants a wake-up soon.
func woken(t *testing.T, what string, wake <-chan struct{}) {
	t.Helper()
	select {
	case <-wake:
	case <-time.After(10 * time.Second):
		t.Errorf("%s: its readers were not woken", what)
	}
}

func testFeed(t *testing.T, s suite) {
	ctx := t.Context()
	list, stopList := s.Subscribe(environment.CatalogueSubject)
	defer stopList()
	e := s.environment("box")
	woken(t, "the list after a create", list)
	p, _, err := s.CreateProbe(ctx, s.probe(e))
	s.must(err)
	woken(t, "the list after a probe began", list)
	one, stopOne := s.Subscribe(p.ID)
	other, stopOther := s.Subscribe(p.ID)
	defer stopOther()
	s.must(s.ReportStages(ctx, p.ID, environment.Stage{Name: "resolve", Status: environment.StageRunning}))
	woken(t, "a probe after a stage", one)
	woken(t, "a probe's second reader", other)
	stopOne()
	stopOne()
	_, err = s.FinishProbe(ctx, verdict(p, ""), environment.QualificationChange{}, environment.Activity{})
	s.must(err)
	woken(t, "a probe at its end", other)
	woken(t, "the list after a verdict", list)
	r := s.run(s.company("acme"), e)
	wake, stop := s.Subscribe(r.ID)
	defer stop()
	drain(wake)
	s.must(s.AppendOutput(ctx, r.ID, s.server, []environment.LogChunk{chunk("stdout", 0, "x")}))
	woken(t, "a run after output", wake)
}
