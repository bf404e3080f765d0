package local

import (
	"os"

	"berth/environment"
)

// prepare makes the workspace folder and tries that it can be written to.
func prepare(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return environment.Unavailable(environment.CodeWorkspaceMissing, "The workspace folder "+dir+" on this server cannot be made.").
			Remedy(environment.Remedy(environment.CodeWorkspaceMissing)).With("stage", "host").Because(err)
	}
	f, err := os.CreateTemp(dir, ".berth-*")
	if err == nil {
		_ = f.Close() // nothing was written
		err = os.Remove(f.Name())
	}
	if err != nil {
		return environment.Unavailable(environment.CodeWorkspaceNotWritable, "The workspace folder "+dir+" on this server cannot be written to.").
			Remedy(environment.Remedy(environment.CodeWorkspaceNotWritable)).With("stage", "host").Because(err)
	}
	return nil
}
