package handlers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"berth/environment"
	"berth/handlers/api"

	"github.com/labstack/echo/v4"
)

// statusGone is what the log and the metrics say of a caller who went away; it
// is never sent.
const statusGone = 499

// statusOf maps a kind to an HTTP status. It is the only place that does.
func statusOf(kind environment.Kind) int {
	switch kind {
	case environment.KindUnreadable:
		return http.StatusBadRequest
	case environment.KindInvalid, environment.KindUnsupported:
		return http.StatusUnprocessableEntity
	case environment.KindNotFound:
		return http.StatusNotFound
	case environment.KindConflict:
		return http.StatusConflict
	case environment.KindStale:
		return http.StatusPreconditionFailed
	case environment.KindForbidden:
		return http.StatusForbidden
	case environment.KindUnauthenticated:
		return http.StatusUnauthorized
	case environment.KindLimited:
		return http.StatusTooManyRequests
	case environment.KindUnavailable:
		return http.StatusServiceUnavailable
	case environment.KindTimeout:
		return http.StatusGatewayTimeout
	}
	return http.StatusInternalServerError
}

// refusal is an error on its way out: a status and what people may see.
type refusal struct {
	status int
	err    *environment.Error
}

// refusalOf turns whatever a handler returned into a refusal. echo's own errors
// come first; what is neither theirs nor ours is internal and answered neutrally.
func refusalOf(err error) refusal {
	if he, ok := errors.AsType[*echo.HTTPError](err); ok {
		return refusal{he.Code, environment.NewError(environment.KindUnreadable, codeOfStatus(he.Code), messageOfStatus(he.Code)).Because(err)}
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return refusal{http.StatusRequestEntityTooLarge, environment.NewError(environment.KindUnreadable,
			codeOfStatus(http.StatusRequestEntityTooLarge), messageOfStatus(http.StatusRequestEntityTooLarge)).Because(err)}
	}
	if _, ours := errors.AsType[*environment.Error](err); !ours && errors.Is(err, context.DeadlineExceeded) {
		return refusal{http.StatusGatewayTimeout, environment.NewError(environment.KindTimeout, "timeout",
			"That took too long. Try again.").Because(err)}
	}
	e := environment.AsError(err)
	return refusal{statusOf(e.Kind), e}
}

// handleError answers an error: JSON under /api, a fragment to htmx, a page to
// everybody else. A response that has begun is left alone.
func (s *server) handleError(err error, c echo.Context) {
	r := refusalOf(err)
	switch {
	case r.status == http.StatusRequestTimeout:
		// net/http takes a body that is late for a caller who is gone.
		c.SetRequest(c.Request().WithContext(context.WithoutCancel(c.Request().Context())))
	case c.Request().Context().Err() != nil && !s.isStopping():
		r.status = statusGone // nobody reads the answer
	}
	s.logRefusal(c, r)
	s.noteRefused(c, r)
	s.evenOut(c, r)
	if c.Response().Committed || r.status == statusGone {
		return
	}
	setRetryAfter(c, r)
	if err := s.writeRefusal(c, r); err != nil {
		s.Log.DebugContext(c.Request().Context(), "answer with an error", "err", err, "request", requestID(c))
	}
}

// setRetryAfter says when to come again.
func setRetryAfter(c echo.Context, r refusal) {
	switch r.status {
	case http.StatusServiceUnavailable:
		c.Response().Header().Set("Retry-After", "2")
	case http.StatusTooManyRequests:
		wait := "1"
		if sec, ok := r.err.Details["retryAfterSec"].(int); ok {
			wait = strconv.Itoa(max(1, sec))
		}
		c.Response().Header().Set("Retry-After", wait)
	}
}

func (s *server) writeRefusal(c echo.Context, r refusal) error {
	if !wantsJSON(c) && s.mustSignIn(r.err) {
		return toSignIn(c)
	}
	if r.status == http.StatusUnauthorized {
		c.Response().Header().Set("WWW-Authenticate", "Bearer")
	}
	switch {
	case wantsJSON(c):
		return writeJSON(c, r.status, errorBody(r.err))
	case isFragment(c):
		return s.errorFragment(c, r)
	default:
		return s.errorPage(c, r)
	}
}

// logRefusal writes the one line that an error gets.
func (s *server) logRefusal(c echo.Context, r refusal) {
	attrs := []any{"request", requestID(c), "method", c.Request().Method, "route", routeOf(c), "status", r.status, "code", r.err.Code}
	switch {
	case r.status >= 500 && r.status != http.StatusServiceUnavailable:
		s.Log.Error("request failed", append(attrs, "err", r.err)...)
	case r.status == http.StatusServiceUnavailable:
		s.Log.Warn("request refused", append(attrs, "err", r.err)...)
	default:
		s.Log.Debug("request refused", attrs...)
	}
}

// errorBody is the JSON of a refusal.
func errorBody(e *environment.Error) api.Error {
	body := api.Error{Error: e.Message, Code: e.Code, Remediation: e.Remediation}
	if len(e.Fields) == 0 && len(e.Details) == 0 {
		return body
	}
	body.Details = make(map[string]any, len(e.Details)+1)
	for k, v := range e.Details {
		if at, ok := v.(time.Time); ok {
			v = api.Time(at)
		}
		body.Details[k] = v
	}
	if len(e.Fields) > 0 {
		body.Details["fields"] = e.Fields
	}
	return body
}

// wantsJSON reports whether a request belongs to the API.
func wantsJSON(c echo.Context) bool {
	path := c.Request().URL.Path
	return strings.HasPrefix(path, "/api/") || path == "/api" || path == "/readyz" || path == "/metrics"
}

func codeOfStatus(status int) string {
	switch status {
	case http.StatusRequestEntityTooLarge:
		return "body_too_large"
	case http.StatusUnsupportedMediaType:
		return "unsupported_media_type"
	}
	text := http.StatusText(status)
	if text == "" {
		return fmt.Sprintf("status_%d", status)
	}
	return strings.ToLower(strings.NewReplacer(" ", "_", "-", "_").Replace(text))
}

func messageOfStatus(status int) string {
	switch status {
	case http.StatusNotFound:
		return "There is nothing at this address."
	case http.StatusMethodNotAllowed:
		return "This address does not take that method."
	case http.StatusRequestTimeout:
		return "The request did not arrive in time."
	case http.StatusRequestEntityTooLarge:
		return "The request is larger than 1 MiB."
	case http.StatusUnsupportedMediaType:
		return "Send JSON, with Content-Type: application/json."
	case http.StatusRequestURITooLong:
		return "The address is too long."
	}
	if text := http.StatusText(status); text != "" {
		return text + "."
	}
	return "The request was refused."
}

// unreadable is a request that cannot be read (400).
func unreadable(code, format string, args ...any) *environment.Error {
	return environment.NewError(environment.KindUnreadable, code, fmt.Sprintf(format, args...))
}

// unreadableField is a 400 that names the field.
func unreadableField(code, field, format string, args ...any) *environment.Error {
	e := unreadable(code, format, args...)
	e.Fields = []environment.FieldError{{Field: field, Message: e.Message}}
	return e
}

func (s *server) isStopping() bool {
	select {
	case <-s.Stopping:
		return s.Stopping != nil
	default:
		return false
	}
}
