package ssh

import (
	"context"
	"slices"
	"time"

	"berth/drivers/shell"
	"berth/drivers/supervisor"
	"berth/environment"
)

// What is known of a connection that was just in use.
const (
	// provenFor is how long after its last session a connection is taken to be
	// alive, and what was read over it to be so still: a host's name, its boot,
	// where the workspace is. The work itself finds out when it is not.
	provenFor = time.Minute
	// earlyLimit is how long a session that was opened early waits for its work.
	earlyLimit = 5 * time.Second
)

// learn keeps what a target answered, for as long as the connection lives.
func (p *pool) learn(conn *connection, answered *facts) {
	p.mu.Lock()
	defer p.mu.Unlock()
	conn.facts = answered
}

// known returns what was answered over a connection that was used a moment ago;
// nil when there is none.
func (p *pool) known(key poolKey) *facts {
	p.mu.Lock()
	defer p.mu.Unlock()
	if route := p.routes[key]; route != nil {
		for _, conn := range route.conns {
			if conn.facts != nil && (conn.sessions > 0 || time.Since(conn.used) < provenFor) {
				return conn.facts
			}
		}
	}
	return nil
}

// forget makes the next Acquire ask again.
func (p *pool) forget(key poolKey) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if route := p.routes[key]; route != nil {
		for _, conn := range route.conns {
			conn.facts = nil
		}
	}
}

// early is a session that is opened and prepared while its run and lease are being
// written down, so that the work need not wait for it.
type early struct {
	run    string           // marker of the run that it is for; "" is anybody's
	opened chan *earlyShell // gets the session, or is closed without one
	expiry *time.Timer
}

// earlyShell is a session as it is opened early.
type earlyShell struct {
	*session
	ready shell.Session // the same, prepared
}

// end closes the session once it is there.
func (e *early) end() {
	if s := <-e.opened; s != nil {
		_ = s.Close() // nothing was asked of it
	}
}

// Ready begins to open the session of a run, over a connection that was in use a
// moment ago; where there is none Acquire does it.
func (d *Driver) Ready(spec environment.Spec) (done func()) {
	if spec.RunID == nil {
		return func() {}
	}
	run := spec.RunID.String()
	if p, err := newPlan(spec.Config, spec); err == nil {
		if key, err := p.key(); err == nil && d.pool.known(key) != nil {
			d.openEarly(p, key, run)
		}
	}
	return func() { d.pool.withdrawRun(run) }
}

// openEarly begins to open a session for a run, if that has none yet; "" stands for
// any work. It is closed when no work takes it.
func (d *Driver) openEarly(p *plan, key poolKey, run string) {
	e := &early{run: run, opened: make(chan *earlyShell, 1)}
	d.pool.mu.Lock()
	defer d.pool.mu.Unlock()
	begun := run != "" && slices.ContainsFunc(d.pool.early[key], func(other *early) bool { return other.run == run })
	if d.pool.closed || begun {
		return
	}
	d.pool.early[key] = append(d.pool.early[key], e)
	e.expiry = time.AfterFunc(earlyLimit, func() {
		if d.pool.withdraw(key, e) {
			e.end()
		}
	})
	d.pool.served.Go(func() {
		defer close(e.opened)
		ctx, cancel := context.WithTimeout(context.Background(), earlyLimit)
		defer cancel()
		s, _, err := d.open(ctx, p)
		if err != nil {
			return
		}
		defer context.AfterFunc(ctx, func() { _ = s.Close() })() // it need not take what it is sent
		ready, err := supervisor.Prepare(s)
		if err != nil {
			_ = s.Close()
			return
		}
		e.opened <- &earlyShell{s, ready}
	})
}

// withdraw takes an early session out of the pool; false when it is not there
// any more.
func (p *pool) withdraw(key poolKey, e *early) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := len(p.early[key])
	p.early[key] = slices.DeleteFunc(p.early[key], func(other *early) bool { return other == e })
	found := len(p.early[key]) < before
	if len(p.early[key]) == 0 {
		delete(p.early, key)
	}
	return found
}

// takeEarly returns a session that was opened early for a run, or for anybody;
// nil when there is none.
func (p *pool) takeEarly(ctx context.Context, key poolKey, run string) shell.Session {
	p.mu.Lock()
	var first *early
	for _, e := range p.early[key] {
		if e.run == run || e.run == "" && first == nil {
			first = e
		}
	}
	p.mu.Unlock()
	if first == nil || !p.withdraw(key, first) {
		return nil
	}
	first.expiry.Stop()
	select {
	case s := <-first.opened:
		if s == nil {
			return nil
		}
		if s.over() {
			_ = s.Close() // its connection broke meanwhile
			return nil
		}
		return s.ready
	case <-ctx.Done():
		go first.end() // ends with the opening, which has a limit
		return nil
	}
}

// withdrawRun ends the sessions that were opened early for a run.
func (p *pool) withdrawRun(run string) {
	p.mu.Lock()
	found := map[*early]poolKey{}
	for key, waiting := range p.early {
		for _, e := range waiting {
			if e.run == run {
				found[e] = key
			}
		}
	}
	p.mu.Unlock()
	for e, key := range found {
		if p.withdraw(key, e) {
			e.expiry.Stop()
			go e.end() // ends with the opening, which has a limit
		}
	}
}

// endEarly closes what no work took; the pool is closed.
func (p *pool) endEarly() {
	p.mu.Lock()
	waiting := p.early
	p.early = map[poolKey][]*early{} // a timer that has fired already still looks into it
	p.mu.Unlock()
	for _, list := range waiting {
		for _, e := range list {
			e.expiry.Stop()
			e.end()
		}
	}
}

// workOpener opens the sessions of work under a lease, the first of which may be
// there already.
func (d *Driver) workOpener(p *plan, key poolKey, run string) shell.Opener {
	first, open := true, d.opener(p)
	return func(ctx context.Context) (shell.Session, error) {
		if first {
			first = false
			if s := d.pool.takeEarly(ctx, key, run); s != nil {
				return s, nil
			}
		}
		return open(ctx)
	}
}
