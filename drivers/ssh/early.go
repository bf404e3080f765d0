package ssh

import (
	"context"
	"slices"
	"time"

	"berth/drivers/shell"
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

// early is a session that is opened while its lease is being written down, so
// that the work need not wait for it.
type early struct {
	opened chan *session // gets the session, or is closed without one
	expiry *time.Timer
}

// end closes the session once it is there.
func (e *early) end() {
	if s := <-e.opened; s != nil {
		_ = s.Close() // nothing was asked of it
	}
}

// openEarly begins to open a session, which is closed when no work takes it.
func (d *Driver) openEarly(p *plan, key poolKey) {
	e := &early{opened: make(chan *session, 1)}
	d.pool.mu.Lock()
	defer d.pool.mu.Unlock()
	if d.pool.closed {
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
		if s, _, err := d.open(ctx, p); err == nil {
			e.opened <- s
		}
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

// takeEarly returns a session that was opened early; nil when there is none.
func (p *pool) takeEarly(ctx context.Context, key poolKey) *session {
	p.mu.Lock()
	var first *early
	if waiting := p.early[key]; len(waiting) > 0 {
		first = waiting[0]
	}
	p.mu.Unlock()
	if first == nil || !p.withdraw(key, first) {
		return nil
	}
	first.expiry.Stop()
	select {
	case s := <-first.opened:
		if s != nil && s.over() {
			_ = s.Close() // its connection broke meanwhile
			return nil
		}
		return s
	case <-ctx.Done():
		go first.end() // ends with the opening, which has a limit
		return nil
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
func (d *Driver) workOpener(p *plan, key poolKey) shell.Opener {
	first, open := true, d.opener(p)
	return func(ctx context.Context) (shell.Session, error) {
		if first {
			first = false
			if s := d.pool.takeEarly(ctx, key); s != nil {
				return s, nil
			}
		}
		return open(ctx)
	}
}
