// Package docker is the sandbox provider over Docker's engine API, which Podman
// speaks too.
package docker

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"time"

	"berth/environment"
)

var (
	_ environment.Driver       = (*Driver)(nil)
	_ environment.Provided     = (*Driver)(nil)
	_ environment.Configurer   = (*Driver)(nil)
	_ environment.Schemer      = (*Driver)(nil)
	_ environment.Describer    = (*Driver)(nil)
	_ environment.Prober       = (*Driver)(nil)
	_ environment.Execer       = (*Driver)(nil)
	_ environment.Filer        = (*Driver)(nil)
	_ environment.Resumer      = (*Driver)(nil)
	_ environment.Sheller      = (*Driver)(nil)
	_ environment.Capturer     = (*Driver)(nil)
	_ environment.ImageDeleter = (*Driver)(nil)
	_ environment.Identifier   = (*Driver)(nil)
	_ environment.Lister       = (*Driver)(nil)
	_ environment.Budgeter     = (*Driver)(nil)
	_ environment.Closer       = (*Driver)(nil)
)

// Options are what a Driver takes from its surroundings. Each zero value stands
// for a default.
type Options struct {
	Log *slog.Logger
	Now func() time.Time
	// DialSSH opens a connection to a unix socket of a host that is reached over
	// SSH; spec is one of the ssh driver's. Nil: engines behind SSH are refused.
	DialSSH func(ctx context.Context, spec environment.Spec, socket string) (net.Conn, error)
	Limits  Limits
}

// Limits bound what an engine may take. The deadline of a context bounds all.
type Limits struct {
	Dial    time.Duration // a connection to the engine: 10 s
	Call    time.Duration // one answer of the engine: 60 s
	Cleanup time.Duration // removing what a failed Acquire made: 60 s
	Idle    time.Duration // an engine that is not used is forgotten: 10 min
}

// Driver makes sandboxes on Docker engines. It holds idle connections until
// Close.
type Driver struct {
	log     *slog.Logger
	now     func() time.Time
	dialSSH func(context.Context, environment.Spec, string) (net.Conn, error)
	limits  Limits
	engines *engines
}

// New returns the driver. Nothing is dialled before it is used.
func New(opts Options) *Driver {
	d := &Driver{log: opts.Log, now: opts.Now, dialSSH: opts.DialSSH, limits: opts.Limits}
	if d.log == nil {
		d.log = slog.New(slog.DiscardHandler)
	}
	if d.now == nil {
		d.now = time.Now
	}
	d.limits.fill()
	d.engines = newEngines(d.limits.Idle)
	return d
}

func (l *Limits) fill() {
	for _, v := range []struct {
		field *time.Duration
		value time.Duration
	}{{&l.Dial, 10 * time.Second}, {&l.Call, time.Minute}, {&l.Cleanup, time.Minute}, {&l.Idle, 10 * time.Minute}} {
		if *v.field <= 0 {
			*v.field = v.value
		}
	}
}

// Name returns "sandbox".
func (d *Driver) Name() string { return environment.DriverSandbox }

// Provider returns "docker".
func (d *Driver) Provider() string { return environment.ProviderDocker }

// Describe returns "docker: image on engine".
func (d *Driver) Describe(config json.RawMessage) string {
	c, err := readConfig(config)
	if err != nil || c.Image == "" {
		return "docker"
	}
	return fmt.Sprintf("docker: %s on %s", c.Image, c.endpoint().shown())
}

// Place names the engine: its address with the defaults written out.
func (d *Driver) Place(config json.RawMessage) string {
	c, err := readConfig(config)
	if err != nil {
		return "docker"
	}
	return c.endpoint().String()
}

// StartupBudget is how long a sandbox may take from the first call to the engine
// until it can be used, an image's pull and health check among it.
func (d *Driver) StartupBudget(config json.RawMessage) time.Duration {
	c, err := readConfig(config)
	if err != nil || c.StartupTimeoutSec == 0 {
		return environment.DefaultStartupBudget
	}
	return min(time.Duration(c.StartupTimeoutSec)*time.Second, environment.MaxStartupBudget)
}

// Close lets go of every idle connection.
func (d *Driver) Close() error {
	d.engines.close()
	return nil
}
