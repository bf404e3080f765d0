package docker

import (
	"context"
	"time"

	"berth/environment"

	"github.com/google/uuid"
	"github.com/moby/moby/api/types/container"
)

// List returns the containers with the installation's label.
func (d *Driver) List(ctx context.Context, spec environment.Spec) ([]environment.Held, error) {
	if spec.InstanceID == uuid.Nil {
		return nil, unlabelled()
	}
	c, err := readConfig(spec.Config)
	if err != nil {
		return nil, err
	}
	e, err := d.engine(ctx, c, spec)
	if err != nil {
		return nil, err
	}
	found, err := e.held(ctx, spec.InstanceID)
	if err != nil {
		return nil, err
	}
	held := make([]environment.Held, len(found))
	for i, c := range found {
		held[i] = environment.Held{ProviderID: c.ID, LeaseKey: c.Labels[labelLease], CreatedAt: time.Unix(c.Created, 0).UTC(),
			Running: c.State == container.StateRunning || c.State == container.StatePaused || c.State == container.StateRestarting}
	}
	return held, nil
}
