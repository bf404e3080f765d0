package environmenttest

import (
	"slices"
	"testing"
	"time"

	"berth/environment"

	"github.com/google/uuid"
)

// testPruneDrafts: probes of drafts go 7 days after their end, with their events;
// nothing else does.
func testPruneDrafts(t *testing.T, s suite) {
	ctx, e := t.Context(), s.environment("box")
	probe := func(draft bool, ended time.Duration) uuid.UUID {
		p := s.probe(e)
		p.Draft = draft
		v := verdict(s.begun(p), "")
		at := time.Now().UTC().Add(-ended).Truncate(time.Millisecond)
		v.FinishedAt = &at
		_, err := s.FinishProbe(ctx, v, environment.QualificationChange{}, environment.Activity{})
		s.must(err)
		return p.ID
	}
	old := []uuid.UUID{probe(true, 9*24*time.Hour), probe(true, 8*24*time.Hour), probe(true, environment.DraftsKept+time.Minute)}
	kept := []uuid.UUID{probe(true, environment.DraftsKept-time.Minute), probe(false, 30*24*time.Hour)}
	running := s.probe(e)
	running.Draft = true
	kept = append(kept, s.begun(running).ID)
	for _, want := range []int{2, 1, 0} {
		n, err := s.PruneDrafts(ctx, 2)
		s.must(err)
		same(t, "probes of drafts deleted in a batch of 2", n, want)
	}
	for _, id := range slices.Concat(old, kept) {
		events, err := s.Events(ctx, id, 0, 0)
		s.must(err)
		_, err = s.Probe(ctx, id)
		if gone := slices.Contains(old, id); gone != (err != nil) || gone != (len(events) == 0) {
			t.Errorf("probe %s: got error %v and %d events, want it gone: %t", id, err, len(events), gone)
		}
	}
}

// testPruneAccesses: of each secret's openings the newest 1,000 are kept, of the
// last 400 days.
func testPruneAccesses(t *testing.T, s suite) {
	ctx, c := t.Context(), s.company("acme")
	busy, quiet := s.shared(c, "busy"), s.shared(c, "quiet")
	open := func(secret uuid.UUID, ago time.Duration) environment.SecretAccess {
		return environment.SecretAccess{ID: environment.NewID(), SecretID: secret, Version: 1, CompanyID: &c.ID, ConfigPath: "config.password",
			Purpose: environment.ForRun, ActorName: "Ada", Outcome: "opened", At: time.Now().UTC().Add(-ago)}
	}
	var all []environment.SecretAccess
	for i := range environment.AccessesKept + 3 {
		all = append(all, open(busy.ID, time.Duration(i+1)*time.Minute))
	}
	newest := all[0]
	all = append(all, open(quiet.ID, environment.AccessesKeptFor+time.Hour), open(quiet.ID, environment.AccessesKeptFor-time.Hour))
	for part := range slices.Chunk(all, 200) {
		s.must(s.RecordAccess(ctx, part...))
	}
	for _, want := range []int{3, 1, 0} {
		n, err := s.PruneAccesses(ctx, 3)
		s.must(err)
		same(t, "openings deleted in a batch of 3", n, want)
	}
	count := func(id uuid.UUID) (n int, first uuid.UUID) {
		for next := ""; ; {
			page, err := s.SecretAccesses(ctx, id, 500, next)
			s.must(err)
			if n == 0 && len(page.Items) > 0 {
				first = page.Items[0].ID
			}
			n += len(page.Items)
			if next = page.Next; next == "" {
				return n, first
			}
		}
	}
	n, first := count(busy.ID)
	same(t, "openings of a busy secret", n, environment.AccessesKept)
	same(t, "newest opening", first, newest.ID)
	n, _ = count(quiet.ID)
	same(t, "openings of a quiet secret", n, 1)
}
