package environment

import (
	"errors"
	"fmt"
	"slices"
)

// Kind says what sort of failure an Error is. The front doors map it: handlers
// to a status and a page, the command line to an exit code.
type Kind string

// The kinds. An error without one is KindInternal.
const (
	KindInvalid         Kind = "invalid"
	KindNotFound        Kind = "not_found"
	KindConflict        Kind = "conflict"
	KindStale           Kind = "stale" // the If-Match of the caller is not the current revision
	KindForbidden       Kind = "forbidden"
	KindUnauthenticated Kind = "unauthenticated"
	KindUnavailable     Kind = "unavailable"
	KindUnsupported     Kind = "unsupported"
	KindTimeout         Kind = "timeout"
	KindLimited         Kind = "limited"    // too many requests: 429
	KindUnreadable      Kind = "unreadable" // the request cannot be read at all: 400, where KindInvalid is 422
	KindInternal        Kind = "internal"
)

// FieldError is a message for one field of a form or of a request body. Field
// is the JSON path: "name", "config.port", "envVars.API_TOKEN".
type FieldError struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// Error is a failure that a person may see. Message and Remediation never hold
// a secret; the wrapped cause is for the log only.
type Error struct {
	Kind        Kind
	Code        string
	Message     string
	Remediation string
	Fields      []FieldError
	Details     map[string]any
	cause       error
}

func (e *Error) Error() string {
	if e.cause != nil {
		return fmt.Sprintf("%s: %v", e.Message, e.cause)
	}
	return e.Message
}

func (e *Error) Unwrap() error { return e.cause }

// Because returns a copy of e that wraps cause.
func (e *Error) Because(cause error) *Error {
	c := *e
	c.cause = cause
	return &c
}

// Remedy returns a copy of e that says how to fix it.
func (e *Error) Remedy(text string) *Error {
	c := *e
	c.Remediation = text
	return &c
}

// With returns a copy of e that carries one more detail.
func (e *Error) With(key string, value any) *Error {
	c := *e
	c.Details = make(map[string]any, len(e.Details)+1)
	for k, v := range e.Details {
		c.Details[k] = v
	}
	c.Details[key] = value
	return &c
}

// NewError makes an Error of a kind with a stable code.
func NewError(kind Kind, code, message string) *Error {
	return &Error{Kind: kind, Code: code, Message: message}
}

// Invalid is a request that was understood and is wrong (422).
func Invalid(code, message string) *Error { return NewError(KindInvalid, code, message) }

// InvalidFields is a request with errors at fields (422). It is nil when there
// are none, so that a check can end with it; the type is error for that reason.
func InvalidFields(fields []FieldError) error {
	if len(fields) == 0 {
		return nil
	}
	e := Invalid("validation_failed", fields[0].Message)
	e.Fields = fields
	return e
}

// NotFound is a thing that does not exist, or that the actor may not know of.
func NotFound(what string) *Error {
	return NewError(KindNotFound, what+"_not_found", "There is no such "+words(what)+".")
}

// Conflict is a request that the present state refuses (409).
func Conflict(code, message string) *Error { return NewError(KindConflict, code, message) }

// Forbidden is a refusal by role, given before anything is read.
func Forbidden(message string) *Error { return NewError(KindForbidden, "forbidden", message) }

// Unavailable is a supplier that does not answer: the database, a target.
func Unavailable(code, message string) *Error { return NewError(KindUnavailable, code, message) }

// AsError returns the Error in err's chain; one of KindInternal with a neutral
// message when there is none. It returns nil for nil.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return NewError(KindInternal, "internal", "Something went wrong inside Berth.").Because(err)
}

// KindOf returns the kind of err: KindInternal when it is not an Error, "" for
// nil.
func KindOf(err error) Kind {
	if err == nil {
		return ""
	}
	return AsError(err).Kind
}

// CodeOf returns the stable code of err, "" for nil.
func CodeOf(err error) string {
	if err == nil {
		return ""
	}
	return AsError(err).Code
}

// AtField puts an error with one of the codes at a field, so that a form shows it
// there. Any other is returned as it is, and so is one that names its fields.
func AtField(err error, field string, codes ...string) error {
	e, ok := errors.AsType[*Error](err)
	if !ok || len(e.Fields) > 0 || !slices.Contains(codes, e.Code) {
		return err
	}
	placed := *e
	placed.Fields = []FieldError{{Field: field, Message: e.Message}}
	return &placed
}

func words(snake string) string {
	b := []byte(snake)
	for i := range b {
		if b[i] == '_' {
			b[i] = ' '
		}
	}
	return string(b)
}
