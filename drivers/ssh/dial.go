package ssh

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"berth/environment"
)

// nextAddress is how long one address has before the next is tried beside it.
const nextAddress = 250 * time.Millisecond

// dialAny connects to the first of the addresses that answers: one after the
// other with a head start each, IPv6 and IPv4 in turn.
func (d *Driver) dialAny(ctx context.Context, ep endpoint, addrs []netip.Addr) (net.Conn, *failure) {
	ctx, cancel := context.WithTimeout(ctx, d.limits.Connect)
	defer cancel()
	addrs = interleave(addrs)
	type result struct {
		conn net.Conn
		err  error
	}
	results := make(chan result)
	var tried, pending int
	try := func() {
		address := net.JoinHostPort(addrs[tried].String(), strconv.Itoa(ep.port))
		tried++
		pending++
		go func() {
			var dialer net.Dialer
			conn, err := dialer.DialContext(ctx, "tcp", address)
			results <- result{conn, err}
		}()
	}
	defer func() {
		cancel()
		for ; pending > 0; pending-- {
			if r := <-results; r.conn != nil {
				_ = r.conn.Close() // it came after another had won
			}
		}
	}()
	head := time.NewTicker(nextAddress)
	defer head.Stop()
	try()
	var errs []error
	for {
		select {
		case r := <-results:
			pending--
			if r.err == nil {
				return r.conn, nil
			}
			errs = append(errs, r.err)
			if tried < len(addrs) {
				try()
			} else if pending == 0 {
				return nil, d.connectFailure(ep, addrs, errs)
			}
		case <-head.C:
			if tried < len(addrs) {
				try()
			}
		}
	}
}

// interleave takes IPv6 and IPv4 addresses in turn, each family in its order.
func interleave(addrs []netip.Addr) []netip.Addr {
	var v6, v4, mixed []netip.Addr
	for _, addr := range addrs {
		if addr.Is4() {
			v4 = append(v4, addr)
		} else {
			v6 = append(v6, addr)
		}
	}
	for i := range max(len(v6), len(v4)) {
		if i < len(v6) {
			mixed = append(mixed, v6[i])
		}
		if i < len(v4) {
			mixed = append(mixed, v4[i])
		}
	}
	return mixed
}

// connectFailure explains why no address answered. What says most wins: a
// refusal proves a host, silence proves nothing, no route proves no host.
func (d *Driver) connectFailure(ep endpoint, addrs []netip.Addr, errs []error) *failure {
	cause := errors.Join(errs...)
	shown := make([]string, len(addrs))
	for i, addr := range addrs {
		shown[i] = addr.String()
	}
	f := func() *failure {
		at := ep.String()
		if len(addrs) > 1 || shown[0] != ep.host {
			at += " (" + strings.Join(shown, ", ") + ")"
		}
		switch {
		case isReset(cause):
			return fail("connect", environment.CodeConnectRefused, fmt.Sprintf("The TCP connection to %s was reset at once: port %d turns connections away.", at, ep.port), cause)
		case errors.Is(cause, syscall.ECONNREFUSED):
			return fail("connect", environment.CodeConnectRefused, fmt.Sprintf("The TCP connection to %s was refused: nothing listens on port %d.", at, ep.port), cause)
		case isTimeout(cause) || errors.Is(cause, context.Canceled):
			return fail("connect", environment.CodeConnectTimeout, fmt.Sprintf("The TCP connection to %s timed out: no answer from port %d.", at, ep.port), cause).
				within("seconds", d.limits.Connect.Seconds())
		}
		return fail("connect", environment.CodeNoRoute, fmt.Sprintf("There is no route to %s: port %d cannot be reached over TCP.", at, ep.port), cause)
	}()
	return f.measure("addresses", shown).measure("port", ep.port)
}

func isTimeout(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, syscall.ETIMEDOUT) {
		return true
	}
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}

func isReset(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
