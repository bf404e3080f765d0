package ssh

import (
	"context"

	"berth/drivers/supervisor"
	"berth/environment"
)

// Exec runs a command under the supervisor of the target, over sessions on
// pooled connections: one that breaks is dialled again, and every host key is
// checked again by the lease's own pins.
func (d *Driver) Exec(ctx context.Context, ref environment.Ref, e environment.Exec) (environment.ExecResult, error) {
	p, err := planOf(ref)
	if err != nil {
		return environment.ExecResult{}, err
	}
	return supervisor.Exec(ctx, d.opener(p), ref, e)
}
