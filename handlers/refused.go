package handlers

import (
	"context"
	"errors"
	"time"

	"berth/environment"
	"berth/environment/access"

	"github.com/labstack/echo/v4"
)

// noteWithin is how long the answer to a refused attempt waits for its entry.
const noteWithin = 2 * time.Second

// noteRefused writes an attempt that authority refused into the activity log, once
// for a request: a role that is not enough, or something of another company. It
// holds the route's pattern and the id that it was about, never a query or a body.
func (s *server) noteRefused(c echo.Context, r refusal) {
	if s.Identity == nil || c.Response().Committed || !errors.Is(r.err, access.ErrRole) && !errors.Is(r.err, access.ErrForeign) {
		return
	}
	const noted = "berth.refused"
	if c.Get(noted) != nil {
		return
	}
	c.Set(noted, true)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request().Context()), noteWithin)
	defer cancel()
	s.Identity.Refused(ctx, s.actor(c), c.Request().Method, routeOf(c), r.err.Code, attempted(c))
}

// attempted is the id that a request was about: the last of its address; "" for
// what is no id.
func attempted(c echo.Context) string {
	values := c.ParamValues()
	for i := len(values) - 1; i >= 0; i-- {
		if id, err := environment.ParseID("subject", values[i]); err == nil {
			return id.String()
		}
	}
	return ""
}
