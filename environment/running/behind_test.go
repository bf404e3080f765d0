package running_test

import (
	"sync/atomic"
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
				var lost atomic.Bool
				var queued environment.Run
				begun := make(chan struct{}) // the work begins before start returns: it waits until it has
				b.server.store.before = func(write int) {
					if write == 1 || lost.Load() {
						return
					}
					<-begun
					if row := b.run(queued.ID); row.Status == at && row.LogSize == 0 {
						lost.Store(true)
						b.store.TakeBackRun(queued)
					}
				}
				queued = b.start(b.input("talk"))
				close(begun)
				r := b.end(queued.ID)
				if !lost.Load() {
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
