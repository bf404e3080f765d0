package ssh

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"berth/environment"

	gossh "golang.org/x/crypto/ssh"
)

// pool keeps the connections of runs, several sessions on each. A probe never
// uses it: it has to see what a new connection sees.
type pool struct {
	idle   time.Duration
	mu     sync.Mutex
	routes map[poolKey]*pooled
	early  map[poolKey][]*early
	closed bool
	served sync.WaitGroup
}

// poolKey stands for everything that a connection depends on, secrets among it.
type poolKey [sha256.Size]byte

func newPool(idle time.Duration) *pool {
	return &pool{idle: idle, routes: map[poolKey]*pooled{}, early: map[poolKey][]*early{}}
}

// key of a plan. The hash stays in memory.
func (p *plan) key() (poolKey, error) {
	revealed := map[string]string{}
	for name, secret := range p.spec.Secrets {
		revealed[name] = secret.Reveal()
	}
	text, err := json.Marshal(struct {
		ID       string
		Config   environment.SSHConfig
		Secrets  map[string]string
		Problems map[string]string
	}{p.spec.EnvironmentID.String(), p.config, revealed, p.spec.SecretProblems})
	if err != nil {
		return poolKey{}, fmt.Errorf("name a pooled connection: %w", err)
	}
	return sha256.Sum256(text), nil
}

// pooled are the connections of one key. dialling lets one dial at a time, so
// that runs that start together share a connection.
type pooled struct {
	dialling chan struct{}
	conns    []*connection
}

// connection is one of the pool's connections.
type connection struct {
	link     *link
	done     chan struct{} // closed when the connection is over
	sessions int
	// full is set when the server refused a session beside the others, and
	// cleared when one of them ends.
	full  bool
	used  time.Time
	facts *facts // what Acquire was answered over it
}

var errPoolClosed = errors.New("the driver was closed")

// channel opens a session channel of a plan on a pooled connection, or on a new
// one: when none is open, when those that are open are broken, or when the
// server allows no more sessions on them. release must be called once.
func (d *Driver) channel(ctx context.Context, p *plan) (*gossh.Session, *connection, func(), error) {
	key, err := p.key()
	if err != nil {
		return nil, nil, nil, err
	}
	tried, refusals := map[*connection]bool{}, 0
	for {
		conn, fresh, err := d.connection(ctx, p, key, tried)
		if err != nil {
			return nil, nil, nil, err
		}
		session, err := newSession(ctx, conn.link.client())
		if err == nil {
			return session, conn, func() { d.pool.release(conn) }, nil
		}
		tried[conn] = true
		alone := d.pool.refused(key, conn, err)
		if ctx.Err() != nil {
			return nil, nil, nil, timedOut("shell", p.target(), 0, err)
		}
		if fresh && alone {
			refusals++
		}
		if refusals > 1 { // once may be others' doing, who took its slots and are gone again
			return nil, nil, nil, fail("shell", environment.CodeShellUnusable,
				fmt.Sprintf("%s refuses to open a session (SSH channel).", p.target().capital()), err)
		}
	}
}

// newSession opens a session channel. When ctx ends first, the channel is
// closed as soon as it comes.
func newSession(ctx context.Context, client *gossh.Client) (*gossh.Session, error) {
	type opened struct {
		session *gossh.Session
		err     error
	}
	result := make(chan opened, 1)
	go func() { // ends with the server's answer or with the connection
		session, err := client.NewSession()
		result <- opened{session, err}
	}()
	select {
	case r := <-result:
		return r.session, r.err
	case <-ctx.Done():
		go func() {
			if r := <-result; r.session != nil {
				_ = r.session.Close()
			}
		}()
		return nil, context.Cause(ctx)
	}
}

