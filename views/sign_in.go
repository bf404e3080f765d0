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
		p.state = SignInLimited
		if seconds, is := failed.Details["retryAfterSec"].(int); is {
			p.wait = seconds
		}
		if failed.Code == "rate_limited" {
			p.state = SignInWaiting
		}
	case environment.KindUnavailable, environment.KindTimeout, environment.KindInternal:
		p.state = SignInBusy
	default:
		p.state = SignInWrong
	}
	return p
}

// NewSignInNotNeeded says that nobody signs in on this server.
func NewSignInNotNeeded(next string) SignInProps {
	return SignInProps{state: SignInNotNeeded, next: next}
}
