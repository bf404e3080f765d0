package ssh

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"

	"berth/environment"

	gossh "golang.org/x/crypto/ssh"
	"golang.org/x/sync/errgroup"
)

// scanParallel bounds the handshakes of one scan, so that a server's MaxStartups
// is not met.
const scanParallel = 3

// noAlgorithm is a host key algorithm that no server has: asked for it, a
// server answers with the list of those that it does have.
const noAlgorithm = "none@berth"

// ScanHostKeys asks a server for its keys of every type, without logging in to
// it; jump hosts on the way are verified and logged in to. When one of them is
// not trusted yet, its keys are returned instead of the target's: they come
// first, and their lines name it. Errors have a probe code.
func (d *Driver) ScanHostKeys(ctx context.Context, spec environment.Spec) ([]environment.HostKey, error) {
	p, err := newPlan(spec.Config, spec)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, d.limits.Scan)
	defer cancel()
	l := &link{known: slices.Clone(p.known)}
	defer l.close()
	if f := d.extend(ctx, p, l, p.hosts[:len(p.hosts)-1], unwatched{}); f != nil {
		if f.err.Code == environment.CodeHostKeyUnknown && len(f.presented) > 0 {
			return f.presented, nil
		}
		return nil, f
	}
	ep := p.target()
	conn, f := d.reach(ctx, l, ep, unwatched{})
	if f != nil {
		return nil, f
	}
	keys, f := d.scan(ctx, conn, d.again(l, ep, conn), ep)
	if f != nil {
		return nil, f
	}
	hostKeys := make([]environment.HostKey, 0, len(keys))
	for _, key := range keys {
		hostKeys = append(hostKeys, hostKeyOf(ep.name(), key))
	}
	return hostKeys, nil
}

// dialer opens one more connection to a host that answered before.
type dialer func(context.Context) (net.Conn, error)

// again dials the same address as conn, by the same way.
func (d *Driver) again(l *link, ep endpoint, conn net.Conn) dialer {
	if len(l.clients) > 0 {
		via := l.client()
		return func(ctx context.Context) (net.Conn, error) { return via.DialContext(ctx, "tcp", ep.address()) }
	}
	address := conn.RemoteAddr().String()
	return func(ctx context.Context) (net.Conn, error) {
		var dialer net.Dialer
		return dialer.DialContext(ctx, "tcp", address)
	}
}

// presented is every key that a server has, as far as it can be learned: at
// least the one that was seen already.
func (d *Driver) presented(ctx context.Context, dial dialer, ep endpoint, seen gossh.PublicKey) []gossh.PublicKey {
	ctx, cancel := context.WithTimeout(ctx, d.limits.Scan)
	defer cancel()
	var keys []gossh.PublicKey
	if conn, err := dial(ctx); err == nil {
		keys, _ = d.scan(ctx, conn, dial, ep) // what was seen already is enough
	}
	if cert, ok := seen.(*gossh.Certificate); ok {
		seen = cert.Key
	}
	if seen != nil && !holds(keys, seen) {
		keys = append(keys, seen)
	}
	return keys
}

// scan learns from conn, which it closes, which key types the server has, and
// then each of the keys.
func (d *Driver) scan(ctx context.Context, conn net.Conn, dial dialer, ep endpoint) ([]gossh.PublicKey, *failure) {
	_, f, cause := d.peek(ctx, conn, ep, noAlgorithm)
	if f != nil {
		return nil, f
	}
	offer, ok := errors.AsType[*gossh.AlgorithmNegotiationError](cause)
	if !ok {
		return nil, fail("host_key", environment.CodeNotSSH, fmt.Sprintf("%s broke off during the SSH key exchange.", ep.capital()), cause)
	}
	var wanted []string
	for _, algorithm := range plainAlgorithms() {
		known := slices.ContainsFunc(wanted, func(w string) bool { return keyTypeOf(w) == keyTypeOf(algorithm) })
		if slices.Contains(offer.RequestedAlgorithms, algorithm) && !known {
			wanted = append(wanted, algorithm)
		}
	}
	if len(wanted) == 0 {
		offer.SupportedAlgorithms = plainAlgorithms()
		return nil, noCommon(ep, offer)
	}
	keys := make([]gossh.PublicKey, len(wanted))
	var last error
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(scanParallel)
	for i, algorithm := range wanted {
		group.Go(func() error {
			conn, err := dial(ctx)
			if err == nil {
				keys[i], _, err = d.peek(ctx, conn, ep, algorithm)
			}
			if err != nil {
				mu.Lock()
				defer mu.Unlock()
				last = err // one type that fails leaves the others
			}
			return nil
		})
	}
	_ = group.Wait() // its functions return no errors
	keys = slices.DeleteFunc(keys, func(k gossh.PublicKey) bool { return k == nil })
	if len(keys) == 0 {
		return nil, asFailure(last, "host_key", ep)
	}
	return keys, nil
}

// peek begins a handshake for one host key algorithm and ends it when the key
// was presented, before any login. It closes conn. The error is why the
// handshake ended otherwise; the failure is set when no greeting came.
func (d *Driver) peek(ctx context.Context, conn net.Conn, ep endpoint, algorithm string) (gossh.PublicKey, *failure, error) {
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	g := newGreeter(conn, d.limits.Greeting, func(string) {})
	defer g.stop()
	var key gossh.PublicKey
	_, _, _, err := gossh.NewClientConn(g, ep.address(), &gossh.ClientConfig{
		ClientVersion: clientVersion, HostKeyAlgorithms: []string{algorithm},
		HostKeyCallback: func(_ string, _ net.Addr, k gossh.PublicKey) error {
			key = k
			return errStop
		},
	})
	if key != nil {
		return key, nil, nil
	}
	if f := g.failure(ctx, ep, err); f != nil {
		return nil, f, err
	}
	if err == nil {
		err = errStop
	}
	return nil, nil, err
}
