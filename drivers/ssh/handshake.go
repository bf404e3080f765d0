package ssh

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"berth/environment"

	gossh "golang.org/x/crypto/ssh"
)

// clientVersion is Berth's greeting.
const clientVersion = "SSH-2.0-Berth"

// handshake is greeting, key exchange, host key and login with one host.
type handshake struct {
	d       *Driver
	ep      endpoint
	pins    pins
	first   bool // an unknown key is trusted on first use
	creds   *credentials
	w       watcher
	learned string
	key     gossh.PublicKey // presented
	judged  verdict
	reason  string
	passed  bool // the host key was accepted
	fault   *failure
	attempt attempt
}

// errStop ends a handshake for a reason that the handshake keeps.
var errStop = errors.New("the handshake was ended here")

// handshake takes conn over and closes it on failure. ctx bounds it as a whole:
// a server that stops talking anywhere ends with ctx.
func (d *Driver) handshake(ctx context.Context, conn net.Conn, p *plan, l *link, creds *credentials, ep endpoint, w watcher) (*gossh.Client, *failure) {
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() }) // ends whatever read hangs
	defer stop()
	h := &handshake{d: d, ep: ep, pins: pinsFor(l.known, ep), first: !p.config.StrictHostKeyChecking, creds: creds, w: w}
	h.attempt = attempt{ep: ep, creds: creds}
	w.began("greeting", ep)
	g := newGreeter(conn, d.limits.Greeting, func(version string) {
		w.passed("greeting", ep, fmt.Sprintf("%s says %s.", ep.capital(), excerpt(version)), map[string]any{"version": excerpt(version)})
		w.began("host_key", ep)
	})
	defer g.stop()
	started := d.now()
	c, chans, reqs, err := gossh.NewClientConn(g, ep.address(), &gossh.ClientConfig{
		User: ep.user, ClientVersion: clientVersion,
		HostKeyAlgorithms: h.pins.algorithms(), HostKeyCallback: h.hostKey, AuthCallback: h.attempt.next,
	})
	if err == nil && !stop() {
		_ = c.Close()
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, h.failure(ctx, g, p, l, conn, err, d.now().Sub(started))
	}
	w.passed("login", ep, fmt.Sprintf("%s let %q in with %s.", ep.capital(), ep.user, h.attempt.tried()), h.loginFacts())
	if h.learned != "" {
		l.learned = append(l.learned, h.learned)
		l.known = append(l.known, knownHost{names: []string{ep.name()}, key: h.key})
	}
	return gossh.NewClient(c, chans, reqs), nil
}

// hostKey judges the presented key. It is called again when keys are exchanged
// anew in a long connection: the key must then be the same.
func (h *handshake) hostKey(_ string, _ net.Addr, key gossh.PublicKey) error {
	if h.passed {
		if string(key.Marshal()) != string(h.key.Marshal()) {
			return errStop
		}
		return nil
	}
	h.key = key
	h.judged, h.reason = h.pins.check(key, h.d.now())
	print := gossh.FingerprintSHA256(key)
	message := fmt.Sprintf("%s presents the trusted %s key %s.", h.ep.capital(), key.Type(), print)
	switch {
	case h.judged == keyTrusted:
	case h.judged == keyUnknown && h.first && h.pins.none():
		h.learned = knownHostsLine(h.ep.name(), key)
		message = fmt.Sprintf("%s presents the %s key %s, trusted on first use and pinned.", h.ep.capital(), key.Type(), print)
	default:
		return errStop
	}
	h.passed = true
	h.w.passed("host_key", h.ep, message, map[string]any{"type": key.Type(), "fingerprint": print, "firstUse": h.learned != ""})
	h.w.began("login", h.ep)
	if h.creds.problem != nil {
		h.fault = h.creds.problem(h.ep)
		return errStop
	}
	return nil
}

