package ssh

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"berth/environment"

	"github.com/google/uuid"
)

// Acquire connects, makes the workspace folder and reads which machine it is
// on. The connection stays in the pool for the run. Over a connection that was
// in use a moment ago and told all this, nothing is asked again. Errors have a probe's code
// and the detail "stage".
//
// Under strictHostKeyChecking false an unknown key is trusted on first use: the
// Ref's config pins it for the rest of the lease, and Options.OnPin stores it.
func (d *Driver) Acquire(ctx context.Context, spec environment.Spec) (environment.Ref, error) {
	p, err := newPlan(spec.Config, spec)
	if err != nil {
		return environment.Ref{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, d.limits.Total)
	defer cancel()
	if p, err = d.pinFirst(ctx, p); err != nil {
		return environment.Ref{}, err
	}
	run := ""
	if spec.RunID != nil {
		run = spec.RunID.String()
	}
	answered, err := d.prepare(ctx, p, run)
	if err != nil {
		return environment.Ref{}, err
	}
	config, err := json.Marshal(p.config)
	if err != nil {
		return environment.Ref{}, fmt.Errorf("write the lease's ssh config: %w", err)
	}
	return environment.Ref{
		Driver: environment.DriverSSH, Provider: environment.DriverSSH,
		ProviderID: "ssh://" + p.config.Target() + answered.dir,
		Dir:        answered.dir, Host: answered.hostFacts(), Config: config, Spec: spec,
	}, nil
}

// pinFirst connects when a host on the way may be trusted on first use, and
// returns the plan in which it is pinned.
func (d *Driver) pinFirst(ctx context.Context, p *plan) (*plan, error) {
	if p.config.StrictHostKeyChecking {
		return p, nil
	}
	unpinned := false
	for _, ep := range p.hosts {
		unpinned = unpinned || pinsFor(p.known, ep).none()
	}
	if !unpinned {
		return p, nil
	}
	l, f := d.connect(ctx, p, unwatched{})
	if f != nil {
		return nil, f
	}
	defer l.close()
	text := l.pin(p.config.KnownHosts)
	if text == "" {
		return p, nil
	}
	pinned := *p
	pinned.config.KnownHosts, pinned.known = &text, l.known
	if d.opts.OnPin != nil && p.spec.EnvironmentID != uuid.Nil {
		if err := d.opts.OnPin(ctx, p.spec.EnvironmentID, text); err != nil {
			d.log.Warn("store a host key trusted on first use", "environment", p.spec.EnvironmentID, "target", p.config.Target(), "error", err)
		}
	}
	return &pinned, nil
}

// prepare makes the workspace and reads where it is, unless that is known, and
// begins to open the session of the work: of a run, or of any for "".
func (d *Driver) prepare(ctx context.Context, p *plan, run string) (*facts, error) {
	key, err := p.key()
	if err != nil {
		return nil, err
	}
	answered := d.pool.known(key)
	if answered == nil {
		if answered, err = d.examineWorkspace(ctx, p); err != nil {
			return nil, err
		}
	}
	d.openEarly(p, key, run)
	return answered, nil
}

func (d *Driver) examineWorkspace(ctx context.Context, p *plan) (*facts, error) {
	ep := p.target()
	s, conn, err := d.open(ctx, p)
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Close() }()
	answered := &facts{}
	sc := script{mark: newMark(), workspace: p.config.RemoteWorkspacePath}
	if err = d.ask(ctx, s, ep, sc, answered.take); err != nil {
		return nil, err
	}
	switch {
	case answered.dirError != nil:
		e := &examination{p: p, ep: ep, facts: answered}
		return nil, e.noWorkspace()
	case answered.dir == "":
		return nil, fail("shell", environment.CodeShellUnusable, fmt.Sprintf("/bin/sh on %s ended before it answered.", ep), nil)
	}
	d.pool.learn(conn, answered)
	return answered, nil
}

// Release has nothing to destroy: the workspace is the target's own. It is not an
// error to release twice.
func (d *Driver) Release(_ context.Context, ref environment.Ref, _ environment.Disposition) (environment.Receipt, error) {
	if run := ref.Spec.RunID; run != nil {
		d.pool.withdrawRun(run.String())
	}
	return environment.Receipt{Outcome: "released", ProviderID: ref.ProviderID, At: d.now().UTC().Truncate(time.Millisecond), Details: map[string]any{}}, nil
}

// planOf is the plan of a lease: its own config, in which keys trusted on first
// use are pinned, and the secrets of the spec that was filled in again.
func planOf(ref environment.Ref) (*plan, error) {
	config := ref.Config
	if len(config) == 0 {
		config = ref.Spec.Config
	}
	return newPlan(config, ref.Spec)
}
