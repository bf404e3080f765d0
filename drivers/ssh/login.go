package ssh

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"berth/environment"

	gossh "golang.org/x/crypto/ssh"
)

// attempt is one login: which methods were used, and what the server said.
type attempt struct {
	ep       endpoint
	creds    *credentials
	keys     bool // offered
	password bool // sent, by either method
	asked    bool // keyboard-interactive was begun
	allowed  []string
	partial  []string
	fault    error
}

var (
	errRefused     = errors.New("login refused")
	errInteraction = errors.New("login needs interaction")
)

// next chooses the next method, or ends the login with errRefused or
// errInteraction.
func (a *attempt) next(ctx *gossh.ClientAuthContext) (gossh.AuthMethod, error) {
	a.allowed, a.partial = ctx.AllowedMethods, ctx.PartialSuccessMethods
	accepted := len(a.partial) > 0
	mayPassword := !a.creds.password.Empty() && (!a.creds.hasKey || accepted)
	switch {
	case a.fault != nil:
		return nil, a.fault
	case slices.Contains(a.allowed, "publickey") && len(a.creds.signers) > 0 && !a.keys:
		a.keys = true
		return gossh.PublicKeys(a.creds.signers...), nil
	case slices.Contains(a.allowed, "password") && mayPassword && !a.password:
		a.password = true
		return gossh.Password(a.creds.password.Reveal()), nil
	case slices.Contains(a.allowed, "keyboard-interactive") && !a.asked && (mayPassword && !a.password || accepted):
		a.asked = true
		return gossh.KeyboardInteractive(a.answer), nil
	case accepted:
		return nil, errInteraction
	}
	return nil, errRefused
}

// answer gives the stored password to one question whose answer is hidden.
// Anything else needs a person, and would be asked for ever.
func (a *attempt) answer(_, _ string, questions []string, echos []bool) ([]string, error) {
	if len(questions) == 0 {
		return nil, nil // only something to read
	}
	if len(questions) > 1 || echos[0] || a.password || a.creds.password.Empty() {
		a.fault = errInteraction
		return nil, errInteraction
	}
	a.password = true
	return []string{a.creds.password.Reveal()}, nil
}

// failure explains a login that did not succeed.
func (a *attempt) failure(cause error) *failure {
	measured := func(f *failure) *failure {
		f.measured["user"], f.measured["accepts"] = a.ep.user, slices.Clone(a.allowed)
		if prints := a.offered(); len(prints) > 0 {
			f.measured["offeredKeys"] = prints
		}
		return f
	}
	accepts := "."
	if len(a.allowed) > 0 {
		accepts = "; it accepts " + strings.Join(a.allowed, ", ") + "."
	}
	if errors.Is(cause, errInteraction) || a.fault != nil {
		return measured(fail("login", environment.CodeLoginNeedsInteraction,
			fmt.Sprintf("%s needs an interactive login for %q (SSH login): it asks for more than the stored credentials can answer%s", a.ep.capital(), a.ep.user, accepts), cause))
	}
	with := a.tried()
	return measured(fail("login", environment.CodeLoginRefused,
		fmt.Sprintf("%s refused %s for user %q (SSH login)%s", a.ep.capital(), with, a.ep.user, accepts), cause))
}

// tried says what was offered.
func (a *attempt) tried() string {
	var parts []string
	if a.keys {
		parts = append(parts, "the key "+strings.Join(a.offered(), ", "))
	}
	if a.password {
		parts = append(parts, "the password")
	}
	if len(parts) == 0 {
		return "the login"
	}
	return strings.Join(parts, " and ")
}

// offered are the fingerprints of the keys that were offered, each once.
func (a *attempt) offered() []string {
	if !a.keys {
		return nil
	}
	var prints []string
	for _, signer := range a.creds.signers {
		public := signer.PublicKey()
		if cert, ok := public.(*gossh.Certificate); ok {
			public = cert.Key
		}
		if print := gossh.FingerprintSHA256(public); !slices.Contains(prints, print) {
			prints = append(prints, print)
		}
	}
	return prints
}

func lowerFirst(text string) string {
	if text == "" {
		return text
	}
	return strings.ToLower(text[:1]) + text[1:]
}
