// Package local is the driver of this machine: runs work as the user who runs
// the server, in one workspace folder, under the same supervisor as on any other
// target. They never see the server's own environment.
package local

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"berth/drivers/shell"
	"berth/environment"
)

var (
	_ environment.Driver     = (*Driver)(nil)
	_ environment.Configurer = (*Driver)(nil)
	_ environment.Describer  = (*Driver)(nil)
	_ environment.Prober     = (*Driver)(nil)
	_ environment.Execer     = (*Driver)(nil)
	_ environment.Filer      = (*Driver)(nil)
)

// Options are what a Driver is made of. All are needed.
type Options struct {
	Log *slog.Logger
	// DataDir is the server's data folder; the workspace is "work" in it.
	DataDir string
	Now     func() time.Time
}

// Driver runs work on this machine.
type Driver struct {
	opts Options
	dir  string
	open shell.Opener
}

// New returns the driver. It touches nothing yet.
func New(o Options) *Driver {
	dir := filepath.Join(o.DataDir, "work")
	if abs, err := filepath.Abs(dir); err == nil { // it fails only without a current folder
		dir = abs
	}
	return &Driver{opts: o, dir: dir, open: shell.Process("/bin/sh", cleanEnv(dir))}
}

// Name is "local".
func (d *Driver) Name() string { return environment.DriverLocal }

// Acquire makes the workspace folder. An Error of code workspace_missing comes
// back when it cannot be made, workspace_not_writable when it cannot be used.
func (d *Driver) Acquire(ctx context.Context, spec environment.Spec) (environment.Ref, error) {
	if err := prepare(d.dir); err != nil {
		return environment.Ref{}, err
	}
	host, err := d.host(ctx)
	if err != nil {
		return environment.Ref{}, err
	}
	config := spec.Config
	if len(config) == 0 {
		config = json.RawMessage("{}")
	}
	return environment.Ref{
		Driver: environment.DriverLocal, Provider: environment.DriverLocal, ProviderID: "local://" + host.Name + d.dir,
		Dir: d.dir, Host: host, Config: config, Spec: spec,
	}, nil
}

// Release has nothing to end: the workspace is every run's, and stays.
func (d *Driver) Release(_ context.Context, ref environment.Ref, disposition environment.Disposition) (environment.Receipt, error) {
	outcome := "released"
	if _, err := os.Stat(ref.Dir); err != nil {
		outcome = "gone"
	}
	return environment.Receipt{Outcome: outcome, ProviderID: ref.ProviderID, At: d.opts.Now().UTC(),
		Details: map[string]any{"disposition": string(disposition)}}, nil
}
