package ssh

import (
	"context"
	"errors"
	"fmt"
	"time"

	"berth/environment"
)

// failure is why a host could not be used: the stage of the probe at which it
// shows, and the error that people see.
type failure struct {
	stage    string
	err      *environment.Error
	measured map[string]any
	limit    map[string]any
	// presented and trusted are set when the host key is why.
	presented []environment.HostKey
	trusted   []environment.HostKey
}

func (f *failure) Error() string { return f.err.Error() }

// Unwrap makes the failure an environment.Error for everybody else.
func (f *failure) Unwrap() error { return f.err }

// fail makes a failure of a stage. The message names target, port and layer.
func fail(stage, code, message string, cause error) *failure {
	kind := environment.KindUnavailable
	if code == environment.CodeTimedOut || code == environment.CodeConnectTimeout || code == environment.CodeGreetingTimeout {
		kind = environment.KindTimeout
	}
	err := environment.NewError(kind, code, message).Remedy(environment.Remedy(code)).With("stage", stage)
	if cause != nil {
		err = err.Because(cause)
	}
	return &failure{stage: stage, err: err, measured: map[string]any{}, limit: map[string]any{}}
}

// measure adds what was seen.
func (f *failure) measure(key string, value any) *failure {
	f.measured[key] = value
	return f
}

// within adds a limit.
func (f *failure) within(key string, value any) *failure {
	f.limit[key] = value
	return f
}

// remedy replaces the general advice by a better one.
func (f *failure) remedy(text string) *failure {
	f.err = f.err.Remedy(text)
	return f
}

// asFailure returns the failure in err's chain, or makes one of a stage.
func asFailure(err error, stage string, ep endpoint) *failure {
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	if e, ok := errors.AsType[*environment.Error](err); ok {
		return fail(stage, e.Code, e.Message, err)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return timedOut(stage, ep, 0, err)
	}
	return fail(stage, environment.CodeConnectionLost, fmt.Sprintf("The connection to %s broke.", ep), err)
}

// timedOut is a stage that its time ran out in.
func timedOut(stage string, ep endpoint, after time.Duration, cause error) *failure {
	text := fmt.Sprintf("%s did not answer in time (%s).", ep, stageLayer(stage))
	if after > 0 {
		text = fmt.Sprintf("%s did not answer within %s (%s).", ep, after.Round(100*time.Millisecond), stageLayer(stage))
	}
	return fail(stage, environment.CodeTimedOut, text, cause)
}

// stageLayer names the layer of a stage in a message.
func stageLayer(stage string) string {
	switch stage {
	case "resolve":
		return "name lookup"
	case "connect":
		return "TCP"
	case "greeting":
		return "SSH greeting"
	case "host_key":
		return "SSH key exchange"
	case "login":
		return "SSH login"
	}
	return stage + " over SSH"
}
