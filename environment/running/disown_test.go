package running_test

import (
	"context"
	"testing"
	"time"

	"berth/environment"
	"berth/environment/running"
)

// The row was written, and the database went away before it said so.
func TestStart_refusedAlthoughTheRowIsThere(t *testing.T) {
	target := newTarget(exit(0, 0))
	inBubble(t, target, func(t *testing.T, b *bed) {
		b.server.store.lostAt = 1
		if r, err := b.server.Start(context.Background(), operator, b.input("x")); environment.KindOf(err) != environment.KindUnavailable {
			t.Fatalf("got %+v, %v; want a refusal", r, err)
		}
		time.Sleep(time.Minute)
		page, err := b.store.Runs(context.Background(), running.Filter{})
		if err != nil || len(page.Items) != 1 {
			t.Fatalf("runs %+v, %v", page, err)
		}
		r := page.Items[0]
		if r.Status != environment.RunFailed || r.Failure == nil || r.Failure.Code != "database_unavailable" || r.FinishedAt == nil || target.started(r.ID) != 0 {
			t.Errorf("got %s %+v, want it ended and never begun", r.Status, r.Failure)
		}
	})
}
