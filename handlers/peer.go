package handlers

import (
	"net"
	"net/netip"
	"strings"

	"berth/environment/identity"

	"github.com/labstack/echo/v4"
)

// peer is who is at the other end, as far as it can be believed.
type peer struct {
	address netip.Addr // the zero Addr when it is unknown
	secure  bool       // the browser's connection is https
	overTLS bool       // this request came to us, or to a trusted proxy, by https
}

const peerKey = "berth.peer"

// findPeer finds the client's address, the scheme and the host of a request.
// What the headers of a proxy say is believed only of a trusted one, and taken
// off everything else.
func (s *server) findPeer(next echo.HandlerFunc) echo.HandlerFunc {
	public := strings.HasPrefix(publicOrigin(s.PublicURL), "https:")
	return func(c echo.Context) error {
		r := c.Request()
		p := peer{address: remoteAddress(r.RemoteAddr), overTLS: r.TLS != nil}
		if s.isTrustedProxy(p.address) {
			p.address = s.forwardedFor(p.address, r.Header.Values("X-Forwarded-For"))
			if scheme := lastOf(r.Header.Values("X-Forwarded-Proto")); scheme != "" {
				p.overTLS = strings.EqualFold(scheme, "https")
			}
			if host := lastOf(r.Header.Values("X-Forwarded-Host")); isHost(host) {
				r.Host = host
			}
		}
		p.secure = public || p.overTLS
		for _, name := range []string{"X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "X-Forwarded-Protocol",
			"X-Forwarded-Ssl", "X-Url-Scheme", "X-Real-Ip", "Forwarded"} {
			r.Header.Del(name)
		}
		c.Set(peerKey, p)
		return next(c)
	}
}

func peerOf(c echo.Context) peer {
	p, _ := c.Get(peerKey).(peer)
	return p
}

// isSecure reports whether the browser speaks https, be it with a proxy.
func isSecure(c echo.Context) bool { return peerOf(c).secure }

// client is where a request comes from, for sign-ins.
func (s *server) client(c echo.Context) identity.Client {
	address := ""
	if a := peerOf(c).address; a.IsValid() {
		address = a.String()
	}
	return identity.Client{Address: address, UserAgent: cut(strings.ToValidUTF8(c.Request().UserAgent(), "\uFFFD"), 200)}
}

// forwardedFor walks the addresses that proxies added, from the last on, up to
// the first that is not a trusted proxy's. Whatever stands before that one may be
// the client's own invention.
func (s *server) forwardedFor(proxy netip.Addr, headers []string) netip.Addr {
	hops := strings.Split(strings.Join(headers, ","), ",")
	client := proxy
	for i := len(hops) - 1; i >= 0 && s.isTrustedProxy(client); i-- {
		hop := remoteAddress(strings.TrimSpace(hops[i]))
		if !hop.IsValid() {
			break
		}
		client = hop
	}
	return client
}

func (s *server) isTrustedProxy(a netip.Addr) bool {
	for _, prefix := range s.TrustedProxies {
		if a.IsValid() && prefix.Contains(a) {
			return true
		}
	}
	return false
}

// remoteAddress reads an address with or without a port.
func remoteAddress(text string) netip.Addr {
	if host, _, err := net.SplitHostPort(text); err == nil {
		text = host
	}
	a, err := netip.ParseAddr(strings.Trim(text, "[]"))
	if err != nil {
		return netip.Addr{}
	}
	return a.Unmap().WithZone("")
}

// lastOf is the value that the nearest proxy added.
func lastOf(values []string) string {
	all := strings.Join(values, ",")
	return strings.TrimSpace(all[strings.LastIndex(all, ",")+1:])
}

// isHost reports whether a text can be a host with a port.
func isHost(text string) bool {
	return text != "" && len(text) <= 255 && !strings.ContainsAny(text, "/\\@?# \t") && publicOrigin("http://"+text) != ""
}

// cut shortens a text to n characters.
func cut(text string, n int) string {
	if runes := []rune(text); len(runes) > n {
		return string(runes[:n])
	}
	return text
}

// originOf is the origin under which the browser knows this server. Without a
// proxy that says otherwise it speaks http.
func originOf(c echo.Context) string {
	if peerOf(c).overTLS {
		return "https://" + c.Request().Host
	}
	return "http://" + c.Request().Host
}
