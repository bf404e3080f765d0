package environmenttest

import (
	"slices"
	"testing"
	"time"

	"berth/environment"

	"github.com/google/uuid"
)

// testRemains: what a run left is one server's at a time, is another's when that
// one dies, and waits between tries.
func testRemains(t *testing.T, s suite) {
	ctx := t.Context()
	c, e := s.company("acme"), s.environment("box")
	first, second := s.run(c, e), s.run(c, e)
	lease := s.lease(c, e, &first.ID)
	other := environment.NewID()
	s.must(s.RegisterServer(ctx, other, environment.NewID(), "test"))
	claim := func(what string, owner uuid.UUID, limit int, hold time.Duration, want ...environment.Remains) {
		t.Helper()
		got, err := s.ClaimRemains(ctx, owner, limit, hold)
		s.must(err)
		slices.SortFunc(got, func(a, b environment.Remains) int { return slices.Compare(a.RunID[:], b.RunID[:]) })
		if !slices.Equal(got, want) {
			t.Errorf("claimed %s: got %+v, want %+v", what, got, want)
		}
	}
	x, y := environment.Remains{RunID: first.ID, LeaseID: lease.ID}, environment.Remains{RunID: second.ID, LeaseID: lease.ID}
	s.must(s.KeepRemains(ctx, first.ID, lease.ID))
	s.must(s.KeepRemains(ctx, first.ID, environment.NewID()))
	claim("while the run is under way", s.server, 9, time.Hour)
	s.move(first.ID, environment.RunCancelled)
	claim("none", s.server, 0, time.Hour)
	claim("after its end", s.server, 9, time.Hour, x)
	claim("again", s.server, 9, time.Hour)
	claim("by another server", other, 9, time.Hour)
	for _, by := range []uuid.UUID{other, s.server} {
		over, err := s.PostponeRemains(ctx, first.ID, by, -time.Second)
		s.must(err)
		same(t, "time is over", over, false)
	}
	x.Tries = 1
	claim("after a try", other, 9, time.Hour, x)
	s.must(s.DropRemains(ctx, first.ID, s.server))
	over, err := s.PostponeRemains(ctx, first.ID, other, time.Hour)
	s.must(err)
	same(t, "time is over", over, false)
	claim("during the pause", s.server, 9, time.Hour)

	s.must(s.KeepRemains(ctx, second.ID, lease.ID))
	s.move(second.ID, environment.RunCancelled)
	claim("by a server that will die", s.server, 9, time.Hour, y)
	s.die()
	claim("of a dead server", other, 9, -time.Second, y)
	claim("that was held too long", other, 9, time.Hour, y)
	s.must(s.DropRemains(ctx, second.ID, other))
	claim("after the last", other, 9, time.Hour)
}
