package ssh

import (
	"context"

	"berth/drivers/supervisor"
	"berth/environment"
)

// Exec runs a command under the supervisor of the target, over sessions on
// pooled connections: one that breaks is dialled again, and every host key is
// checked again by the lease's own pins.
//
// Where Acquire went by what it knew and the workspace has gone since, nothing
// was started: the workspace is made again, and the command started in it.
func (d *Driver) Exec(ctx context.Context, ref environment.Ref, e environment.Exec) (environment.ExecResult, error) {
	p, err := planOf(ref)
	if err != nil {
		return environment.ExecResult{}, err
	}
	key, err := p.key()
	if err != nil {
		return environment.ExecResult{}, err
	}
	wasKnown := d.pool.known(key) != nil
	result, err := supervisor.Exec(ctx, d.workOpener(p, key, e.Marker), ref, e)
	if environment.CodeOf(err) != environment.CodeWorkspaceMissing || e.Resume || !wasKnown {
		return result, err
	}
	d.pool.forget(key)
	if _, made := d.prepare(ctx, p, e.Marker); made != nil {
		return result, err
	}
	return supervisor.Exec(ctx, d.workOpener(p, key, e.Marker), ref, e)
}
