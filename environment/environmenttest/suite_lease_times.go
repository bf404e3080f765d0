package environmenttest

import (
	"context"
	"slices"
	"testing"
	"time"

	"berth/environment"
	"berth/environment/leasing"

	"github.com/google/uuid"
)

func leasesOf(e environment.Environment) leasing.Filter { return leasing.Filter{EnvironmentID: &e.ID} }

// age makes every lease older, as if that time had passed for them by the store's
// clock, which is a database's own and cannot be set.
func (s suite) age(d time.Duration) {
	s.t.Helper()
	clock, ok := s.Stores.(interface {
		Age(context.Context, time.Duration) error
	})
	if !ok {
		s.t.Fatal("the store's leases cannot be made older")
	}
	s.must(clock.Age(s.t.Context(), d))
}

// left wants a lease to expire in about that time by the clock of this machine,
// which is the database's too.
func (s suite) left(what string, id uuid.UUID, want time.Duration) {
	s.t.Helper()
	l, err := s.Lease(s.t.Context(), id)
	s.must(err)
	if l.ExpiresAt == nil {
		s.t.Errorf("%s: it never expires, want in %s", what, want)
		return
	}
	if got := time.Until(*l.ExpiresAt); got > want+10*time.Second || got < want-10*time.Second {
		s.t.Errorf("%s: expires in %s, want in %s", what, got, want)
	}
}

func testLeaseTimes(t *testing.T, s suite) {
	ctx := t.Context()
	c, e := s.company("acme"), s.environment("box")
	long := moment(0).AddDate(10, 0, 0)
	l := s.made(c, e, func(l *environment.Lease) { l.TTLSec, l.RetainSec, l.ExpiresAt = 300, 7200, &long })
	s.left("a lease that acquires", l.ID, 300*time.Second)
	s.age(200 * time.Second)
	s.left("after a while", l.ID, 100*time.Second)
	s.hold(l.ID, environment.LeaseActive)
	s.left("an active lease", l.ID, 300*time.Second)
	s.age(200 * time.Second)
	for name, owner := range map[string]uuid.UUID{"its owner": s.server, "another": environment.NewID()} {
		lost, err := s.BeatLeases(ctx, owner, []uuid.UUID{l.ID})
		s.must(err)
		same(t, "a beat of "+name+" is refused", len(lost) == 1, owner != s.server)
	}
	s.left("after a beat", l.ID, 300*time.Second)
	got, err := s.Lease(ctx, l.ID)
	s.must(err)
	if since := time.Since(got.HeartbeatAt); since > 10*time.Second || since < -10*time.Second {
		t.Errorf("time of the beat: got %s", got.HeartbeatAt)
	}
	s.hold(l.ID, environment.LeaseReleasing, environment.LeaseRetained)
	s.left("a kept sandbox", l.ID, 2*time.Hour)
	s.age(time.Hour)
	_, err = s.UpdateLease(ctx, l.ID, func(l *environment.Lease) error { l.ExpiresAt = &long; return nil }, nil)
	s.must(err)
	s.left("a kept sandbox that was looked at", l.ID, time.Hour)
	_, err = s.UpdateLease(ctx, l.ID, func(l *environment.Lease) error { l.RetainSec = 3 * 3600; return nil }, nil)
	s.must(err)
	s.left("one that is to be kept longer", l.ID, 2*time.Hour)
	plain := s.made(c, e, func(l *environment.Lease) { l.TTLSec, l.RetainSec = 0, 0 })
	s.left("a lease that says nothing", plain.ID, environment.LeaseTTL)
}

func testBeats(t *testing.T, s suite) {
	c, e := s.company("acme"), s.environment("box")
	acquiring, active, releasing, over := s.made(c, e, nil), s.made(c, e, nil), s.made(c, e, nil), s.made(c, e, nil)
	s.hold(active.ID, environment.LeaseActive)
	s.hold(releasing.ID, environment.LeaseActive, environment.LeaseReleasing)
	s.hold(over.ID, environment.LeaseFailed)
	kept, waiting := s.retained(c, e, nil), s.made(c, e, nil)
	s.hold(waiting.ID, environment.LeasePendingCleanup)
	theirs := s.made(c, e, func(l *environment.Lease) { l.Owner = environment.NewID() })
	gone := environment.NewID()
	lost, err := s.BeatLeases(t.Context(), s.server, []uuid.UUID{acquiring.ID, gone, active.ID, releasing.ID, over.ID, kept.ID, waiting.ID, theirs.ID})
	s.must(err)
	same(t, "leases that nobody can beat for", lost, []uuid.UUID{gone, over.ID, kept.ID, waiting.ID, theirs.ID})
	lost, err = s.BeatLeases(t.Context(), s.server, nil)
	s.must(err)
	same(t, "beats for nothing", len(lost), 0)
}

// expired are the leases that a server is given because they expired.
func (s suite) expired(owner uuid.UUID) []uuid.UUID {
	s.t.Helper()
	got, err := s.ExpiredLeases(s.t.Context(), owner, 100)
	s.must(err)
	ids := []uuid.UUID{}
	for _, l := range got {
		same(s.t, "owner of what expired", l.Owner, owner)
		ids = append(ids, l.ID)
	}
	slices.SortFunc(ids, func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
	return ids
}

// C38: a lease that is beaten for stays, and goes after its time without a beat;
// only the database's clock says what the time is.
func testExpiry(t *testing.T, s suite) {
	ctx := t.Context()
	c, e := s.company("acme"), s.environment("box")
	underWay := s.run(c, e)
	acquiring, active, ofRun := s.made(c, e, nil), s.made(c, e, nil), s.made(c, e, func(l *environment.Lease) { l.RunID = &underWay.ID })
	s.hold(active.ID, environment.LeaseActive)
	s.hold(ofRun.ID, environment.LeaseActive)
	for range 6 {
		s.age(100 * time.Second)
		lost, err := s.BeatLeases(ctx, s.server, []uuid.UUID{acquiring.ID, active.ID, ofRun.ID})
		s.must(err)
		same(t, "beats that are refused", len(lost), 0)
		same(t, "expired while it is beaten for", s.expired(s.server), []uuid.UUID{})
	}
	s.age(110 * time.Second)
	same(t, "expired too early", s.expired(s.server), []uuid.UUID{})
	s.age(15 * time.Second)
	got := s.expired(environment.NewID())
	same(t, "expired without a beat", got, []uuid.UUID{acquiring.ID, active.ID})
	same(t, "given to a second server", s.expired(environment.NewID()), []uuid.UUID{})
	s.age(environment.ExpiredHold + time.Second)
	same(t, "given again when nothing came of it", s.expired(s.server), got)
	s.move(underWay.ID, environment.RunCancelled)
	same(t, "expired when its run had ended", s.expired(s.server), []uuid.UUID{ofRun.ID})
}

func testKeptExpire(t *testing.T, s suite) {
	c, e := s.company("acme"), s.environment("box")
	kept, resumed := s.retained(c, e, nil), s.retained(c, e, nil)
	taker := s.made(c, e, func(l *environment.Lease) { l.Resumes, l.TTLSec = &resumed.ID, 7200 })
	s.age(59 * time.Minute)
	same(t, "kept sandboxes that go too early", s.expired(s.server), []uuid.UUID{})
	s.age(2 * time.Minute)
	same(t, "kept sandboxes that go", s.expired(s.server), []uuid.UUID{kept.ID})
	s.hold(taker.ID, environment.LeaseFailed)
	same(t, "kept sandboxes that nobody resumes any more", s.expired(s.server), []uuid.UUID{resumed.ID})
}

func testTakenOnce(t *testing.T, s suite) {
	c, e := s.company("acme"), s.environment("box")
	for range 30 {
		s.made(c, e, nil)
		s.hold(s.made(c, e, nil).ID, environment.LeasePendingCleanup)
	}
	s.age(time.Hour)
	for name, take := range map[string]func(uuid.UUID) ([]environment.Lease, error){
		"expired": func(owner uuid.UUID) ([]environment.Lease, error) { return s.ExpiredLeases(t.Context(), owner, 5) },
		"clean-ups": func(owner uuid.UUID) ([]environment.Lease, error) {
			return s.ClaimCleanups(t.Context(), owner, 5, time.Hour)
		},
	} {
		given := make([][]environment.Lease, 8)
		s.atOnce(len(given), "", func(i int) error {
			owner := environment.NewID()
			for {
				got, err := take(owner)
				if err != nil || len(got) == 0 {
					return err
				}
				given[i] = append(given[i], got...)
			}
		})
		times := map[uuid.UUID]int{}
		for _, leases := range given {
			for _, l := range leases {
				times[l.ID]++
			}
		}
		same(t, name+" that were given out", len(times), 30)
		for id, n := range times {
			if n != 1 {
				t.Errorf("%s: lease %s was given out %d times", name, id, n)
			}
		}
	}
}

func testCleanups(t *testing.T, s suite) {
	ctx := t.Context()
	c, e := s.company("acme"), s.environment("box")
	wait := func(next *time.Time) environment.Lease {
		l := s.made(c, e, nil)
		_, err := s.UpdateLease(ctx, l.ID, func(l *environment.Lease) error {
			l.Status, l.CleanupNextAt = environment.LeasePendingCleanup, next
			return nil
		}, nil)
		s.must(err)
		return l
	}
	soon, past := time.Now().UTC().Add(time.Hour).Truncate(time.Microsecond), moment(0)
	never, due, later := wait(nil), wait(&past), wait(&soon)
	s.hold(s.made(c, e, nil).ID, environment.LeaseActive)
	claim := func(owner uuid.UUID, limit int) []uuid.UUID {
		got, err := s.ClaimCleanups(ctx, owner, limit, time.Minute)
		s.must(err)
		ids := []uuid.UUID{}
		for _, l := range got {
			if l.Owner != owner || l.CleanupClaimUntil == nil {
				t.Errorf("a claimed clean-up: got owner %s until %v, want %s", l.Owner, l.CleanupClaimUntil, owner)
			}
			ids = append(ids, l.ID)
		}
		return ids
	}
	one, two := environment.NewID(), environment.NewID()
	first := append(claim(one, 1), claim(two, 5)...)
	slices.SortFunc(first, func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
	same(t, "clean-ups that are due", first, []uuid.UUID{never.ID, due.ID})
	same(t, "clean-ups that others are at", claim(one, 5), []uuid.UUID{})
	s.age(2 * time.Minute)
	same(t, "clean-ups whose claim is over", len(claim(two, 5)), 2)
	s.hold(due.ID, environment.LeaseExpired)
	s.hold(never.ID, environment.LeaseReleased)
	s.age(time.Hour)
	same(t, "clean-ups that became due", claim(two, 5), []uuid.UUID{later.ID})
}
