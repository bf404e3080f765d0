package e2e

import (
	"path/filepath"
	"testing"

	"berth/drivers/ssh/sshdtest"
)

// host is a real OpenSSH server on loopback, with three host keys, for the user
// who runs the tests.
type host struct {
	*sshdtest.Server
	workspace string
}

// newHost starts a server; its end belongs to the test.
func newHost(t *testing.T) *host {
	t.Helper()
	h := &host{Server: sshdtest.Start(t, sshdtest.Config{})}
	h.workspace = filepath.Join(h.Home, "work")
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("sshd said:\n%s", tail(h.Log(), 3000))
		}
	})
	return h
}

// rebuild gives the host other keys.
func (h *host) rebuild() {
	for _, kind := range []string{"ed25519", "ecdsa", "rsa"} {
		h.MakeHostKey(kind)
	}
	h.Kill()
	h.Start()
}

// fingerprint is that of the host's ed25519 key.
func (h *host) fingerprint() string { return h.Fingerprint("ed25519") }

// config is what an environment of this host has for its settings.
func (h *host) config() map[string]any {
	return map[string]any{"host": h.Host, "port": h.Port, "username": h.User, "remoteWorkspacePath": h.workspace, "privateKey": h.PrivateKey}
}

// save makes an environment of the host, with its key trusted, and returns its
// id.
func (h *host) save(t *testing.T, s *server, name string) string {
	t.Helper()
	var e struct{ ID string }
	s.call(t, "POST", "/api/companies/"+s.company+"/environments",
		map[string]any{"name": name, "driver": "ssh", "config": h.config()}, &e, 201)
	s.call(t, "POST", "/api/environments/"+e.ID+"/trust-host-key", map[string]any{"fingerprint": h.fingerprint()}, nil, 200)
	return e.ID
}
