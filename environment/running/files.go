package running

import (
	"context"
	"errors"
	"fmt"
	"time"

	"berth/environment"
	"berth/environment/access"
	"berth/environment/crew"

	"github.com/google/uuid"
)

// filesLimit is the deadline for reading a workspace.
const filesLimit = 10 * time.Second

// Files lists or reads the workspace of a run, on the target, during the run
// and after it. KindNotFound with code workspace_not_found when the run never
// got one; else what the driver says, or a probe's code when the target cannot
// be reached.
func (s *Service) Files(ctx context.Context, actor environment.Actor, id uuid.UUID, path string) (environment.WorkspaceEntry, error) {
	run, err := s.find(ctx, actor, access.ReadRuns, id)
	if err != nil {
		return environment.WorkspaceEntry{}, err
	}
	entry, err := s.files(ctx, run, path)
	if err != nil && !access.Whole(actor) {
		err = environment.WithoutTarget(err)
	}
	return entry, err
}

func (s *Service) files(ctx context.Context, run environment.Run, path string) (environment.WorkspaceEntry, error) {
	var none environment.WorkspaceEntry
	if run.LeaseID == nil {
		return none, environment.NotFound("workspace")
	}
	filer, err := environment.Ability[environment.Filer](s.drivers, run.Key())
	if err != nil {
		return none, err
	}
	limited, cancel := context.WithTimeout(ctx, filesLimit)
	defer cancel()
	ref, err := s.reopen(limited, run, *run.LeaseID)
	if err != nil {
		return none, err
	}
	entry, err := crew.Call(limited, time.Second, func() (environment.WorkspaceEntry, error) { return filer.Read(limited, ref, path) })
	if err != nil && errors.Is(limited.Err(), context.DeadlineExceeded) && environment.KindOf(err) == environment.KindInternal {
		err = environment.NewError(environment.KindTimeout, environment.CodeTimedOut, run.Target+" did not answer within 10 s.").Because(err)
	}
	return entry, err
}

// reopen loads what a lease holds and opens its secrets again. The config is
// the lease's own: the environment may be another, or gone, since.
func (s *Service) reopen(ctx context.Context, run environment.Run, leaseID uuid.UUID) (environment.Ref, error) {
	lease, err := s.store.Lease(ctx, leaseID)
	if err != nil {
		return environment.Ref{}, err
	}
	ref, err := s.leases.Ref(lease, environment.Spec{})
	if err != nil {
		return environment.Ref{}, err
	}
	env := environment.Environment{Driver: ref.Driver, Config: ref.Config}
	if lease.EnvironmentID != nil {
		env.ID = *lease.EnvironmentID
	}
	spec, _, err := s.specs.Spec(ctx, env, useOf(run, environment.ForCleanup))
	if err != nil {
		return environment.Ref{}, fmt.Errorf("open the secrets of lease %s: %w", leaseID, err)
	}
	spec.CompanyID, spec.RunID, spec.IdempotencyKey = &lease.CompanyID, lease.RunID, lease.ID.String()
	return s.leases.Ref(lease, spec)
}
