package handlers

import (
	"container/list"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"berth/environment"
	"berth/views"

	"github.com/labstack/echo/v4"
	"golang.org/x/time/rate"
)

// How often a minute one may try: to sign in, from one address; to have a target
// tested or scanned, as one person.
const (
	signInsAMinute = 30
	probesAMinute  = 600
)

// maxLimited is how many keys a limiter knows. The one that was quiet for the
// longest time makes room for another.
const maxLimited = 10_000

// limits are the limiters of a server; each server counts for itself.
type limits struct {
	signIns, probes *limiter
}

func newLimits(now func() time.Time) limits {
	return limits{signIns: newLimiter(signInsAMinute, now), probes: newLimiter(probesAMinute, now)}
}

// guardRate refuses what one asks for too often, and says in each answer how
// much is left. In local_trusted nothing is limited: there is but one person.
func (s *server) guardRate(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if s.Mode == modeLocalTrusted {
			return next(c)
		}
		limiter, key := s.limitOf(c)
		if limiter == nil {
			return next(c)
		}
		a := limiter.take(key)
		h := c.Response().Header()
		h.Set("RateLimit-Limit", strconv.Itoa(limiter.aMinute))
		h.Set("RateLimit-Remaining", strconv.Itoa(a.left))
		h.Set("RateLimit-Reset", strconv.Itoa(seconds(a.full)))
		if a.wait > 0 {
			return environment.NewError(environment.KindLimited, "rate_limited", "That was asked for too often. Wait a little.").
				With("retryAfterSec", seconds(a.wait))
		}
		return next(c)
	}
}

// limitOf is the limiter that a request counts for, and under which key; nil for
// most.
func (s *server) limitOf(c echo.Context) (*limiter, string) {
	route := c.Request().Method + " " + c.Path()
	switch {
	case slices.Contains(signInRoutes(), route):
		return s.limits.signIns, s.client(c).Network()
	case slices.Contains(probeRoutes(), route):
		actor := s.actor(c)
		return s.limits.probes, string(actor.Kind) + " " + actor.ID.String()
	}
	return nil, ""
}

// signInRoutes are those at which one can guess a password or a link.
func signInRoutes() []string {
	return []string{
		"POST /signin", "GET /link/:token", "POST /link/:token", "POST /account/password",
		"POST /api/auth/sign-in", "POST /api/auth/token", "POST /api/account/password",
	}
}

// probeRoutes are those that reach a target because somebody asks.
func probeRoutes() []string {
	const page = views.Environments
	return []string{
		"POST " + page + "/test-all", "POST " + page + "/:id/probes", "POST " + page + "/drafts/probe", "POST " + page + "/drafts/scan",
		"GET " + page + "/:id/trust", "POST " + page + "/:id/trust",
		"POST /api/environments/:id/probe", "POST /api/companies/:c/environments/probe-config",
		"POST /api/environments/scan-host-key", "POST /api/environments/:id/trust-host-key",
	}
}

// limiter lets each key through so many times a minute, all of them at once if
// it likes.
type limiter struct {
	aMinute int
	now     func() time.Time

	mu    sync.Mutex
	keys  map[string]*list.Element
	quiet *list.List // of *limited, the longest quiet first
}

type limited struct {
	key    string
	bucket *rate.Limiter
}

// allowance is what a key has left. wait is zero when it may go on.
type allowance struct {
	left       int
	full, wait time.Duration
}

func newLimiter(aMinute int, now func() time.Time) *limiter {
	return &limiter{aMinute: aMinute, now: now, keys: map[string]*list.Element{}, quiet: list.New()}
}

// take takes one from what a key has left.
func (l *limiter) take(key string) allowance {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, bucket := l.now(), l.bucketOf(key)
	var a allowance
	if !bucket.AllowN(now, 1) {
		a.wait = max(time.Millisecond, l.until(1-bucket.TokensAt(now)))
	}
	tokens := bucket.TokensAt(now)
	a.left, a.full = max(0, int(tokens)), l.until(float64(l.aMinute)-tokens)
	return a
}

func (l *limiter) until(tokens float64) time.Duration {
	return time.Duration(tokens / float64(l.aMinute) * float64(time.Minute))
}

func (l *limiter) bucketOf(key string) *rate.Limiter {
	if e, ok := l.keys[key]; ok {
		l.quiet.MoveToBack(e)
		return e.Value.(*limited).bucket
	}
	if len(l.keys) >= maxLimited {
		longest := l.quiet.Front()
		delete(l.keys, longest.Value.(*limited).key)
		l.quiet.Remove(longest)
	}
	bucket := rate.NewLimiter(rate.Limit(float64(l.aMinute)/60), l.aMinute)
	l.keys[key] = l.quiet.PushBack(&limited{key, bucket})
	return bucket
}

// seconds rounds up, as Retry-After wants it.
func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }
