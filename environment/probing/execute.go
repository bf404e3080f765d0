package probing

import (
	"context"
	"errors"
	"time"

	"berth/environment"
	"berth/environment/crew"
)

// Why a probe ended before its driver was done; the causes of its context.
var (
	errStopping  = errors.New("the server stops")
	errCancelled = errors.New("somebody cancelled the probe")
	errTimedOut  = errors.New("the probe's time is over")
)

// patience is how long a driver may take to return once its time is over.
const patience = time.Second

// execute does one probe from its row in state queued to its verdict.
func (s *Service) execute(ctx context.Context, j job) {
	work, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	unwatch := s.watchCancel(work, j.probe.ID, cancel)
	out, ours := s.attempt(work, &j)
	if out.trial != nil {
		out = out.trial.cleanUp(ctx, work, out)
	}
	unwatch()
	if !ours {
		return
	}
	if pin := out.result.Pin; pin != "" && !j.probe.Draft && j.probe.EnvironmentID != nil {
		// Before the verdict, which would else be of an older config.
		err := crew.Retry(ctx, crew.Transient, func(ctx context.Context) error {
			return s.specs.PinFirstUse(ctx, *j.probe.EnvironmentID, pin)
		})
		if err != nil {
			s.log.Error("pin a host key on first use", "probe", j.probe.ID, "env", *j.probe.EnvironmentID, "err", err)
		}
	}
	s.finish(ctx, j, out)
}

// outcome is what became of the driver's work.
type outcome struct {
	result environment.ProbeResult
	stages []environment.Stage // as reported
	cause  error               // why it was cut short; nil when the driver was done
	err    error               // why the driver never ran, or broke down
	limit  time.Duration       // that the work had
	trial  *trial              // of a saved sandbox; nil for others, and before it began
}

// attempt waits for a slot, begins and asks the driver. It returns false when
// the probe is not this server's to end.
func (s *Service) attempt(ctx context.Context, j *job) (outcome, bool) {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return outcome{stages: j.probe.Stages, cause: cutShort(ctx)}, true
	}
	var begun bool
	err := crew.Retry(ctx, crew.Transient, func(ctx context.Context) (err error) {
		begun, err = s.store.BeginProbe(ctx, j.probe.ID)
		return err
	})
	if err != nil {
		return outcome{stages: j.probe.Stages, cause: cutShort(ctx), err: err}, true
	}
	if !begun {
		return outcome{}, false
	}
	started := s.now()
	j.probe.StartedAt, j.probe.Deadline = &started, started.Add(j.limit)
	limit := j.limit
	if j.sandbox != nil {
		limit -= cleanupRoom
	}
	limited, cancel := context.WithTimeoutCause(ctx, limit, errTimedOut)
	defer cancel()
	if j.sandbox != nil {
		out := s.try(limited, j)
		out.limit = limit
		return out, true
	}
	spec, err := j.open(limited)
	if err != nil {
		return outcome{stages: j.probe.Stages, cause: cutShort(limited), err: err}, true
	}
	out := s.ask(limited, *j, spec)
	out.limit = limit
	return out, true
}

// ask runs the driver's probe and stores its stages as they come.
func (s *Service) ask(ctx context.Context, j job, spec environment.Spec) outcome {
	rec := s.record(ctx, j.probe)
	result, err := crew.Call(ctx, patience, func() (environment.ProbeResult, error) {
		return j.prober.Probe(ctx, spec, rec.report), nil
	})
	stages := rec.close()
	out := outcome{result: result, stages: stages}
	switch cause := cutShort(ctx); {
	case errors.Is(cause, errCancelled), errors.Is(cause, errStopping) && !result.OK:
		out.cause = cause
	case errors.Is(cause, errTimedOut) && !result.OK:
		out.cause = cause
	case err != nil:
		out.err = err
		s.log.Error("a driver's probe broke down", "probe", j.probe.ID, "driver", j.probe.Driver, "err", err)
	}
	return out
}

// cutShort says why ctx ended; nil while it has not.
func cutShort(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errCancelled), errors.Is(cause, errTimedOut):
		return cause
	}
	return errStopping
}

// finish stores the verdict, however long the database is away. A server that
// stops tries once more; what it then leaves is interrupted by the next one.
func (s *Service) finish(ctx context.Context, j job, out outcome) {
	p := conclude(j.probe, out, s.now())
	var change environment.QualificationChange
	switch {
	case out.trial != nil:
		var result environment.QualificationResult
		result, change = out.trial.qualify(ctx, p, out)
		p.Qualification = &result
	case p.Driver == environment.DriverSandbox && p.Draft:
		p.Qualification = cannotQualify()
	}
	p.Proves = provesOf(p)
	err := crew.Retry(ctx, crew.Transient, func(ctx context.Context) error {
		_, err := s.store.FinishProbe(ctx, p, change, activityOf(j, p))
		return err
	})
	if err != nil && environment.KindOf(err) != environment.KindNotFound { // it went with its environment
		s.log.Error("store a probe's verdict", "probe", p.ID, "err", err)
	}
}
