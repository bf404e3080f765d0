package ssh

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"

	"berth/environment"
)

// resolve looks a host up. An address is its own answer.
func (d *Driver) resolve(ctx context.Context, ep endpoint) ([]netip.Addr, *failure) {
	if addr, err := netip.ParseAddr(ep.host); err == nil {
		return []netip.Addr{addr}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, d.limits.Resolve)
	defer cancel()
	found, err := d.opts.Resolver.LookupNetIP(ctx, "ip", ep.host)
	if err == nil && len(found) > 0 {
		addrs := make([]netip.Addr, len(found))
		for i, addr := range found {
			addrs[i] = addr.Unmap()
		}
		return addrs, nil
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound && !dns.IsTimeout && !dns.IsTemporary {
		return nil, fail("resolve", environment.CodeDNSNotFound,
			fmt.Sprintf("The name %q does not exist (name lookup for %s).", ep.host, ep), err).measure("host", ep.host)
	}
	return nil, fail("resolve", environment.CodeDNSTemporary,
		fmt.Sprintf("The name %q could not be looked up now (name lookup for %s): the name server gave no answer.", ep.host, ep), err).
		measure("host", ep.host).within("seconds", d.limits.Resolve.Seconds())
}
