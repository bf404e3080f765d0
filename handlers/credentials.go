package handlers

import (
	"berth/environment"

	"github.com/labstack/echo/v4"
)

// guardKey refuses a request that brings a key: in local_trusted there are none,
// so it was meant for another server, and to answer it as the operator would
// hide that from the caller.
func (s *server) guardKey(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if c.Request().Header.Get("Authorization") != "" {
			return environment.NewError(environment.KindUnauthenticated, "invalid_key", "This server does not know that key.").
				Remedy("Leave the key away: in the mode local_trusted nobody needs one.")
		}
		return next(c)
	}
}
