// Package sshtarget is a disposable SSH server inside the process, with keys of
// its own: the target of the demo, and of tests that need no real sshd. It runs
// commands as the user of the process, in a home folder that goes with it.
package sshtarget

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/gliderlabs/ssh"
	"github.com/pkg/sftp"
	gossh "golang.org/x/crypto/ssh"
)

// Options of a Target; the zero value is useful.
type Options struct {
	Addr string // where to listen: "127.0.0.1:0"
	User string // who may log in: "demo"
	// Env is added to what commands see: HOME, USER, LOGNAME, SHELL and PATH.
	Env []string
}

// Target is a running server. Close ends it and everything that it started.
type Target struct {
	Addr       string // host:port
	Host       string
	Port       int
	User       string
	PrivateKey string   // OpenSSH, of the only key that may log in
	PublicKey  string   // its authorized_keys line
	HostKeys   []string // known_hosts lines, one for each key type
	Home       string   // where commands run; removed by Close

	server *ssh.Server
	env    []string
	mark   string // in the environment of everything that was started
	served sync.WaitGroup
	once   sync.Once
	err    error

	mu      sync.Mutex
	closed  bool
	conns   map[net.Conn]struct{}
	leaders map[int]struct{} // of the sessions of commands that run
}

// Start listens and serves until Close. ctx bounds the start only.
func Start(ctx context.Context, opts Options) (*Target, error) {
	if opts.Addr == "" {
		opts.Addr = "127.0.0.1:0"
	}
	if opts.User == "" {
		opts.User = "demo"
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", opts.Addr)
	if err != nil {
		return nil, fmt.Errorf("listen for SSH on %s: %w", opts.Addr, err)
	}
	t := &Target{User: opts.User, Addr: listener.Addr().String(), conns: map[net.Conn]struct{}{}, leaders: map[int]struct{}{}}
	if err := t.prepare(opts); err != nil {
		return nil, errors.Join(err, listener.Close(), t.removeHome())
	}
	t.served.Go(func() {
		_ = t.server.Serve(listener) // it returns when Close closes the listener
	})
	return t, nil
}

func (t *Target) prepare(opts Options) error {
	host, port, err := net.SplitHostPort(t.Addr)
	if err != nil {
		return fmt.Errorf("read the address %s: %w", t.Addr, err)
	}
	t.Host = host
	if t.Port, err = strconv.Atoi(port); err != nil {
		return fmt.Errorf("read the port of %s: %w", t.Addr, err)
	}
	client, err := t.clientKey()
	if err != nil {
		return err
	}
	signers, err := hostSigners()
	if err != nil {
		return err
	}
	for _, signer := range signers {
		line := strings.TrimSpace(string(gossh.MarshalAuthorizedKey(signer.PublicKey())))
		t.HostKeys = append(t.HostKeys, fmt.Sprintf("[%s]:%d %s", t.Host, t.Port, line))
	}
	if t.Home, err = os.MkdirTemp("", "berth-target-"); err != nil {
		return fmt.Errorf("make a home for the target: %w", err)
	}
	if t.Home, err = filepath.EvalSymlinks(t.Home); err != nil {
		return fmt.Errorf("find the target's home: %w", err)
	}
	t.environment(opts.Env)
	t.server = &ssh.Server{
		Version:      "Berth-target",
		Handler:      t.run,
		ConnCallback: t.track,
		PublicKeyHandler: func(ctx ssh.Context, key ssh.PublicKey) bool {
			return ctx.User() == t.User && ssh.KeysEqual(key, client)
		},
		SubsystemHandlers: map[string]ssh.SubsystemHandler{"sftp": t.files},
	}
	for _, signer := range signers {
		t.server.AddHostKey(signer)
	}
	return nil
}

// environment is all that commands see; nothing of the process's own goes in.
func (t *Target) environment(extra []string) {
	var id [8]byte
	_, _ = rand.Read(id[:]) // it never fails
	t.mark = "SSHTARGET_ID=" + hex.EncodeToString(id[:])
	t.env = append([]string{
		"HOME=" + t.Home, "USER=" + t.User, "LOGNAME=" + t.User, "SHELL=/bin/sh",
		"PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin", t.mark,
	}, extra...)
}

func (t *Target) clientKey() (ssh.PublicKey, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a client key: %w", err)
	}
	block, err := gossh.MarshalPrivateKey(private, t.User)
	if err != nil {
		return nil, fmt.Errorf("write the client key: %w", err)
	}
	signer, err := gossh.NewSignerFromKey(private)
	if err != nil {
		return nil, fmt.Errorf("use the client key: %w", err)
	}
	t.PrivateKey = string(pem.EncodeToMemory(block))
	t.PublicKey = strings.TrimSpace(string(gossh.MarshalAuthorizedKey(signer.PublicKey())))
	return signer.PublicKey(), nil
}

func hostSigners() ([]gossh.Signer, error) {
	_, ed, errEd := ed25519.GenerateKey(rand.Reader)
	ec, errEC := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	rs, errRSA := rsa.GenerateKey(rand.Reader, 2048)
	if err := errors.Join(errEd, errEC, errRSA); err != nil {
		return nil, fmt.Errorf("make host keys: %w", err)
	}
	var signers []gossh.Signer
	for _, key := range []any{ed, ec, rs} {
		signer, err := gossh.NewSignerFromKey(key)
		if err != nil {
			return nil, fmt.Errorf("use a host key: %w", err)
		}
		signers = append(signers, signer)
	}
	return signers, nil
}

// files serves SFTP, beginning in the home folder.
func (t *Target) files(session ssh.Session) {
	server, err := sftp.NewServer(session, sftp.WithServerWorkingDirectory(t.Home))
	if err != nil {
		return
	}
	_ = server.Serve() // it ends with the session
	_ = server.Close()
}

// Close ends the server, its connections and every process that it started,
// also those that left their session, and removes the home folder. Closing
// twice returns the same error.
func (t *Target) Close() error {
	t.once.Do(func() {
		t.mu.Lock()
		t.closed = true
		t.mu.Unlock()
		errServer := t.server.Close()
		t.killAll()
		t.served.Wait()
		t.err = errors.Join(errServer, t.removeHome())
	})
	return t.err
}

// track keeps a connection until it ends.
func (t *Target) track(ctx ssh.Context, conn net.Conn) net.Conn {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.conns[conn] = struct{}{}
	context.AfterFunc(ctx, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.conns, conn)
	})
	return conn
}

// DropConnections breaks every connection, as a network would. What runs goes
// on.
func (t *Target) DropConnections() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for conn := range t.conns {
		_ = conn.Close()
	}
}

func (t *Target) removeHome() error {
	if t.Home == "" {
		return nil
	}
	if err := os.RemoveAll(t.Home); err != nil {
		return fmt.Errorf("remove the target's home: %w", err)
	}
	return nil
}
