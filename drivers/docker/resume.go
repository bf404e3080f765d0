package docker

import (
	"context"

	"berth/environment"

	"github.com/moby/moby/client"
)

// Resume starts a stopped sandbox and waits for it as Acquire does. A failure
// leaves it as it was: what was started for it is stopped again.
func (d *Driver) Resume(ctx context.Context, ref environment.Ref, spec environment.Spec) (environment.Ref, error) {
	ctx, cancel := d.budget(ctx, spec)
	defer cancel()
	b := newBoard(d.now, spec.Report)
	b.began("engine")
	resumed, err := d.resume(ctx, ref, spec, b)
	if err != nil {
		b.failed(err)
		return environment.Ref{}, err
	}
	return resumed, nil
}

func (d *Driver) resume(ctx context.Context, ref environment.Ref, spec environment.Spec, b *board) (environment.Ref, error) {
	ref.Spec = spec
	s, err := d.sandboxOf(ctx, ref)
	if err != nil {
		return environment.Ref{}, err
	}
	s.lease, s.instance = ref.LeaseKey, ref.InstanceID // those that it was made with
	b.passed("The engine at "+s.at.shown()+" answers.", s.measured())
	b.began("start")
	made, err := s.inspect(ctx)
	if err != nil {
		return environment.Ref{}, err
	}
	if other := s.otherImage(ref, sumOf(made.Image)); other != nil {
		return environment.Ref{}, other
	}
	if err := s.start(ctx, made, b); err != nil {
		s.unstart(ctx, made.State.Running)
		return environment.Ref{}, err
	}
	ref.Host = environment.HostFacts{Name: made.Config.Hostname, BootID: made.ID}
	ref.ProviderID, ref.ProviderVersion, ref.Dir = made.ID, s.version(), s.config.workspace()
	return ref, nil
}

// otherImage is the error of a sandbox that was not made from the image that the
// lease, or who runs natively, wants.
func (s *sandbox) otherImage(ref environment.Ref, image string) error {
	for _, wanted := range []*environment.ImageIdentity{ref.Image, ref.Spec.Pinned} {
		if wanted != nil && wanted.ImageID != "" && wanted.ImageID != image {
			return environment.Conflict(environment.CodeSandboxMismatch, "The sandbox "+short(s.id)+" was made from another image.")
		}
	}
	return nil
}

// unstart stops what a failed resume started.
func (s *sandbox) unstart(ctx context.Context, ran bool) {
	if ran {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.limits.Cleanup)
	defer cancel()
	seconds := int(stopTime.Seconds())
	_, _ = s.ContainerStop(ctx, s.id, client.ContainerStopOptions{Timeout: &seconds}) // the failure is what counts
}
