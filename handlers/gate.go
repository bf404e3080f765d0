package handlers

import (
	"berth/environment"
	"berth/environment/access"

	"github.com/labstack/echo/v4"
)

// needs asks a route's question before anything else of the request is looked at:
// may the actor do this in the company that the request names, or, where it names
// none, anywhere at all? The service asks again with what it finds. It is asked
// here first so that whoever may not learns nothing of what else is wrong with a
// request, not even that it cannot be read.
func (s *server) needs(action access.Action) echo.MiddlewareFunc {
	return s.gate(action, access.Somewhere)
}

// needsOfInstance is needs where, without a company, the whole instance is meant.
func (s *server) needsOfInstance(action access.Action) echo.MiddlewareFunc {
	return s.gate(action, access.Instance)
}

func (s *server) gate(action access.Action, otherwise access.Subject) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			if err := access.May(s.actor(c), action, subjectOf(c, otherwise)); err != nil {
				return err
			}
			return next(c)
		}
	}
}

// subjectOf is the company of the address, else that of the query. An id that is
// none names no company: what reads it says so.
func subjectOf(c echo.Context, otherwise access.Subject) access.Subject {
	for _, text := range []string{c.Param("c"), c.QueryParam("companyId")} {
		if id, err := environment.ParseID("company", text); err == nil {
			return access.Company(id)
		}
	}
	return otherwise
}
