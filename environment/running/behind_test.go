package running_test

import (
	"testing"
	"time"

	"berth/environment"
)

// TestRun_databaseWentBack loses how far a run had come: it goes on from its row
// and ends as if nothing had been, its command started once.
func TestRun_databaseWentBack(t *testing.T) {
	steps, _, _ := talk()
	for _, at := range []environment.RunStatus{environment.RunAcquiring, environment.RunPreparing, environment.RunRunning} {
		t.Run(string(at), func(t *testing.T) {
			inBubble(t, newTarget(steps...), func(t *testing.T, b *bed) {
				lost := false
				var queued environment.Run
				b.server.store.before = func(int) {
					if lost || queued.Status == "" {
						return
					}
					if row := b.run(queued.ID); row.Status == at && row.LogSize == 0 {
						lost = true
						b.store.TakeBackRun(queued)
					}
				}
				queued = b.start(b.input("talk"))
				r := b.end(queued.ID)
				if !lost {
					t.Fatalf("the run was never %s before a write", at)
				}
				checkWhole(t, b, r)
				if r.Process == nil || r.StartedAt == nil || r.StartedAt.Before(queued.CreatedAt) || time.Since(*r.StartedAt) < 0 {
					t.Errorf("the run ended as %+v", r)
				}
			})
		})
	}
}
