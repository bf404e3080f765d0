// Package fake is the scriptable sandbox provider for tests, previews and the
// demo. Its sandboxes are folders and processes of this machine, no walls: what
// runs in one runs as the server's own user. Its world is a folder, which several
// processes may share and which a process that is killed leaves as it was.
package fake

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"time"

	"berth/drivers/folder"
	"berth/environment"
)

var (
	_ environment.Driver       = (*Driver)(nil)
	_ environment.Provided     = (*Driver)(nil)
	_ environment.Schemer      = (*Driver)(nil)
	_ environment.Configurer   = (*Driver)(nil)
	_ environment.Describer    = (*Driver)(nil)
	_ environment.Budgeter     = (*Driver)(nil)
	_ environment.Prober       = (*Driver)(nil)
	_ environment.Execer       = (*Driver)(nil)
	_ environment.Filer        = (*Driver)(nil)
	_ environment.Sheller      = (*Driver)(nil)
	_ environment.Resumer      = (*Driver)(nil)
	_ environment.Identifier   = (*Driver)(nil)
	_ environment.Lister       = (*Driver)(nil)
	_ environment.Capturer     = (*Driver)(nil)
	_ environment.ImageDeleter = (*Driver)(nil)
)

// Options are what a Driver is made of. All but Crash are needed.
type Options struct {
	Log *slog.Logger
	// Dir is the world. It is made when something is put there.
	Dir string
	Now func() time.Time
	// Crash ends this process at once, as kill -9 does, where a script says so. Nil:
	// such a step fails.
	Crash func()
}

// Driver makes sandboxes that do as their script says.
type Driver struct {
	opts  Options
	world world
}

// New returns the driver. It touches nothing yet.
func New(o Options) *Driver {
	dir := o.Dir
	if abs, err := filepath.Abs(dir); err == nil { // it fails only without a current folder
		dir = abs
	}
	return &Driver{opts: o, world: world{dir: dir}}
}

// Name is "sandbox".
func (d *Driver) Name() string { return environment.DriverSandbox }

// Provider is "fake".
func (d *Driver) Provider() string { return environment.ProviderFake }

// Describe names the image.
func (d *Driver) Describe(config json.RawMessage) string {
	c, err := readConfig(config)
	if err != nil {
		return "fake sandbox"
	}
	return "fake sandbox of " + c.image()
}

// Place is the world.
func (d *Driver) Place(json.RawMessage) string { return "fake://" + d.world.dir }

// Read lists a folder of the workspace or reads a file, with the errors of
// folder.Read.
func (d *Driver) Read(ctx context.Context, ref environment.Ref, path string) (environment.WorkspaceEntry, error) {
	s, err := d.live(ref)
	if err != nil {
		return environment.WorkspaceEntry{}, err
	}
	if _, err := d.step(ctx, ref, "read"); err != nil {
		return environment.WorkspaceEntry{}, err
	}
	if err := d.world.use(s.ID); err != nil {
		return environment.WorkspaceEntry{}, gone(s.ID)
	}
	return folder.Read(ref.Dir, path)
}

// configOf is the config that a Ref was made with.
func configOf(ref environment.Ref) json.RawMessage {
	if len(ref.Config) > 0 {
		return ref.Config
	}
	return ref.Spec.Config
}

func gone(id string) error {
	return environment.NewError(environment.KindNotFound, environment.CodeSandboxGone, "The fake sandbox "+cmp.Or(id, "of this lease")+" does not exist any more.").
		Remedy(environment.Remedy(environment.CodeSandboxGone))
}