// connection returns a connection with a session counted on it, dialled if
// need be. fresh says that it was dialled for this call.
func (d *Driver) connection(ctx context.Context, p *plan, key poolKey, tried map[*connection]bool) (_ *connection, fresh bool, _ error) {
	route, conn, err := d.pool.pick(key, tried)
	if conn != nil || err != nil {
		return conn, false, err
	}
	select {
	case route.dialling <- struct{}{}:
		defer func() {
			<-route.dialling
			d.pool.drop(key, nil) // the route, when nothing came of it
		}()
	case <-ctx.Done():
		return nil, false, timedOut("connect", p.target(), 0, ctx.Err())
	}
	if _, conn, err = d.pool.pick(key, tried); conn != nil || err != nil {
		return conn, false, err // somebody else dialled meanwhile
	}
	ctx, cancel := context.WithTimeout(ctx, d.limits.Total)
	defer cancel()
	l, f := d.connect(ctx, p, unwatched{})
	if f != nil {
		return nil, false, f
	}
	conn = &connection{link: l, done: make(chan struct{}), sessions: 1, used: time.Now()}
	if err := d.pool.add(key, route, conn, time.Duration(p.config.KeepAliveSec)*time.Second); err != nil {
		l.close()
		return nil, false, err
	}
	return conn, true, nil
}

// pick returns the first connection that takes another session, with that
// session counted; none when there is none.
func (p *pool) pick(key poolKey, tried map[*connection]bool) (*pooled, *connection, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, nil, errPoolClosed
	}
	route := p.routes[key]
	if route == nil {
		route = &pooled{dialling: make(chan struct{}, 1)}
		p.routes[key] = route
	}
	for _, conn := range route.conns {
		if !conn.full && !tried[conn] {
			conn.sessions++
			return route, conn, nil
		}
	}
	return route, nil, nil
}

// add serves a new connection until it is over.
func (p *pool) add(key poolKey, route *pooled, conn *connection, keepAlive time.Duration) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return errPoolClosed
	}
	p.place(key, route, conn)
	p.served.Go(func() {
		defer close(conn.done)
		_ = conn.link.client().Wait() // why it ended shows in what used it
		p.drop(key, conn)
		conn.link.close()
	})
	p.served.Go(func() { p.attend(conn, keepAlive) })
	return nil
}

// place puts a connection where pick and close find it.
func (p *pool) place(key poolKey, route *pooled, conn *connection) {
	if now := p.routes[key]; now != nil {
		route = now // the other was forgotten while it was dialled, and begun anew
	}
	p.routes[key] = route
	route.conns = append(route.conns, conn)
}

// release takes a session off a connection.
func (p *pool) release(conn *connection) {
	p.mu.Lock()
	defer p.mu.Unlock()
	conn.sessions--
	conn.full = false
	conn.used = time.Now()
}

// refused notes that a connection did not open a session, and reports whether
// there was no other session on it. A server that only refuses another one keeps
// its connection; any other error means that the connection is of no use.
func (p *pool) refused(key poolKey, conn *connection, err error) (alone bool) {
	p.mu.Lock()
	conn.sessions--
	_, only := errors.AsType[*gossh.OpenChannelError](err)
	alone = conn.sessions == 0
	conn.full = only
	p.mu.Unlock()
	if !only || alone {
		p.drop(key, conn)
		conn.link.close()
	}
	return alone
}

// drop forgets a connection, and the route that has none and dials none.
func (p *pool) drop(key poolKey, conn *connection) {
	p.mu.Lock()
	defer p.mu.Unlock()
	route := p.routes[key]
	if route == nil {
		return
	}
	route.conns = slices.DeleteFunc(route.conns, func(c *connection) bool { return c == conn })
	if len(route.conns) == 0 && len(route.dialling) == 0 {
		delete(p.routes, key)
	}
}

func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	var conns []*connection
	for _, route := range p.routes {
		conns = append(conns, route.conns...)
	}
	p.mu.Unlock()
	for _, conn := range conns {
		conn.link.close()
	}
	p.endEarly()
	p.served.Wait()
}
