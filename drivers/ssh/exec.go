package ssh

import (
	"context"

	"berth/environment"
)

// Exec runs a command under the supervisor, over pooled connections.
func (d *Driver) Exec(ctx context.Context, ref environment.Ref, e environment.Exec) (environment.ExecResult, error) {
	return environment.ExecResult{}, environment.NewError(environment.KindUnsupported, "unsupported", "Commands cannot be run over SSH yet.")
}
