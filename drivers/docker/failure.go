package docker

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strings"
	"unicode"

	"berth/environment"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"
)

// maxSaid is how much of an engine's words people see.
const maxSaid = 300

// said is an error of which only cleaned words are shown, in the log as well.
type said struct {
	text string
	err  error
}

func (s said) Error() string { return s.text }
func (s said) Unwrap() error { return s.err }

// clean makes one line of what somebody else wrote.
func clean(text string) string {
	text = strings.TrimPrefix(text, "Error response from daemon: ")
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsControl(r) || r == unicode.ReplacementChar }), " ")
	if runes := []rune(text); len(runes) > maxSaid {
		text = string(runes[:maxSaid]) + "…"
	}
	return strings.TrimSpace(text)
}

// words are what an engine said, with the secrets of a spec taken out.
func words(err error, secrets map[string]environment.Secret) string {
	text := err.Error()
	for _, secret := range secrets {
		if value := secret.Reveal(); len(value) > 2 {
			text = strings.ReplaceAll(text, value, "[secret]")
		}
	}
	return clean(text)
}

// explain makes an error for people of a call that failed, for what it was meant
// to do. code is that of an engine's refusal.
func (e *engine) explain(ctx context.Context, err error, code, doing string) error {
	return e.explainTo(ctx, err, code, doing, nil)
}

func (e *engine) explainTo(ctx context.Context, err error, code, doing string, secrets map[string]environment.Secret) error {
	if ours, ok := errors.AsType[*environment.Error](err); ok {
		return ours
	}
	what := words(err, secrets)
	cause := said{what, err}
	switch {
	case ctx.Err() != nil:
		return late(ctx, fmt.Sprintf("The engine at %s was not done in time (to %s).", e.at.shown(), doing))
	case errors.Is(err, context.DeadlineExceeded):
		return environment.NewError(environment.KindTimeout, environment.CodeEngineUnreachable,
			fmt.Sprintf("The engine at %s did not answer within %s (to %s).", e.at.shown(), e.limits.Call, doing)).
			Remedy("Look at the engine: it takes connections, but does not answer.").Because(cause)
	case client.IsErrConnectionFailed(err) || broken(err):
		return e.unreachable(ctx, err)
	case errdefs.IsUnauthorized(err) || errdefs.IsPermissionDenied(err):
		return environment.Unavailable(environment.CodeEngineDenied, fmt.Sprintf("The engine at %s refuses to %s: %s.", e.at.shown(), doing, stopless(what))).
			Remedy("Allow Berth's user, or its client certificate, to use the engine.").Because(cause)
	case strings.Contains(what, "no space left on device"):
		return environment.Unavailable(environment.CodeDiskLow, fmt.Sprintf("The disk of the engine at %s is full: it could not %s.", e.at.shown(), doing)).
			Remedy("Free some disk on the engine's machine, for example with docker system prune.").Because(cause)
	}
	return environment.Unavailable(code, fmt.Sprintf("The engine at %s could not %s: %s.", e.at.shown(), doing, stopless(what))).Because(cause)
}

// stopless is a sentence without its full stop.
func stopless(text string) string { return strings.TrimRight(text, ". ") }

// late is an error of a context that ended: a deadline has a code, a cancellation
// is handed on.
func late(ctx context.Context, message string) error {
	cause := context.Cause(ctx)
	if errors.Is(cause, context.Canceled) {
		return fmt.Errorf("%s: %w", message, cause)
	}
	if ours, ok := errors.AsType[*environment.Error](cause); ok {
		return ours.Because(errors.New(message))
	}
	return environment.NewError(environment.KindTimeout, environment.CodeTimedOut, message).
		Remedy(environment.Remedy(environment.CodeTimedOut)).Because(cause)
}

// unreachable finds out why an engine cannot be reached: by one more connection,
// as the client does not always tell.
func (e *engine) unreachable(ctx context.Context, cause error) error {
	dialled, cancel := context.WithTimeout(ctx, e.limits.Dial)
	defer cancel()
	conn, err := e.connect(dialled)
	if err == nil {
		_ = conn.Close()                                                                         // nothing was asked
		if remote, ok := errors.AsType[*net.OpError](cause); ok && remote.Op == "remote error" { // TLS tells it after the handshake
			return e.certificateRefused(cause)
		}
		if errors.Is(cause, errTooMuch) {
			return environment.Unavailable(environment.CodeEngineUnreachable, fmt.Sprintf("The engine at %s said more than %d MiB at once.", e.at.shown(), maxAnswer>>20))
		}
		return environment.Unavailable(environment.CodeEngineUnreachable, fmt.Sprintf("The engine at %s broke the connection off.", e.at.shown())).
			Remedy("Look whether it was restarted, and try again.").Because(said{clean(cause.Error()), cause})
	}
	return e.undialled(err)
}

func (e *engine) certificateRefused(cause error) error {
	return environment.Unavailable(environment.CodeEngineDenied, fmt.Sprintf("The engine at %s does not accept Berth's client certificate, or wants one.", e.at.shown())).
		Remedy("Enter a client certificate and its key that the engine's authority signed.").Because(said{clean(cause.Error()), cause})
}

// undialled explains why no connection to an engine came about.
func (e *engine) undialled(err error) error {
	if ours, ok := errors.AsType[*environment.Error](err); ok {
		return ours
	}
	at, cause := e.at.shown(), said{clean(err.Error()), err}
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	_, authority := errors.AsType[x509.UnknownAuthorityError](err)
	remote, alert := errors.AsType[*net.OpError](err)
	alert = alert && remote.Op == "remote error"
	switch {
	case errors.Is(err, fs.ErrPermission):
		return environment.Unavailable(environment.CodeEngineDenied, fmt.Sprintf("Berth's user may not use the engine at %s: permission denied.", at)).
			Remedy("Add Berth's user to the group of the socket, usually docker, and start Berth again.").Because(cause)
	case untrusted || authority:
		return environment.Unavailable(environment.CodeEngineDenied, fmt.Sprintf("The certificate of the engine at %s is not trusted: %s.", at, stopless(cause.text))).
			Remedy("Enter the certificate authority that signed it.").Because(cause)
	case alert:
		return e.certificateRefused(err)
	case errors.Is(err, fs.ErrNotExist):
		return environment.Unavailable(environment.CodeEngineUnreachable, fmt.Sprintf("There is no engine at %s: the socket does not exist.", at)).
			Remedy("Start the engine, or correct the address.").Because(cause)
	case errors.Is(err, context.DeadlineExceeded):
		return environment.NewError(environment.KindTimeout, environment.CodeEngineUnreachable, fmt.Sprintf("The engine at %s does not answer.", at)).
			Remedy("Check the address, and any firewall on the way.").Because(cause)
	}
	return environment.Unavailable(environment.CodeEngineUnreachable, fmt.Sprintf("The engine at %s cannot be reached: %s.", at, stopless(cause.text))).
		Remedy("Start the engine, or correct the address.").Because(cause)
}
