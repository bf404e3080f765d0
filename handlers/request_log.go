package handlers

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"runtime/debug"
	"time"

	"berth/environment"

	"github.com/labstack/echo/v4"
)

var requestIDForm = regexp.MustCompile(`^[A-Za-z0-9_.-]{8,64}$`)

// identify gives each request an id, the caller's own if it can be one, and
// says it in the answer and to the services, for the activity log.
func (s *server) identify(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		id := c.Request().Header.Get(echo.HeaderXRequestID)
		if !requestIDForm.MatchString(id) {
			id = environment.NewID().String()
		}
		c.Response().Header().Set(echo.HeaderXRequestID, id)
		c.SetRequest(c.Request().WithContext(environment.WithRequestID(c.Request().Context(), id)))
		return next(c)
	}
}

func requestID(c echo.Context) string { return c.Response().Header().Get(echo.HeaderXRequestID) }

// routeOf is the pattern that a request matched, never its address: that may
// hold ids, names and searches.
func routeOf(c echo.Context) string {
	if path := c.Path(); path != "" {
		return path
	}
	return "unmatched"
}

// observe answers errors, counts requests and logs each at debug.
func (s *server) observe(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		began := time.Now()
		c.Set(beganKey, began)
		err := next(c)
		if err != nil {
			s.handleError(err, c)
		}
		status, took := c.Response().Status, time.Since(began)
		if !c.Response().Committed {
			status = statusGone
		}
		s.metrics.request(routeOf(c), c.Request().Method, status, took)
		s.Log.Debug("request", "request", requestID(c), "method", c.Request().Method, "route", routeOf(c),
			"status", status, "bytes", c.Response().Size, "took", took)
		return nil
	}
}

// recoverPanic turns a panic into an error with its stack in the log.
func (s *server) recoverPanic(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		defer func() {
			switch p := recover(); {
			case p == nil:
			case p == http.ErrAbortHandler:
				panic(p)
			default:
				err = errors.Join(err, fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
			}
		}()
		return next(c)
	}
}
