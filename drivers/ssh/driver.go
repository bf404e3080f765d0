// Package ssh is the driver for hosts that are reached over SSH. It verifies
// every host key, logs in with what an environment stores and nothing else, and
// never starts an ssh program.
package ssh

import (
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"time"

	"berth/environment"

	"github.com/google/uuid"
)

var (
	_ environment.Driver         = (*Driver)(nil)
	_ environment.Configurer     = (*Driver)(nil)
	_ environment.Prober         = (*Driver)(nil)
	_ environment.Describer      = (*Driver)(nil)
	_ environment.Readier        = (*Driver)(nil)
	_ environment.Execer         = (*Driver)(nil)
	_ environment.Filer          = (*Driver)(nil)
	_ environment.HostKeyScanner = (*Driver)(nil)
	_ environment.KeyTool        = (*Driver)(nil)
	_ environment.Closer         = (*Driver)(nil)
)

// Options are what a Driver takes from its surroundings. Each zero value stands
// for a default.
type Options struct {
	Log *slog.Logger
	// AgentSocket is the socket of the agent of the user who runs the server
	// (SSH_AUTH_SOCK). It is asked only for environments with useAgent.
	AgentSocket string
	// Resolver looks host names up; nil is net.DefaultResolver.
	Resolver *net.Resolver
	Now      func() time.Time
	// OnPin stores the known_hosts text that a run learned on first use, under
	// strictHostKeyChecking false; main hands in catalogue.PinFirstUse. An error
	// is logged and the run goes on: it has its pin in its Ref. A probe returns
	// what it learned in ProbeResult.Pin instead.
	OnPin func(ctx context.Context, environmentID uuid.UUID, knownHosts string) error
	// Limits bound the steps of a connection.
	Limits Limits
}

// Limits bound the steps of reaching a host. The deadline of a context bounds
// them all.
type Limits struct {
	Resolve  time.Duration // one name: 5 s
	Connect  time.Duration // all addresses of a host: 10 s
	Greeting time.Duration // first line of the server: 10 s
	Shell    time.Duration // first answer of /bin/sh: 10 s
	Scan     time.Duration // all host keys of a server: 10 s
	Total    time.Duration // Acquire and reads of files: 30 s
	Idle     time.Duration // a pooled connection without a session: 5 min
}

// Driver reaches hosts over SSH. It holds pooled connections until Close.
type Driver struct {
	log    *slog.Logger
	opts   Options
	limits Limits
	now    func() time.Time
	pool   *pool
}

// New returns the driver. Nothing is dialled before it is used.
func New(opts Options) *Driver {
	d := &Driver{log: opts.Log, opts: opts, limits: opts.Limits, now: opts.Now}
	if d.log == nil {
		d.log = slog.New(slog.DiscardHandler)
	}
	if d.now == nil {
		d.now = time.Now
	}
	if d.opts.Resolver == nil {
		d.opts.Resolver = net.DefaultResolver
	}
	d.limits.fill()
	d.pool = newPool(d.limits.Idle)
	return d
}

func (l *Limits) fill() {
	for _, v := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&l.Resolve, 5 * time.Second}, {&l.Connect, 10 * time.Second}, {&l.Greeting, 10 * time.Second},
		{&l.Shell, 10 * time.Second}, {&l.Scan, 10 * time.Second}, {&l.Total, 30 * time.Second}, {&l.Idle, 5 * time.Minute},
	} {
		if *v.field <= 0 {
			*v.field = v.value
		}
	}
}

// Name returns "ssh".
func (d *Driver) Name() string { return environment.DriverSSH }

// Describe returns "user@host:port".
func (d *Driver) Describe(config json.RawMessage) string {
	var c environment.SSHConfig
	if json.Unmarshal(config, &c) != nil || c.Host == "" {
		return "SSH"
	}
	return c.Target()
}

// Close ends every pooled connection and waits for what served them.
func (d *Driver) Close() error {
	d.pool.close()
	return nil
}
