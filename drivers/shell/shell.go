// Package shell is a /bin/sh on a target as the drivers use it: scripts go in
// on standard input, so that no value is ever on a command line, and answers
// are read between markers, so that start-up noise is never taken for one.
package shell

import (
	"context"
	"io"
	"strconv"
)

// Command is what a transport runs on the target to open a Session. It is the
// same whatever the login shell is, holds no value, and reads one line with the
// length of the script in bytes, then the script, from standard input. What
// follows on standard input is the script's own, but is sent only when the
// script has said something: some heads (BusyBox) read ahead of the length.
const Command = `exec /bin/sh -c 'IFS= read -r n && eval "$(head -c "$n")"'`

// Session is one running Command.
type Session interface {
	io.Writer // standard input
	CloseWrite() error
	Stdout() io.Reader
	Stderr() io.Reader
	// Wait returns when the command ended: nil for exit 0, an *ExitError for
	// another code, any other error when the connection broke.
	Wait() error
	// Close gives the session up; the command may live on.
	Close() error
}

// Opener opens a Session. Errors are environment.Errors with a probe code.
type Opener func(context.Context) (Session, error)

// ExitError is a non-zero exit of a session's command.
type ExitError struct{ Code int }

func (e *ExitError) Error() string { return "the shell exited with " + strconv.Itoa(e.Code) }
