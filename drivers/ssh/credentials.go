package ssh

import (
	"context"
	"fmt"
	"net"

	"berth/environment"

	gossh "golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// credentials are what an environment logs in with, ready to be used.
type credentials struct {
	signers  []gossh.Signer
	hasKey   bool // a key of its own is among the signers
	password environment.Secret
	closers  []func() error
	// problem is why they cannot be used at all. It shows at the login stage,
	// after the host key was checked and before anything is sent.
	problem func(endpoint) *failure
}

func (c *credentials) close() {
	for _, closer := range c.closers {
		_ = closer() // the agent's socket; nothing was written that could be lost
	}
}

// credentialsOf opens what a spec holds. The rules: a key that cannot be used
// is the failure, and no other credential is tried in its place; beside a key
// the password answers only for a second factor, after the key was accepted.
func (d *Driver) credentialsOf(ctx context.Context, c environment.SSHConfig, spec environment.Spec) *credentials {
	creds := &credentials{password: spec.Secrets["password"]}
	broken := func(code, message string) *credentials {
		creds.signers, creds.password = nil, environment.Secret{}
		creds.problem = func(ep endpoint) *failure {
			return fail("login", code, fmt.Sprintf("Cannot log in to %s as %q: %s", ep, ep.user, message), nil).measure("user", ep.user)
		}
		return creds
	}
	for _, field := range []string{"privateKey", "passphrase", "password"} {
		if code := spec.SecretProblems[field]; code != "" {
			return broken(code, secretWords(field, code))
		}
	}
	if secret := spec.Secrets["privateKey"]; !secret.Empty() {
		key, problem := readPrivateKey(secret.Reveal(), spec.Secrets["passphrase"].Reveal())
		if problem != nil {
			return broken(problem.code, lowerFirst(problem.message))
		}
		signers, message := withCertificate(key.signer, c.Certificate)
		if message != "" {
			return broken(environment.CodeKeyUnreadable, message)
		}
		creds.signers, creds.hasKey = signers, true
	}
	if c.UseAgent {
		if message := creds.addAgent(ctx, d.opts.AgentSocket); message != "" && len(creds.signers) == 0 && creds.password.Empty() {
			return broken(environment.CodeCredentialMissing, message)
		}
	}
	if len(creds.signers) == 0 && creds.password.Empty() {
		return broken(environment.CodeCredentialMissing, "the environment has neither a key nor a password.")
	}
	return creds
}

func secretWords(field, code string) string {
	words := map[string]string{"privateKey": "private key", "passphrase": "passphrase", "password": "password"}[field]
	if code == environment.CodeSecretDisabled {
		return "the stored " + words + " is disabled."
	}
	return "the stored " + words + " is gone."
}

// withCertificate offers the certificate before the bare key.
func withCertificate(signer gossh.Signer, text *string) ([]gossh.Signer, string) {
	plain := withoutSHA1(signer)
	if text == nil || *text == "" {
		return plain, ""
	}
	cert, problem := readCertificate(*text)
	if problem != "" {
		return nil, lowerFirst(problem)
	}
	var signers []gossh.Signer
	for _, s := range plain {
		certified, err := gossh.NewCertSigner(cert, s)
		if err != nil {
			return nil, "the certificate belongs to another key."
		}
		signers = append(signers, certified)
	}
	return append(signers, plain...), ""
}

// addAgent adds the keys of the agent of the user who runs the server. It
// returns a message when there are none.
func (c *credentials) addAgent(ctx context.Context, socket string) string {
	if socket == "" {
		return "the server's user has no SSH agent (SSH_AUTH_SOCK is not set)."
	}
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", socket)
	if err != nil {
		return "the SSH agent of the server's user does not answer."
	}
	// An agent that hangs must not hold the login past its time.
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	c.closers = append(c.closers, func() error { stop(); return conn.Close() })
	signers, err := agent.NewClient(conn).Signers()
	if err != nil || len(signers) == 0 {
		return "the SSH agent of the server's user holds no keys."
	}
	for _, signer := range signers {
		c.signers = append(c.signers, withoutSHA1(signer)...)
	}
	return ""
}