// failure explains a handshake that did not end well.
func (h *handshake) failure(ctx context.Context, g *greeter, p *plan, l *link, conn net.Conn, cause error, after time.Duration) *failure {
	if f := g.failure(ctx, h.ep, cause); f != nil {
		return f
	}
	if h.fault != nil {
		return h.fault
	}
	algorithms, mismatch := errors.AsType[*gossh.AlgorithmNegotiationError](cause)
	judged := h.key != nil && !h.passed
	if judged || (mismatch && strings.Contains(algorithms.What, "host key")) {
		return h.hostKeyFailure(ctx, l, conn, algorithms, cause)
	}
	switch {
	case mismatch:
		return noCommon(h.ep, algorithms)
	case ctx.Err() != nil && h.passed:
		return timedOut("login", h.ep, after, cause)
	case ctx.Err() != nil:
		return timedOut("host_key", h.ep, after, cause)
	case h.passed:
		return h.attempt.failure(cause)
	}
	return fail("host_key", environment.CodeNotSSH,
		fmt.Sprintf("%s broke off during the SSH key exchange.", h.ep.capital()), cause).measure("version", excerpt(g.version))
}

// hostKeyFailure learns every key that the server has, so that people can
// compare, and says why none of them is trusted. Nothing was sent yet that
// could be a credential.
func (h *handshake) hostKeyFailure(ctx context.Context, l *link, conn net.Conn, algorithms *gossh.AlgorithmNegotiationError, cause error) *failure {
	keys := h.d.presented(ctx, h.d.again(l, h.ep, conn), h.ep, h.key)
	if len(keys) == 0 && algorithms != nil {
		return noCommon(h.ep, algorithms)
	}
	f := hostKeyVerdict(h.ep, h.pins, h.judged, h.reason, keys, cause)
	for _, key := range keys {
		f.presented = append(f.presented, hostKeyOf(h.ep.name(), key))
	}
	f.trusted = h.pins.trusted()
	prints := func(keys []environment.HostKey) []string {
		list := []string{}
		for _, key := range keys {
			list = append(list, key.Type+" "+key.Fingerprint)
		}
		return list
	}
	f.measured["host"], f.measured["presented"] = h.ep.name(), prints(f.presented)
	f.limit["trusted"] = prints(f.trusted)
	f.err = f.err.With("presented", f.presented).With("trusted", f.trusted)
	return f
}

func hostKeyVerdict(ep endpoint, p pins, v verdict, reason string, keys []gossh.PublicKey, cause error) *failure {
	shown := make([]string, len(keys))
	revoked := false
	for i, key := range keys {
		shown[i] = key.Type() + " " + gossh.FingerprintSHA256(key)
		revoked = revoked || holds(p.revoked, key)
	}
	presents := strings.Join(shown, ", ")
	if reason != "" {
		presents += " (" + reason + ")"
	}
	switch {
	case v == keyRevoked || (len(p.keys) == 0 && revoked):
		return fail("host_key", environment.CodeHostKeyRevoked,
			fmt.Sprintf("The host key of %s is revoked: it presents %s.", ep, presents), cause)
	case len(p.keys) > 0:
		pinned := make([]string, len(p.keys))
		for i, key := range p.keys {
			pinned[i] = key.Type() + " " + gossh.FingerprintSHA256(key)
		}
		return fail("host_key", environment.CodeHostKeyChanged,
			fmt.Sprintf("The host key of %s changed: trusted is %s, but it presents %s.", ep, strings.Join(pinned, ", "), presents), cause)
	}
	return fail("host_key", environment.CodeHostKeyUnknown,
		fmt.Sprintf("The host key of %s is not trusted yet: it presents %s.", ep, presents), cause)
}

// noCommon is a server that shares no algorithm with Berth.
func noCommon(ep endpoint, e *gossh.AlgorithmNegotiationError) *failure {
	return fail("host_key", environment.CodeNoCommonAlgorithm,
		fmt.Sprintf("%s and Berth share no algorithm for the %s (SSH key exchange): it offers %s.", ep.capital(), e.What, strings.Join(e.RequestedAlgorithms, ", ")), e).
		measure("layer", e.What).measure("offered", slices.Clone(e.RequestedAlgorithms)).within("accepted", slices.Clone(e.SupportedAlgorithms))
}

func (h *handshake) loginFacts() map[string]any {
	facts := map[string]any{"user": h.ep.user}
	if h.attempt.keys {
		facts["offeredKeys"] = h.attempt.offered()
	}
	if h.attempt.password {
		facts["password"] = "sent"
	}
	return facts
}
