package cli

import (
	"errors"
	"net/http"

	"berth/environment"
)

// Exit codes of every command. `berth run` passes the remote exit code on.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitNotFound    = 3
	exitNotAllowed  = 4
	exitConflict    = 5
	exitProbeFailed = 6
	exitUnavailable = 7
)

// usageError is a command line that cannot be meant: it is refused before
// anything is done.
type usageError struct{ message string }

func (e *usageError) Error() string { return e.message }

// exitError ends a command with a code of its own. A nil cause has been shown
// to the user already.
type exitError struct {
	code  int
	cause error
}

func (e *exitError) Error() string {
	if e.cause == nil {
		return "exit"
	}
	return e.cause.Error()
}

func (e *exitError) Unwrap() error { return e.cause }

// exitCode is what a command's error means to a shell.
func exitCode(err error) int {
	if err == nil {
		return exitDone
	}
	if e, ok := errors.AsType[*exitError](err); ok {
		return e.code
	}
	if _, ok := errors.AsType[*usageError](err); ok {
		return exitUsage
	}
	if e, ok := errors.AsType[*apiError](err); ok {
		return exitOfStatus(e.Status)
	}
	return exitOfKind(environment.KindOf(err))
}

func exitOfStatus(status int) int {
	switch status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusRequestEntityTooLarge:
		return exitUsage
	case http.StatusNotFound:
		return exitNotFound
	case http.StatusUnauthorized, http.StatusForbidden:
		return exitNotAllowed
	case http.StatusConflict, http.StatusPreconditionFailed:
		return exitConflict
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return exitUnavailable
	}
	return exitFailed
}

func exitOfKind(kind environment.Kind) int {
	switch kind {
	case environment.KindInvalid, environment.KindUnreadable:
		return exitUsage
	case environment.KindNotFound:
		return exitNotFound
	case environment.KindForbidden, environment.KindUnauthenticated:
		return exitNotAllowed
	case environment.KindConflict, environment.KindStale:
		return exitConflict
	case environment.KindUnavailable, environment.KindTimeout, environment.KindLimited:
		return exitUnavailable
	}
	return exitFailed
}
