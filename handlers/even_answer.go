package handlers

import (
	"time"

	"berth/environment"

	"github.com/labstack/echo/v4"
)

// notThereTakes is how long it takes to say that something is not there. It is
// longer than to look for it and to note the attempt.
const notThereTakes = 30 * time.Millisecond

const beganKey = "berth.began"

// evenOut waits with the answer that something is not there, to whoever may not
// see all there is: an attempt on another company's is noted, and that must not
// be told by the time from one on what nobody has.
func (s *server) evenOut(c echo.Context, r refusal) {
	actor, began := s.actor(c), c.Get(beganKey)
	if r.err.Kind != environment.KindNotFound || actor.Kind == environment.ActorNone || actor.Everywhere() {
		return
	}
	since, known := began.(time.Time)
	if !known {
		return
	}
	rest := time.NewTimer(s.notThereTakes - time.Since(since))
	defer rest.Stop()
	select {
	case <-rest.C:
	case <-c.Request().Context().Done():
	case <-s.Stopping:
	}
}
