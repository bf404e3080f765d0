package docker

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync/atomic"

	"berth/environment"
)

// maxAnswer is how much an engine may say in one answer.
const maxAnswer = 64 << 20

var errTooMuch = errors.New("the engine's answer is too long")

// answers is a connection for calls, one after the other. An answer that is too
// long breaks it.
type answers struct {
	net.Conn
	read atomic.Int64 // an engine may also answer before it was asked
}

// Write sends a request, or a part of one: the next answer begins.
func (c *answers) Write(p []byte) (int, error) {
	c.read.Store(0)
	return c.Conn.Write(p)
}

func (c *answers) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if c.read.Add(int64(n)) > maxAnswer {
		return 0, errTooMuch
	}
	return n, err
}

// dialer opens a connection to an engine.
type dialer func(context.Context) (net.Conn, error)

// dialer returns how the engine of a config is reached. An error says which
// credential is missing.
func (d *Driver) dialer(c config, spec environment.Spec) (dialer, error) {
	at := c.endpoint()
	for _, name := range secretsOf(at.scheme) {
		if code := spec.SecretProblems[name]; code != "" {
			return nil, environment.Unavailable(code, fmt.Sprintf("The stored %s for the engine at %s cannot be opened.", secretWords(name), at.shown())).
				Remedy(environment.Remedy(code))
		}
	}
	var plain net.Dialer
	switch at.scheme {
	case overUnix:
		return func(ctx context.Context) (net.Conn, error) { return plain.DialContext(ctx, "unix", at.socket) }, nil
	case overTCP:
		return tlsDialer(c, at, spec)
	case overSSH:
		return d.sshDialer(c, at, spec)
	}
	return nil, environment.InvalidFields([]environment.FieldError{{Field: "config.engine", Message: "This is no address of an engine."}})
}

func secretWords(name string) string {
	return map[string]string{"tlsKey": "client key", "sshPrivateKey": "private key", "sshPassphrase": "passphrase",
		"sshPassword": "password", "registryPassword": "password of the registry"}[name]
}

func tlsDialer(c config, at endpoint, spec environment.Spec) (dialer, error) {
	conf := &tls.Config{ServerName: at.host, MinVersion: tls.VersionTLS12}
	if c.TLSCA != "" {
		conf.RootCAs = x509.NewCertPool()
		conf.RootCAs.AppendCertsFromPEM([]byte(c.TLSCA))
	}
	if c.TLSCert != "" {
		key := spec.Secrets["tlsKey"]
		if key.Empty() {
			return nil, credentialMissing("The client key for the engine at "+at.shown()+" is missing.", "Enter the key that belongs to the client certificate.")
		}
		pair, err := tls.X509KeyPair([]byte(c.TLSCert), []byte(key.Reveal()))
		if err != nil {
			return nil, environment.Unavailable(environment.CodeEngineDenied, "The client certificate and its key do not belong together.")
		}
		conf.Certificates = []tls.Certificate{pair}
	}
	dial := tls.Dialer{Config: conf}
	address := net.JoinHostPort(at.host, strconv.Itoa(at.port))
	return func(ctx context.Context) (net.Conn, error) { return dial.DialContext(ctx, "tcp", address) }, nil
}

func credentialMissing(message, remedy string) error {
	return environment.Unavailable(environment.CodeCredentialMissing, message).Remedy(remedy)
}

// sshDialer goes through the ssh driver, by its rules.
func (d *Driver) sshDialer(c config, at endpoint, spec environment.Spec) (dialer, error) {
	if d.dialSSH == nil {
		return nil, environment.NewError(environment.KindUnsupported, environment.CodeEngineUnreachable, "This server cannot reach engines over SSH.")
	}
	host := environment.SSHConfig{Host: at.host, Port: at.port, Username: at.user, RemoteWorkspacePath: "/",
		KnownHosts: &c.SSHKnownHosts, StrictHostKeyChecking: true, KeepAliveSec: environment.DefaultKeepAliveSec, RequiredTools: []string{}}
	text, err := json.Marshal(host)
	if err != nil {
		return nil, fmt.Errorf("write the way to %s: %w", at, err)
	}
	way := environment.Spec{EnvironmentID: spec.EnvironmentID, Driver: environment.DriverSSH, Config: text, Secrets: map[string]environment.Secret{}}
	for ours, theirs := range map[string]string{"sshPrivateKey": "privateKey", "sshPassphrase": "passphrase", "sshPassword": "password"} {
		if secret := spec.Secrets[ours]; !secret.Empty() {
			way.Secrets[theirs] = secret
		}
	}
	return func(ctx context.Context) (net.Conn, error) { return d.dialSSH(ctx, way, at.socket) }, nil
}

// broken reports whether an error is of the connection and not the engine's word.
func broken(err error) bool {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, errTooMuch) {
		return true
	}
	if _, ok := errors.AsType[*net.OpError](err); ok {
		return true
	}
	return strings.Contains(err.Error(), "error during connect")
}
