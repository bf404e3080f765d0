package ssh

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strings"

	"berth/environment"

	gossh "golang.org/x/crypto/ssh"
)

// plan is everything that is needed to reach a target.
type plan struct {
	config environment.SSHConfig
	spec   environment.Spec
	hosts  []endpoint // the target is the last
	known  []knownHost
}

// target is the host at the end of the way.
func (p *plan) target() endpoint { return p.hosts[len(p.hosts)-1] }

// newPlan reads a spec. Errors are environment.Errors with fields.
func newPlan(config json.RawMessage, spec environment.Spec) (*plan, error) {
	p := &plan{spec: spec}
	if err := json.Unmarshal(config, &p.config); err != nil {
		return nil, environment.Invalid("validation_failed", "The stored settings of this environment cannot be read.").Because(err)
	}
	if p.config.Port == 0 {
		p.config.Port = environment.DefaultSSHPort
	}
	if p.config.Host == "" {
		return nil, environment.InvalidFields([]environment.FieldError{{Field: "config.host", Message: "Enter a host name or an address."}})
	}
	hosts, err := route(p.config)
	if err != nil {
		return nil, err
	}
	p.hosts = hosts
	if p.config.KnownHosts != nil {
		known, problems := parseKnownHosts(*p.config.KnownHosts)
		if len(problems) > 0 {
			return nil, environment.InvalidFields([]environment.FieldError{{Field: "config.knownHosts", Message: problems[0]}})
		}
		p.known = known
	}
	return p, nil
}

// watcher follows a connection step by step. Calls come one after the other.
type watcher interface {
	began(stage string, ep endpoint)
	passed(stage string, ep endpoint, message string, measured map[string]any)
}

// unwatched is the watcher of connections that nobody follows.
type unwatched struct{}

func (unwatched) began(string, endpoint)                          {}
func (unwatched) passed(string, endpoint, string, map[string]any) {}

// link is an open connection to a target, with those to its jump hosts.
type link struct {
	clients []*gossh.Client // the target's is the last
	known   []knownHost
	learned []string // known_hosts lines pinned on first use
}

func (l *link) client() *gossh.Client { return l.clients[len(l.clients)-1] }

// close ends the connections, the target's first. Closing twice is fine.
func (l *link) close() {
	for _, client := range slices.Backward(l.clients) {
		_ = client.Close() // it may be gone already
	}
}

// pin is the known_hosts text with what was learned; "" when nothing was.
func (l *link) pin(old *string) string {
	if len(l.learned) == 0 {
		return ""
	}
	text := ""
	if old != nil {
		text = cleanKnownHosts(*old)
	}
	return text + strings.Join(l.learned, "\n") + "\n"
}

// connect reaches the target through its jump hosts: each is looked up, dialled,
// verified and logged in to. ctx bounds all of it. A failure of a jump host
// names it. The caller closes the link.
func (d *Driver) connect(ctx context.Context, p *plan, w watcher) (*link, *failure) {
	l := &link{known: slices.Clone(p.known)}
	if f := d.extend(ctx, p, l, p.hosts, w); f != nil {
		l.close()
		return nil, f
	}
	return l, nil
}

// extend adds hosts to a link, one behind the other.
func (d *Driver) extend(ctx context.Context, p *plan, l *link, hosts []endpoint, w watcher) *failure {
	if len(hosts) == 0 {
		return nil
	}
	creds := d.credentialsOf(ctx, p.config, p.spec) // opening a key takes long on purpose: once for all hosts
	defer creds.close()
	for _, ep := range hosts {
		conn, f := d.reach(ctx, l, ep, w)
		if f != nil {
			return f
		}
		client, f := d.handshake(ctx, conn, p, l, creds, ep, w)
		if f != nil {
			return f
		}
		l.clients = append(l.clients, client)
	}
	return nil
}

// reach opens a TCP connection to a host: directly, or through the last of the
// link's jump hosts.
func (d *Driver) reach(ctx context.Context, l *link, ep endpoint, w watcher) (net.Conn, *failure) {
	w.began("resolve", ep)
	if len(l.clients) > 0 {
		w.passed("resolve", ep, fmt.Sprintf("%s is looked up by the jump host.", ep.host), map[string]any{"host": ep.host})
		w.began("connect", ep)
		conn, f := d.reachThrough(ctx, l.client(), ep)
		if f == nil {
			w.passed("connect", ep, fmt.Sprintf("%s answers through the jump host.", ep.capital()), map[string]any{"port": ep.port})
		}
		return conn, f
	}
	addrs, f := d.resolve(ctx, ep)
	if f != nil {
		return nil, f
	}
	shown := make([]string, len(addrs))
	for i, addr := range addrs {
		shown[i] = addr.String()
	}
	message := fmt.Sprintf("%s is %s.", ep.host, strings.Join(shown, ", "))
	if len(shown) == 1 && shown[0] == ep.host {
		message = ep.host + " is an address; nothing to look up."
	}
	w.passed("resolve", ep, message, map[string]any{"host": ep.host, "addresses": shown})
	w.began("connect", ep)
	conn, f := d.dialAny(ctx, ep, addrs)
	if f == nil {
		remote := conn.RemoteAddr().String()
		w.passed("connect", ep, fmt.Sprintf("TCP connection to %s.", remote), map[string]any{"address": remote, "port": ep.port})
	}
	return conn, f
}

// reachThrough asks a jump host for a connection. The protocol gives no codes
// for why it could not make one, only OpenSSH's words.
func (d *Driver) reachThrough(ctx context.Context, via *gossh.Client, ep endpoint) (net.Conn, *failure) {
	ctx, cancel := context.WithTimeout(ctx, d.limits.Connect)
	defer cancel()
	conn, err := via.DialContext(ctx, "tcp", ep.address())
	if err == nil {
		return conn, nil
	}
	text := err.Error()
	said := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(strings.ToLower(text), w) })
	}
	at := fmt.Sprintf("%s through the jump host", ep)
	var f *failure
	switch {
	case said("not known", "no such host", "no address associated"):
		f = fail("resolve", environment.CodeDNSNotFound, fmt.Sprintf("The name %q does not exist for the jump host (name lookup for %s).", ep.host, ep), err)
	case said("temporary failure"):
		f = fail("resolve", environment.CodeDNSTemporary, fmt.Sprintf("The jump host could not look up %q now (name lookup for %s).", ep.host, ep), err)
	case said("refused"):
		f = fail("connect", environment.CodeConnectRefused, fmt.Sprintf("The TCP connection to %s was refused: nothing listens on port %d.", at, ep.port), err)
	case isTimeout(err) || said("timed out"):
		f = fail("connect", environment.CodeConnectTimeout, fmt.Sprintf("The TCP connection to %s timed out: no answer from port %d.", at, ep.port), err)
	case said("prohibited"):
		f = fail("connect", environment.CodeNoRoute, fmt.Sprintf("The jump host does not forward connections to %s.", ep), err).
			remedy("Allow TCP forwarding for this user on the jump host.")
	default:
		f = fail("connect", environment.CodeNoRoute, fmt.Sprintf("There is no route to %s.", at), err)
	}
	return nil, f.measure("host", ep.host).measure("port", ep.port)
}
