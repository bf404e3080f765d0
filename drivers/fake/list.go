package fake

import (
	"context"

	"berth/environment"
)

// List returns this installation's sandboxes.
func (d *Driver) List(ctx context.Context, spec environment.Spec) ([]environment.Held, error) {
	if _, err := d.step(ctx, environment.Ref{Spec: spec}, "list"); err != nil {
		return nil, err
	}
	all, err := d.world.all()
	if err != nil {
		return nil, environment.Unavailable(environment.CodeEngineUnreachable, "The fake sandboxes cannot be listed.").Because(err)
	}
	var held []environment.Held
	for _, s := range all {
		if s.InstanceID == spec.InstanceID {
			held = append(held, environment.Held{ProviderID: s.ID, LeaseKey: s.LeaseKey, CreatedAt: s.CreatedAt, Running: s.Running})
		}
	}
	return held, nil
}
