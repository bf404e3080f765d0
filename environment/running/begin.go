package running

import (
	"context"
	"fmt"
	"strings"

	"berth/environment"
	"berth/environment/crew"
	"berth/environment/leasing"
)

// begin takes a run from the queue to its target.
func (w *worker) begin(ctx context.Context) error {
	// What the run needs is read while its state is written.
	early := w.early
	if w.early = nil; early == nil {
		early = w.anticipate(ctx, w.run, w.unseal)
	}
	defer early.dismiss()
	err := w.update(ctx, func(r *environment.Run) error {
		if r.Status == environment.RunQueued {
			r.Status = environment.RunAcquiring
		}
		enter(r, phaseAcquire, w.now())
		return nil
	})
	if err != nil {
		return err
	}
	switch w.run.Status {
	case environment.RunAcquiring:
	case environment.RunCancelling:
		return w.end(ctx)
	default:
		return errTakenOver // somebody came further with it already
	}
	goods, err := early.wait(ctx)
	if err != nil {
		return w.fail(ctx, err)
	}
	ref, err := w.acquire(ctx, goods)
	if err != nil {
		w.noteDeleted(ctx, err)
		return w.fail(ctx, err)
	}
	if w.run.Status == environment.RunCancelling {
		return w.wrapUp(ctx, ref.Spec)
	}
	return w.exec(ctx, ref, goods, false)
}

// goods are what a run takes to its target.
type goods struct {
	spec  environment.Spec
	vars  []environment.EnvValue
	cargo cargo
	terms terms
}

// useOf says for what a run opens secrets.
func useOf(run environment.Run, purpose environment.SecretPurpose) environment.SecretUse {
	return environment.SecretUse{Purpose: purpose, CompanyID: &run.CompanyID, RunID: &run.ID, ActorName: run.ActorName}
}

// gather opens the environment, its variables and what the run carries.
func (s *Service) gather(ctx context.Context, run environment.Run, open func(environment.Run) (cargo, error)) (goods, error) {
	var g goods
	if run.EnvironmentID == nil {
		return g, environment.NewError(environment.KindNotFound, environment.CodeEnvironmentNotFound, "The environment was deleted before the run began.")
	}
	err := crew.Retry(ctx, crew.Transient, func(ctx context.Context) error {
		view, err := s.store.Environment(ctx, *run.EnvironmentID)
		if err != nil {
			return err
		}
		var vars []environment.EnvValue
		if run.LeaseID == nil { // before the secrets: one that is turned over in between makes a difference
			if err := s.sameTarget(run, view.Environment); err != nil {
				return err
			}
			if g.terms, err = s.agree(ctx, run, view.Environment); err != nil {
				return err
			}
		}
		if g.spec, vars, err = s.specs.Spec(ctx, view.Environment, useOf(run, environment.ForRun)); err != nil {
			return err
		}
		if g.cargo, err = open(run); err != nil {
			return err
		}
		g.spec.Pinned = g.terms.pinned
		g.vars = g.cargo.variables(vars)
		return variableProblem(g.spec)
	})
	return g, err
}

// sameTarget is KindConflict with code environment_changed when an environment leads
// elsewhere than it did when the run was started: nobody chose that for it. It is
// Usable's error when the driver is not offered here.
func (s *Service) sameTarget(run environment.Run, env environment.Environment) error {
	if env.Key() == run.Key() && s.describe(env) == run.Target {
		return environment.Usable(s.drivers, env.Key()) // another server may offer less
	}
	return environment.Conflict(environment.CodeEnvironmentChanged, "The environment "+env.Name+" was given another target before the run began.").
		Remedy(environment.Remedy(environment.CodeEnvironmentChanged))
}

// variableProblem is the refusal when a variable's secret cannot be opened: a
// command must not run with half of its variables.
func variableProblem(spec environment.Spec) error {
	for field, code := range spec.SecretProblems {
		if name, ok := strings.CutPrefix(field, "envVars."); ok {
			return environment.NewError(environment.KindConflict, code, "The secret of the variable "+name+" cannot be opened.").
				Remedy(environment.Remedy(code))
		}
	}
	return nil
}

// acquire gets the lease and notes it in the run.
func (w *worker) acquire(ctx context.Context, g goods) (environment.Ref, error) {
	limited, cancel := w.untilHalted(ctx)
	defer cancel()
	lease, ref, err := w.leases.Acquire(limited, leasing.Request{
		CompanyID: w.run.CompanyID, EnvironmentID: *w.run.EnvironmentID, RunID: new(w.run.ID), OwnerKind: environment.OwnerRun, Spec: g.spec,
		EnvironmentName: w.run.EnvironmentName, AgentID: w.run.AgentID, AdapterType: g.terms.adapter, Fingerprint: g.terms.fingerprint,
	})
	if err != nil {
		return ref, err
	}
	err = w.update(ctx, func(r *environment.Run) error {
		r.LeaseID = &lease.ID
		noteHost(r, ref.Host)
		if r.Status == environment.RunAcquiring {
			r.Status = environment.RunPreparing
		}
		enter(r, phasePrepare, w.now())
		return nil
	})
	if err != nil {
		// Nobody will find the lease through the run.
		if _, late := w.leases.Finish(ctx, lease.ID, ref.Spec, environment.LeaseExpired, "interrupted"); late != nil {
			w.log.Warn("give back a lease", "lease", lease.ID, "err", late)
		}
	}
	return ref, err
}

// resume takes up work that an earlier server may have started.
func (w *worker) resume(ctx context.Context) error {
	var ref environment.Ref
	err := crew.Retry(ctx, crew.Transient, func(ctx context.Context) (err error) {
		ref, err = w.reopen(ctx, w.run, *w.run.LeaseID)
		return err
	})
	if err != nil {
		return w.fail(ctx, fmt.Errorf("take up the work: %w", err))
	}
	w.leases.Hold(*w.run.LeaseID)
	g := goods{spec: ref.Spec}
	if g.cargo, err = w.unseal(w.run); err != nil {
		return w.fail(ctx, err)
	}
	if w.run.Process == nil && w.run.EnvironmentID != nil {
		// It may have to be started after all.
		if g, err = w.gather(ctx, w.run, w.unseal); err != nil {
			return w.fail(ctx, err)
		}
		g.spec = ref.Spec
	}
	return w.exec(ctx, ref, g, true)
}
