package fake

import (
	"context"
	"errors"
	"io/fs"

	"berth/environment"
)

// Resume starts a stopped sandbox. Errors: sandbox_gone, sandbox_mismatch for
// another installation's, start_failed and what the script says.
func (d *Driver) Resume(ctx context.Context, ref environment.Ref, spec environment.Spec) (environment.Ref, error) {
	ctx, cancel := context.WithTimeout(ctx, d.StartupBudget(spec.Config))
	defer cancel()
	ref.Spec = spec
	if len(spec.Config) > 0 {
		ref.Config = spec.Config
	}
	k, err := d.step(ctx, ref, "resume")
	if err != nil {
		return environment.Ref{}, err
	}
	s, err := d.find(ref)
	if err == nil && k.lose {
		err = errors.Join(d.world.destroy(s.ID), fs.ErrNotExist)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return environment.Ref{}, gone(ref.ProviderID)
	}
	if err != nil {
		return environment.Ref{}, err
	}
	if ref.LeaseKey != "" && s.LeaseKey != ref.LeaseKey {
		return environment.Ref{}, environment.Conflict(environment.CodeSandboxMismatch, "The sandbox "+s.ID+" was made for another lease.").
			Remedy(environment.Remedy(environment.CodeSandboxMismatch))
	}
	if !s.Running {
		if err := d.start(ctx, ref); err != nil {
			return environment.Ref{}, err
		}
	}
	after, err := d.step(ctx, ref, "resume.after")
	if err == nil && (k.loseAnswer || after.loseAnswer) {
		err = lost("resume.after")
	}
	if err != nil {
		return environment.Ref{}, err
	}
	return ref, nil
}
