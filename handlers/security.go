package handlers

import (
	"net"
	"net/http"
	"net/url"
	"strings"

	"berth/environment"

	"github.com/labstack/echo/v4"
)

// policy lets pages load and call this server and nothing else. Nothing inline
// runs, and nobody frames them.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
	"connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// maxBody is the largest request body, in bytes, and maxAddress the longest
// request address.
const (
	maxBody    = 1 << 20
	maxAddress = 8 << 10
)

// guardHeaders sets what every answer carries. The referrer policy is not
// "no-referrer": a browser then posts forms with "Origin: null".
func (s *server) guardHeaders(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		h := c.Response().Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		return next(c)
	}
}

// guardHost refuses requests that were meant for another name: a page elsewhere
// whose name was made to resolve to this machine. Where people sign in and no
// public URL is known, any name may be this server's: there a page of another
// name has no cookie of it.
func (s *server) guardHost(next echo.HandlerFunc) echo.HandlerFunc {
	listenHost, _, _ := net.SplitHostPort(s.Listen)
	public := originHost(s.PublicURL)
	return func(c echo.Context) error {
		host := strings.ToLower(c.Request().Host)
		name := hostName(host)
		switch {
		case isLoopback(name), name == listenHost, public != "" && host == public:
		case s.Mode == modeAuthenticated && (public == "" || isOwnAddress(c.Request(), name)):
		default:
			return environment.NewError(environment.KindForbidden, "host_not_allowed",
				"This server does not answer under that name.").
				Remedy("Use its own address, or start it with --public-url.")
		}
		return next(c)
	}
}

// isOwnAddress reports whether a name is the address at which the connection
// arrived. No name of another site reads like that.
func isOwnAddress(r *http.Request, name string) bool {
	at, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return at != nil && remoteAddress(name).IsValid() && remoteAddress(name) == remoteAddress(at.String())
}

// guardOrigin refuses changes that a page of another origin sends, signing in
// too. A request with neither Origin nor Sec-Fetch-Site comes from a program and
// passes.
func (s *server) guardOrigin(next echo.HandlerFunc) echo.HandlerFunc {
	public := publicOrigin(s.PublicURL)
	protection := http.NewCrossOriginProtection()
	if public != "" {
		_ = protection.AddTrustedOrigin(public) // fails for what is no origin, which publicOrigin never gives
	}
	return func(c echo.Context) error {
		r := c.Request()
		if isSafe(r) {
			return next(c)
		}
		given := r.Header.Get("Origin")
		ours := given == "" || given == public || given == originOf(c)
		if len(r.Header.Values("Origin")) > 1 || !ours || protection.Check(r) != nil || (r.Method == http.MethodGet && fromElsewhere(r)) {
			return environment.NewError(environment.KindForbidden, "origin_not_allowed",
				"A page of another site sent this, so it was refused.")
		}
		return next(c)
	}
}

// guardPath refuses addresses that a proxy before this server may read in
// another way: dot segments, slashes and NUL in disguise.
func (s *server) guardPath(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		u := c.Request().URL
		escaped := strings.ToLower(u.EscapedPath())
		disguised := strings.Contains(escaped, "%2f") || strings.Contains(escaped, "%5c") || strings.ContainsAny(u.Path, "\\\x00")
		for segment := range strings.SplitSeq(u.Path, "/") {
			disguised = disguised || segment == "." || segment == ".."
		}
		if disguised {
			return unreadable("path_not_allowed", "This address is not in its plain form.")
		}
		return next(c)
	}
}

// fromElsewhere reports whether a browser says that a page of another origin
// made it send this. Of an upgrade, being a GET, CrossOriginProtection asks no
// questions.
func fromElsewhere(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
		return false
	}
	return true
}

// isSafe reports whether a request can change nothing. An upgrade is a GET that
// can.
func isSafe(r *http.Request) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return r.Header.Get("Upgrade") == ""
	}
	return false
}

// guardSize refuses addresses and bodies that are too long.
func (s *server) guardSize(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if len(r.RequestURI) > maxAddress {
			return echo.NewHTTPError(http.StatusRequestURITooLong)
		}
		if r.ContentLength > maxBody {
			return echo.NewHTTPError(http.StatusRequestEntityTooLarge)
		}
		if r.ContentLength != 0 {
			r.Body = http.MaxBytesReader(c.Response().Writer, r.Body, maxBody)
		}
		return next(c)
	}
}

// hostName is a Host header without its port and brackets.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}

func isLoopback(name string) bool {
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	ip := net.ParseIP(name)
	return ip != nil && ip.IsLoopback()
}

// publicOrigin is "scheme://host" of a URL, "" for anything else.
func publicOrigin(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return ""
	}
	return u.Scheme + "://" + strings.ToLower(u.Host)
}

func originHost(address string) string {
	_, host, _ := strings.Cut(publicOrigin(address), "://")
	return host
}
