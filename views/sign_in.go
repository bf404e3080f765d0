package views

import "berth/environment"

// SignInState is how a sign-in stands.
type SignInState string

// The states of the sign-in.
const (
	SignInShown     SignInState = "shown"
	SignInEnded     SignInState = "ended" // somebody was signed in here, and is no more
	SignInWrong     SignInState = "wrong"
	SignInWaiting   SignInState = "waiting" // too many wrong passwords
	SignInLimited   SignInState = "limited" // too many requests from one address
	SignInBusy      SignInState = "busy"
	SignInNotNeeded SignInState = "not-needed"
)

// SignInProps is the form, or why it is not needed.
type SignInProps struct {
	state   SignInState
	email   string
	next    string
	problem string
	wait    int // seconds; 0: does not say
}

// NewSignIn makes the form. next is the way back within this server, failed why
// the last attempt was refused (nil for none); ended tells that a session ended.
func NewSignIn(email, next string, ended bool, failed *environment.Error) SignInProps {
	p := SignInProps{state: SignInShown, email: email, next: next}
	if failed == nil {
		if ended {
			p.state = SignInEnded
		}
		return p
	}
	p.problem = failed.Message
	switch failed.Kind {
	case environment.KindLimited:
		p.state, p.wait = SignInWaiting, waitOf(failed)
	case environment.KindUnavailable, environment.KindTimeout:
		p.state = SignInBusy
	default:
		p.state = SignInWrong
	}
	return p
}

// NewSignInLimited makes the form for an address that asked for it too often,
// whatever it asked.
func NewSignInLimited(email, next string, failed *environment.Error) SignInProps {
	return SignInProps{state: SignInLimited, email: email, next: next, problem: failed.Message, wait: waitOf(failed)}
}

// waitOf is how many seconds a refusal asks to wait; 0 when it does not say.
func waitOf(e *environment.Error) int {
	seconds, _ := e.Details["retryAfterSec"].(int)
	return seconds
}

// NewSignInNotNeeded says that nobody signs in on this server.
func NewSignInNotNeeded(next string) SignInProps {
	return SignInProps{state: SignInNotNeeded, next: next}
}
