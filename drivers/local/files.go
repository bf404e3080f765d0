package local

import (
	"context"

	"berth/drivers/folder"
	"berth/environment"
)

// Read lists a folder of the workspace or reads a file, with the errors of
// folder.Read.
func (d *Driver) Read(_ context.Context, ref environment.Ref, name string) (environment.WorkspaceEntry, error) {
	return folder.Read(ref.Dir, name)
}
