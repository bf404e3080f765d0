package running

import (
	"context"
	"encoding/json"
	"errors"

	"berth/environment"
	"berth/environment/crew"
)

// settle stores the rest of the output and how the work ended, before what is
// kept on the target goes.
func (w *worker) settle(ctx context.Context, out *collector, result environment.ExecResult) error {
	began := w.now()
	if err := out.settle(ctx); err != nil {
		return err
	}
	why := w.haltReason()
	return w.update(ctx, func(r *environment.Run) error {
		if r.StartedAt != nil {
			enter(r, phaseCollect, began)
		}
		note(r, result, why)
		enter(r, phaseRelease, w.now())
		return nil
	})
}

// recordError stores why the driver could not say how the work ended.
func (w *worker) recordError(ctx context.Context, out *collector, cause error, resumed bool) error {
	if err := out.settle(ctx); err != nil {
		w.log.Warn("store the last output", "run", w.run.ID, "err", err)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	w.log.Warn("run without a result", "run", w.run.ID, "driver", w.run.Driver, "err", cause)
	why := w.haltReason()
	return w.update(ctx, func(r *environment.Run) error {
		noteError(r, cause, why, resumed)
		enter(r, phaseRelease, w.now())
		return nil
	})
}

// fail ends a run that did not get to its command.
func (w *worker) fail(ctx context.Context, cause error) error {
	if ctx.Err() != nil || errors.Is(cause, environment.ErrDetach) {
		return errors.Join(cause, environment.ErrDetach)
	}
	halted := w.haltReason() != nil
	err := w.update(ctx, func(r *environment.Run) error {
		if !halted && r.CancelBy == nil {
			r.Failure = failureOf(cause)
		}
		if r.LeaseID != nil {
			enter(r, phaseRelease, w.now())
		}
		return nil
	})
	if err != nil {
		return err
	}
	w.log.Info("run failed before its command", "run", w.run.ID, "driver", w.run.Driver, "err", cause)
	if w.run.LeaseID == nil {
		return w.end(ctx)
	}
	return w.wrapUp(ctx, environment.Spec{})
}

// wrapUp releases the lease and ends the run.
func (w *worker) wrapUp(ctx context.Context, spec environment.Spec) error {
	outcome, reason := leaseOutcome(w.run, spec.Config)
	lease, err := w.leases.Finish(ctx, *w.run.LeaseID, spec, outcome, reason)
	switch {
	case err != nil && crew.Transient(err):
		return err // this server stops; the next one releases it
	case err != nil:
		w.log.Warn("release the lease of a run", "run", w.run.ID, "lease", *w.run.LeaseID, "err", err)
	}
	return w.conclude(ctx, err == nil && tookAll(lease))
}

// tookAll reports whether a provider confirmed that the sandbox of a lease is not
// there any more, and whatever ran in it with it.
func tookAll(lease environment.Lease) bool {
	var receipt environment.Receipt
	if lease.Borrowed() || lease.ProviderID == nil || json.Unmarshal(lease.Receipt, &receipt) != nil {
		return false
	}
	return receipt.ProviderID == *lease.ProviderID && (receipt.Outcome == "destroyed" || receipt.Outcome == "gone")
}

// end stores the last state of a run that has no lease.
func (w *worker) end(ctx context.Context) error { return w.conclude(ctx, false) }

// conclude stores the run's last state, and in the log what ended it when nobody
// did. sandboxGone is whether its sandbox is, for certain.
func (w *worker) conclude(ctx context.Context, sandboxGone bool) error {
	entry := w.entry(ctx, environment.System(), "", w.run)
	return w.update(ctx, func(r *environment.Run) error {
		if sandboxGone {
			prove(r)
		}
		next := statusOf(*r)
		if !r.Status.CanBecome(next) {
			next = environment.RunFailed
			r.Failure = &environment.Failure{Code: "internal", Message: "The driver did not say that the command had started."}
		}
		now := w.now()
		r.Status, r.FinishedAt, r.Input = next, &now, nil
		leave(r, now)
		entry.Action = endedBySystem(*r)
		if r.Failure != nil {
			entry.Details["code"] = r.Failure.Code
		}
		return nil
	}, &entry)
}

// endedBySystem is the action of the log for a run that neither its command nor
// a person ended; "" for one that they did.
func endedBySystem(r environment.Run) string {
	began := r.Process != nil || r.StartedAt != nil
	switch {
	case r.Status == environment.RunTimedOut:
		return "run.timed_out"
	case r.Status == environment.RunLost:
		return "run.lost"
	case r.Status == environment.RunFailed && !began:
		return "run.not_started"
	case r.Status == environment.RunFailed && r.ExitCode == nil:
		return "run.failed"
	}
	return ""
}
