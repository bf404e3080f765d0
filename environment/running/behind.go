package running

import (
	"context"
	"fmt"

	"berth/environment"
)

// errWentBack is why a worker begins again from its run's row: the database lost
// in a crash how far the run had come, which it need not keep. To a driver it is
// the same as a stop of the server: what runs on the target is taken up again.
var errWentBack = fmt.Errorf("the database went back to before this step: %w", environment.ErrDetach)

// behind reports whether a run's row is behind what was last stored of it.
func behind(row, stored environment.Run) bool {
	return stored.LeaseID != nil && row.LeaseID == nil || stored.Process != nil && row.Process == nil ||
		progress(row.Status) < progress(stored.Status)
}

// progress counts the steps of a run; what is past them all is never behind.
func progress(s environment.RunStatus) int {
	for i, step := range []environment.RunStatus{environment.RunQueued, environment.RunAcquiring, environment.RunPreparing, environment.RunRunning} {
		if s == step {
			return i
		}
	}
	return 4
}

// again reads the row of a run, to go on from it. A lease that the row does not
// name any more is given back: the run gets another.
func (w *worker) again(ctx context.Context) error {
	held := w.run.LeaseID
	err := w.reread(ctx)
	w.wentBack = false
	if err == nil && held != nil && w.run.LeaseID == nil {
		_, late := w.leases.Finish(ctx, *held, environment.Spec{}, environment.LeaseExpired, environment.CodeInterrupted)
		if late != nil && environment.KindOf(late) != environment.KindNotFound {
			w.log.Warn("give back a lease", "lease", *held, "err", late)
		}
	}
	w.log.Warn("the database went back: the run goes on from its row", "run", w.run.ID, "status", w.run.Status, "err", err)
	return err
}
