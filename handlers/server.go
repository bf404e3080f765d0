// Package handlers is the HTTP front door: it decodes a request, calls one
// service and chooses an answer. routes.go lists every route.
package handlers

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"berth/environment"
	"berth/environment/catalogue"
	"berth/environment/identity"
	"berth/environment/leasing"
	"berth/environment/probing"
	"berth/environment/running"
	"berth/environment/secrets"

	"github.com/alexedwards/scs/v2"
	"github.com/labstack/echo/v4"
)

// The modes of a server.
const (
	modeLocalTrusted  = "local_trusted"
	modeAuthenticated = "authenticated"
)

// Deps is what the front door needs. All fields without a remark are needed.
type Deps struct {
	Catalogue *catalogue.Service
	Probing   *probing.Service
	Leasing   *leasing.Service
	Running   *running.Service
	Identity  *identity.Service
	Secrets   *secrets.Service
	Feed      environment.Feed
	// Vault seals the secrets that forms carry, for every server of its keyset;
	// nil: only this process opens them.
	Vault environment.Vault
	// Ping asks whether the database answers.
	Ping func(context.Context) error
	// StateCounts counts the runs, probes and leases under way, by kind and
	// state, for the metrics; nil leaves them out.
	StateCounts func(context.Context) (map[string]map[string]int, error)
	Log         *slog.Logger
	Now         func() time.Time
	Version     string
	Mode        string // "local_trusted" or "authenticated"
	Listen      string // host:port on which the server listens
	PublicURL   string // "": none; "https://berth.example"
	Dev         bool   // previews
	// Cookies keeps browsers' sessions; nil in local_trusted, where nobody signs in.
	Cookies scs.CtxStore
	// TrustedProxies are whose X-Forwarded headers are believed.
	TrustedProxies []netip.Prefix
	// Stopping, when closed, ends streams and waits; nil: never.
	Stopping <-chan struct{}
}

// server holds what the handlers share. Each handler is a method in the file
// named after it.
type server struct {
	Deps
	list          *listCache
	metrics       *metrics
	assets        packedForms
	newKeys       newKeys
	sessions      *scs.SessionManager // nil in local_trusted
	limits        limits
	bodyWithin    time.Duration // how long a body may take to arrive
	notThereTakes time.Duration // how long to say that something is not there
	askAgain      time.Duration // between questions whether who is served for long still may
	heartbeat     time.Duration // between comments on a stream without events
	retry         time.Duration // between reads of a stream whose database is away
}

// New returns the whole HTTP surface.
func New(d Deps) http.Handler {
	s := newServer(d)
	return s.handler()
}

func newServer(d Deps) *server {
	s := &server{
		Deps: d, list: newListCache(), assets: packedForms{best: true}, newKeys: newNewKeys(d.Vault), limits: newLimits(d.Now),
		bodyWithin: bodyWithin, notThereTakes: notThereTakes, askAgain: askAgainEvery, heartbeat: 15 * time.Second, retry: time.Second,
	}
	if d.Mode == modeAuthenticated {
		s.sessions = newSessions(d.Cookies)
	}
	s.list.now = d.Now
	s.metrics = newMetrics(d.StateCounts)
	return s
}

func (s *server) handler() http.Handler {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.HTTPErrorHandler = s.handleError
	e.Use(s.identify, s.observe, s.recoverPanic, s.guardHeaders, s.findPeer, s.guardHost, s.guardOrigin, s.findActor, s.guardRate, s.guardPath, s.guardSize, s.compress)
	s.routes(e)
	return s.bodiesInTime(headAsGet(e))
}

// headAsGet answers HEAD with the headers of GET; net/http drops the body.
func headAsGet(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			get := *r
			get.Method = http.MethodGet
			get.Header = r.Header.Clone()
			get.Header.Set(headMark, "1")
			r = &get
		} else {
			r.Header.Del(headMark)
		}
		next.ServeHTTP(w, r)
	})
}

// headMark tells a stream that nobody will read its body.
const headMark = "X-Berth-Head"
