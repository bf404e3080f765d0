package docker

import (
	"context"
	"fmt"
	"time"

	"berth/environment"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"
)

// Release ends what Acquire made, as far as the disposition says, and asks the
// engine what became of it. A sandbox that is not there gives "gone". One with
// other labels is KindConflict sandbox_mismatch and left alone; one that is still
// there afterwards is KindUnavailable cleanup_unconfirmed.
func (d *Driver) Release(ctx context.Context, ref environment.Ref, how environment.Disposition) (environment.Receipt, error) {
	s, err := d.sandboxOf(ctx, ref)
	if err != nil {
		return environment.Receipt{}, err
	}
	if s.id == "" {
		found, err := s.find(ctx)
		if err != nil {
			return environment.Receipt{}, err
		}
		if !found {
			return d.receipt(s, ref.ProviderID, "gone"), nil
		}
	}
	outcome, err := s.release(ctx, how)
	if environment.CodeOf(err) == environment.CodeSandboxGone {
		outcome, err = "gone", nil
	}
	if err != nil {
		return environment.Receipt{}, err
	}
	id := ref.ProviderID
	if id == "" {
		id = s.id
	}
	return d.receipt(s, id, outcome), nil
}

// outcomeDestroyed is the word of a receipt for what is gone by Berth's doing.
const outcomeDestroyed = "destroyed"

func (d *Driver) receipt(s *sandbox, id, outcome string) environment.Receipt {
	return environment.Receipt{Outcome: outcome, ProviderID: id, At: d.now(),
		Details: map[string]any{"engine": s.at.shown(), "version": s.version(), "confirmedBy": "inspect"}}
}

func (s *sandbox) release(ctx context.Context, how environment.Disposition) (string, error) {
	switch how {
	case environment.Keep:
		_, err := s.inspect(ctx)
		return "released", err
	case environment.StopAndRetain:
		return "stopped", s.halt(ctx)
	}
	return outcomeDestroyed, s.destroy(ctx)
}

// halt stops the container and sees that it does not run.
func (s *sandbox) halt(ctx context.Context) error {
	if _, err := s.inspect(ctx); err != nil {
		return err
	}
	limited, cancel := s.call(ctx)
	defer cancel()
	seconds := int(stopTime.Seconds())
	if _, err := s.ContainerStop(limited, s.id, client.ContainerStopOptions{Timeout: &seconds}); err != nil && !errdefs.IsNotFound(err) {
		return s.explain(ctx, err, environment.CodeCleanupUnconfirmed, "stop the sandbox")
	}
	now, err := s.inspect(ctx)
	if err == nil && now.State.Running {
		return environment.Unavailable(environment.CodeCleanupUnconfirmed, fmt.Sprintf("The engine at %s says that the sandbox %s still runs.", s.at.shown(), short(s.id)))
	}
	return err
}

// removals is how often a removal is tried in one call: another may be under way.
const removals = 5

// destroy removes the container with its volumes and sees that it is gone.
func (s *sandbox) destroy(ctx context.Context) error {
	made, err := s.inspect(ctx)
	if err != nil {
		return err
	}
	s.id = made.ID // a name could be another's by now
	var last error
	for try := range removals {
		limited, cancel := s.call(ctx)
		_, last = s.ContainerRemove(limited, s.id, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
		cancel()
		_, err := s.inspect(ctx)
		switch environment.CodeOf(err) {
		case environment.CodeSandboxGone:
			return nil
		case "":
		default:
			return err
		}
		select {
		case <-time.After(100 * time.Millisecond << try):
		case <-ctx.Done():
			return late(ctx, "The sandbox was not removed in time.")
		}
	}
	if last != nil {
		return s.explain(ctx, last, environment.CodeCleanupUnconfirmed, "remove the sandbox")
	}
	return environment.Unavailable(environment.CodeCleanupUnconfirmed, fmt.Sprintf("The engine at %s still has the sandbox %s.", s.at.shown(), short(s.id)))
}
