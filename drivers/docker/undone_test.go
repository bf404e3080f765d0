package docker_test

import (
	"context"
	"errors"
	"testing"

	"berth/drivers/docker"
	"berth/environment"
)

// TestCancelledStartSaysThatNothingIsLeft: who gives up a start hears the engine's
// word that the sandbox is gone, and need not wait for it.
func TestCancelledStartSaysThatNothingIsLeft(t *testing.T) {
	t.Parallel()
	e := shared.Engine(t)
	d := driver(t, docker.Options{})
	spec := specOf(t, e, e.Unhealthy(t))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	spec.Report = func(s environment.Stage) {
		if s.Name == "start" && s.Status == environment.StageRunning && s.Measured["status"] != nil {
			cancel()
		}
	}
	_, err := d.Acquire(ctx, spec)
	undone, ok := errors.AsType[*environment.Undone](err)
	if !ok || !errors.Is(err, context.Canceled) || undone.Receipt.Outcome != "destroyed" || len(undone.Receipt.ProviderID) != 64 {
		t.Errorf("got %v (%+v), want the receipt of what is gone", err, undone)
	}
	if held := e.IDs(t, "berth.instance="+spec.InstanceID.String()); len(held) > 0 {
		t.Errorf("left behind: %v", held)
	}
}
