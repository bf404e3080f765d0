package local

import (
	"context"

	"berth/drivers/supervisor"
	"berth/environment"
)

// Exec runs a command under the supervisor, over a /bin/sh of this machine. It
// survives the server until its grace is over, as on any other target.
func (d *Driver) Exec(ctx context.Context, ref environment.Ref, e environment.Exec) (environment.ExecResult, error) {
	d.opts.Log.DebugContext(ctx, "run a command on this server", "run", e.Marker, "resume", e.Resume)
	return supervisor.Exec(ctx, d.open, ref, e)
}
