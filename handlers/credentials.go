package handlers

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"berth/environment"

	"github.com/labstack/echo/v4"
)

const actorKey = "berth.actor"

// actor is who asks: what findActor found, once for each request.
func (s *server) actor(c echo.Context) environment.Actor {
	actor, _ := c.Get(actorKey).(environment.Actor)
	return actor
}

// findActor finds who asks, before anything else of the request is looked at. A
// key that does not count is refused everywhere, and nobody on every route that
// is not open.
func (s *server) findActor(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		actor, err := s.whoAsks(c)
		open := isOpen(c.Path())
		if err != nil && (!open || environment.KindOf(err) == environment.KindUnauthenticated) {
			return err
		}
		if actor.Kind == environment.ActorNone && !open {
			return environment.NewError(environment.KindUnauthenticated, "unauthenticated", "Sign in first.").
				Remedy("Sign in, or send a key: Authorization: Bearer <key>.")
		}
		c.Set(actorKey, actor)
		return next(c)
	}
}

// whoAsks reads the credentials of a request. A bearer key counts before a
// cookie; nobody is no error.
func (s *server) whoAsks(c echo.Context) (environment.Actor, error) {
	switch c.Path() {
	case "/static/*", "/readyz":
		return environment.Actor{}, nil // the same for everybody, at no cost
	}
	if headers := c.Request().Header.Values("Authorization"); len(headers) > 0 {
		return s.byKey(c, headers)
	}
	if s.Mode == modeLocalTrusted {
		return environment.LocalOperator(), nil
	}
	id, ok, err := s.sessionOf(c)
	if err != nil || !ok {
		return environment.Actor{}, err
	}
	actor, err := s.Identity.BySession(c.Request().Context(), id)
	if environment.KindOf(err) == environment.KindUnauthenticated {
		return environment.Actor{}, nil
	}
	return actor, err
}

// byKey finds the actor of an Authorization header. What is refused leaves no
// trace: the text may be the key of another server.
func (s *server) byKey(c echo.Context, headers []string) (environment.Actor, error) {
	scheme, text, _ := strings.Cut(headers[0], " ")
	if len(headers) > 1 || !strings.EqualFold(scheme, "Bearer") || text == "" || s.Identity == nil {
		return environment.Actor{}, s.invalidKey()
	}
	actor, err := s.Identity.ByBearer(c.Request().Context(), text)
	if environment.KindOf(err) == environment.KindUnauthenticated {
		return environment.Actor{}, s.invalidKey()
	}
	if err != nil {
		return environment.Actor{}, fmt.Errorf("look up a key: %w", err)
	}
	return actor, nil
}

func (s *server) invalidKey() *environment.Error {
	e := environment.NewError(environment.KindUnauthenticated, "invalid_key", "This server does not know that key.")
	if s.Mode == modeLocalTrusted {
		return e.Remedy("Leave the key away: in the mode local_trusted nobody needs one.")
	}
	return e.Remedy("It may have been revoked or have expired, or belong to another server. Make a new one.")
}

// isOpen reports whether a route is for those too who have not signed in.
func isOpen(route string) bool {
	switch route {
	case "/signin", "/link/:token", "/static/*", "/readyz",
		"/api/health", "/api/openapi.json", "/api/auth/sign-in", "/api/auth/token",
		"/dev/preview", "/dev/preview/:name": // the last two exist with --dev only
		return true
	}
	return false
}

// mustSignIn reports whether an error is answered by the way to the sign-in page.
func (s *server) mustSignIn(e *environment.Error) bool {
	return s.Mode == modeAuthenticated && e.Kind == environment.KindUnauthenticated &&
		(e.Code == "unauthenticated" || e.Code == "session_ended")
}

// toSignIn sends a browser to the sign-in page, with its way back. htmx follows
// with the whole page; a stream just ends.
func toSignIn(c echo.Context) error {
	to := "/signin"
	if back := wayBack(c); back != "" {
		to += "?next=" + url.QueryEscape(back)
	}
	h := c.Response().Header()
	switch {
	case isFragment(c):
		h.Set("HX-Redirect", to)
	case strings.HasPrefix(c.Request().Header.Get("Accept"), "text/event-stream"):
	default:
		return c.Redirect(http.StatusSeeOther, to)
	}
	h.Set("WWW-Authenticate", "Bearer")
	return c.NoContent(http.StatusUnauthorized)
}

// wayBack is the page that a browser is on or asks for; "" when there is none to
// go back to.
func wayBack(c echo.Context) string {
	r := c.Request()
	back := ""
	switch page, err := url.Parse(r.Header.Get("HX-Current-URL")); {
	case isFragment(c) && err == nil && strings.EqualFold(page.Host, r.Host):
		back = page.RequestURI()
	case isFragment(c):
	case r.Method == http.MethodGet:
		back = r.URL.RequestURI()
	default:
		if page, err := url.Parse(r.Referer()); err == nil && strings.EqualFold(page.Host, r.Host) {
			back = page.RequestURI()
		}
	}
	if back == "/" || len(back) > 2000 || localPath(back) != back {
		return ""
	}
	return back
}
