package handlers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"berth/environment"
	"berth/views"

	"github.com/alexedwards/scs/v2"
	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
)

// Times of a browser's session. touchEvery is how often one that is in use is
// written again, so that it is not taken for idle.
const (
	sessionLife = 14 * 24 * time.Hour
	sessionIdle = 3 * 24 * time.Hour
	touchEvery  = time.Hour
)

// What a session's data holds: the id of the person's session, and when the
// data was last written.
const (
	sessionID      = "session"
	sessionTouched = "touched"
)

// newSessions returns the sessions over a store; nil without one. The browser
// has a random token, and the store only its hash.
func newSessions(store scs.CtxStore) *scs.SessionManager {
	if store == nil {
		return nil
	}
	return &scs.SessionManager{ // not scs.New, which starts a store in memory
		Store: store, HashTokenInStore: true, Codec: scs.GobCodec{}, Lifetime: sessionLife, IdleTimeout: sessionIdle,
	}
}

// errNoSessions is a server in local_trusted, which nobody can sign in to.
var errNoSessions = environment.NewError(environment.KindUnsupported, "sign_in_not_needed",
	"This server runs in the mode local_trusted, where nobody signs in.")

// signedIn makes the browser's cookie name a session, under a new token, and
// ends the session that it named before. It must come before the body of the
// answer.
func (s *server) signedIn(c echo.Context, session environment.Session) error {
	if s.sessions == nil {
		return errNoSessions
	}
	ctx, err := s.sessions.Load(c.Request().Context(), sessionToken(c))
	if err != nil {
		return fmt.Errorf("load the session's cookie: %w", err)
	}
	if before := s.actor(c); before.Credential.Kind == environment.CredentialSession && before.Credential.ID != session.ID {
		if err := s.Identity.SignOut(ctx, before); err != nil && environment.KindOf(err) != environment.KindUnauthenticated {
			return fmt.Errorf("end the session before: %w", err)
		}
	}
	if err := errors.Join(s.sessions.Clear(ctx), s.sessions.RenewToken(ctx)); err != nil {
		return fmt.Errorf("renew the session's token: %w", err)
	}
	s.sessions.Put(ctx, sessionID, session.ID.String())
	return s.commitSession(ctx, c)
}

// signedOut takes the cookie away, with what is stored of it. Ending the
// person's session is identity's.
func (s *server) signedOut(c echo.Context) error {
	if s.sessions == nil {
		return nil
	}
	if token := sessionToken(c); token != "" {
		ctx, err := s.sessions.Load(c.Request().Context(), token)
		if err == nil {
			err = s.sessions.Destroy(ctx)
		}
		if err != nil {
			return fmt.Errorf("forget the session's cookie: %w", err)
		}
	}
	setSessionCookie(c, "", time.Unix(1, 0), -1)
	return nil
}

// sessionOf is the session that the cookie names; false when it names none. One
// that is used is kept from becoming idle.
func (s *server) sessionOf(c echo.Context) (uuid.UUID, bool, error) {
	token := sessionToken(c)
	if s.sessions == nil || token == "" {
		return uuid.UUID{}, false, nil
	}
	ctx, err := s.sessions.Load(c.Request().Context(), token)
	if err != nil {
		return uuid.UUID{}, false, fmt.Errorf("load the session's cookie: %w", err)
	}
	id, err := uuid.Parse(s.sessions.GetString(ctx, sessionID))
	if err != nil {
		return uuid.UUID{}, false, nil // unknown, idle for too long or too old
	}
	byItself := c.Path() == views.RightsPath // an open page asks, be there anybody or not
	if !byItself && s.Now().Sub(time.Unix(s.sessions.GetInt64(ctx, sessionTouched), 0)) > touchEvery {
		return id, true, s.commitSession(ctx, c)
	}
	return id, true, nil
}

// commitSession writes the session of ctx and gives the browser its cookie.
func (s *server) commitSession(ctx context.Context, c echo.Context) error {
	s.sessions.Put(ctx, sessionTouched, s.Now().Unix())
	token, expires, err := s.sessions.Commit(ctx)
	if err != nil {
		return fmt.Errorf("store the session: %w", err)
	}
	setSessionCookie(c, token, expires, max(1, int(expires.Sub(s.Now()).Seconds())))
	return nil
}

// cookieName is the session cookie's. Over https its prefix keeps other hosts of
// the same domain from setting it.
func cookieName(c echo.Context) string {
	if isSecure(c) {
		return "__Host-berth_session"
	}
	return "berth_session"
}

// sessionToken is what the session's cookie holds, "" for none.
func sessionToken(c echo.Context) string {
	cookie, err := c.Cookie(cookieName(c))
	if err != nil || len(cookie.Value) > 128 {
		return ""
	}
	return cookie.Value
}

func setSessionCookie(c echo.Context, token string, expires time.Time, maxAge int) {
	c.SetCookie(&http.Cookie{
		Name: cookieName(c), Value: token, Path: "/", Expires: expires, MaxAge: maxAge,
		Secure: isSecure(c), HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}
