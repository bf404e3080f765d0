package handlers

import (
	"errors"
	"io"

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
			subject := subjectOf(c, otherwise)
			if err := access.May(s.actor(c), action, subject); err != nil {
				return err
			}
			s.askAfterBody(c, action, subject)
			return next(c)
		}
	}
}

// askAfterBody has the question asked again at the end of a body that was long in
// coming. Else whoever is about to lose a right could begin requests beforehand,
// hold back their last byte, and have them carried out afterwards.
func (s *server) askAfterBody(c echo.Context, action access.Action, subject access.Subject) {
	r := c.Request()
	if r.ContentLength == 0 || s.actor(c).Credential.Kind == environment.CredentialNone {
		return
	}
	began := s.Now()
	r.Body = &askedBody{r.Body, func() error {
		if s.Now().Sub(began) < s.askAgain {
			return nil
		}
		actor, err := s.Identity.Again(r.Context(), s.actor(c))
		if err != nil {
			return err
		}
		c.Set(actorKey, actor)
		return access.May(actor, action, subject)
	}}
}

// askedBody is a body whose end is an error when the question at it is answered
// with one.
type askedBody struct {
	io.ReadCloser
	ask func() error
}

func (b *askedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		if refused := b.ask(); refused != nil {
			return n, refused
		}
	}
	return n, err
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
