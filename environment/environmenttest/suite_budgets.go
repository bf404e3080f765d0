package environmenttest

import (
	"math"
	"testing"
	"time"

	"berth/environment"
)

// budgeted stores an environment with a budget.
func (s suite) budgeted(name string, b environment.Budget) environment.Environment {
	s.t.Helper()
	w := write(name)
	w.Environment.Budget = &b
	e, err := s.CreateEnvironment(s.t.Context(), w)
	s.must(err)
	return e
}

// exhausted wants a refusal by a limit.
func (s suite) exhausted(what string, err error, limit string, allowed int) {
	s.t.Helper()
	s.code(what, err, environment.KindConflict, environment.CodeBudgetExhausted)
	if err == nil {
		return
	}
	details := environment.AsError(err).Details
	same(s.t, what+": limit", details["limit"], any(limit))
	same(s.t, what+": allowed", details["allowed"], any(allowed))
	if details["used"] == nil {
		s.t.Errorf("%s: used is not said", what)
	}
}

func testBudgetOfLeases(t *testing.T, s suite) {
	c := s.company("acme")
	budget := environment.Budget{AccountLabel: "build account", MaxLeases: 3, Note: "ask first"}
	e := s.budgeted("box", budget)
	same(t, "stored budget", s.view(e.ID).Budget, &budget)
	through := s.atOnce(12, environment.CodeBudgetExhausted, func(int) error { _, err := s.sandboxLease(c, e, nil); return err })
	same(t, "leases within the budget", through, 3)
	_, err := s.sandboxLease(c, e, nil)
	s.exhausted("one more", err, "maxLeases", 3)
	page, err := s.Leases(t.Context(), leasesOf(e))
	s.must(err)
	same(t, "leases", len(page.Items), 3)
	s.hold(page.Items[0].ID, environment.LeaseActive, environment.LeaseReleasing)
	_, err = s.sandboxLease(c, e, nil)
	s.exhausted("one more while one is being released", err, "maxLeases", 3)
	s.hold(page.Items[0].ID, environment.LeaseRetained)
	s.made(c, e, nil)
	_, err = s.sandboxLease(c, e, nil)
	s.exhausted("one more after that", err, "maxLeases", 3)
	s.made(c, s.environment("other"), nil)
	e.Budget = nil
	w := write("box")
	w.Environment = e
	_, err = s.UpdateEnvironment(t.Context(), w, e.Revision)
	s.must(err)
	if got := s.view(e.ID).Budget; got != nil {
		t.Errorf("budget that was taken away: got %+v", got)
	}
	s.made(c, e, nil)
}

// testBudgetOfMinutes keeps to the minutes of a day in UTC: those before it do not
// count, so the ages are chosen by how much of the day is over.
func testBudgetOfMinutes(t *testing.T, s suite) {
	c := s.company("acme")
	e := s.budgeted("box", environment.Budget{LeaseMinutesPerDay: 5})
	now := time.Now().UTC()
	today := now.Sub(now.Truncate(24 * time.Hour))
	over := s.made(c, e, nil)
	s.made(c, e, nil)
	s.hold(over.ID, environment.LeaseActive)
	s.age(2 * time.Minute)
	s.hold(over.ID, environment.LeaseReleasing, environment.LeaseReleased)
	want := 2 * min(today.Minutes(), 2)
	s.used(e, environment.Usage{ActiveLeases: 1, MinutesToday: want})
	if want < 5 {
		s.made(c, e, func(l *environment.Lease) { l.Status, l.ReleasedAt = environment.LeaseFailed, &now })
	}
	s.age(4 * time.Minute)
	if today > 10*time.Minute { // else not all of it was today
		_, err := s.sandboxLease(c, e, nil)
		s.exhausted("a lease when the minutes are used", err, "leaseMinutesPerDay", 5)
		s.used(e, environment.Usage{ActiveLeases: 1, MinutesToday: 8})
	}
	s.age(48 * time.Hour)
	s.used(e, environment.Usage{ActiveLeases: 1, MinutesToday: today.Minutes()})
	kept := s.retained(c, s.environment("other"), nil)
	s.age(time.Hour)
	s.hold(kept.ID, environment.LeaseReleasing, environment.LeaseReleased)
	usage, err := s.Usage(t.Context(), *kept.EnvironmentID)
	s.must(err)
	if usage.MinutesToday > 1 {
		t.Errorf("minutes of a sandbox that was kept and not used: got %f", usage.MinutesToday)
	}
}

// used wants what is used of a budget, within half a minute.
func (s suite) used(e environment.Environment, want environment.Usage) {
	s.t.Helper()
	got, err := s.Usage(s.t.Context(), e.ID)
	s.must(err)
	if got.ActiveLeases != want.ActiveLeases || math.Abs(got.MinutesToday-want.MinutesToday) > 0.5 {
		s.t.Errorf("used of a budget: got %+v, want %+v", got, want)
	}
}
