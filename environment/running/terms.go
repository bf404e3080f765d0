package running

import (
	"context"

	"berth/environment"
)

// terms are on what a run gets its sandbox; zero for other targets.
type terms struct {
	pinned      *environment.ImageIdentity // nil: the image that the config names
	fingerprint string                     // of what may be picked up again
	adapter     *string                    // of the run's agent
}

// agree finds the terms of a run. A native one is refused, with code
// sandbox_snapshot_qualification_required, without a current qualification: no
// name is looked up in its place.
func (s *Service) agree(ctx context.Context, run environment.Run, env environment.Environment) (terms, error) {
	var t terms
	if env.Driver != environment.DriverSandbox {
		return t, nil
	}
	if run.Native {
		admission, err := s.specs.Admission(ctx, env, run.CompanyID)
		if err != nil {
			return t, err
		}
		if !admission.Allowed {
			return t, environment.Conflict(admission.Code, admission.Message).Remedy(environment.Remedy(admission.Code))
		}
		t.pinned = admission.Identity
	}
	prints, err := s.specs.Fingerprints(ctx, env)
	if err != nil {
		return t, err
	}
	t.fingerprint = prints.Reuse
	if run.AgentID == nil {
		return t, nil
	}
	switch agent, err := s.store.Agent(ctx, *run.AgentID); {
	case err == nil:
		t.adapter = &agent.AdapterType
	case environment.KindOf(err) != environment.KindNotFound: // deleted since: its run goes on
		return t, err
	}
	return t, nil
}

// noteDeleted revokes a qualification whose image the provider proved to be gone.
// The run fails all the same: another image of the name is not what was measured.
func (w *worker) noteDeleted(ctx context.Context, cause error) {
	e := environment.AsError(cause)
	if gone, _ := e.Details["proof"].(bool); !gone || !w.run.Native || e.Code != environment.CodeImageDeleted || w.run.EnvironmentID == nil {
		return
	}
	err := w.store.RevokeQualification(ctx, *w.run.EnvironmentID, w.run.CompanyID, environment.RevokedDeleted, environment.System().Name)
	if err != nil {
		w.log.Error("revoke the qualification of an image that is gone", "run", w.run.ID, "env", *w.run.EnvironmentID, "err", err)
	}
}
