package sshdtest

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Keygen runs ssh-keygen for a key in a file and returns the private key.
func Keygen(t testing.TB, file string, args ...string) string {
	t.Helper()
	args = append([]string{"-q", "-f", file}, args...)
	if out, err := exec.Command("ssh-keygen", args...).CombinedOutput(); err != nil {
		t.Fatalf("ssh-keygen %v: %v: %s", args, err, out)
	}
	return read(t, file)
}

// MakeHostKey makes, or makes anew, the host's key of a type. A running sshd
// takes it at its next start.
func (s *Server) MakeHostKey(kind string) {
	s.t.Helper()
	file := s.hostKeyFile(kind)
	for _, old := range []string{file, file + ".pub"} {
		if err := os.Remove(old); err != nil && !os.IsNotExist(err) {
			s.t.Fatal(err)
		}
	}
	args := []string{"-t", kind, "-N", ""}
	if kind == "rsa" {
		args = append(args, "-b", "2048") // the default size takes a second of a core
	}
	Keygen(s.t, file, args...)
}

func (s *Server) hostKeyFile(kind string) string { return filepath.Join(s.Dir, "host_"+kind) }

// HostKeyFile is the private key's file, with ".pub" beside it.
func (s *Server) HostKeyFile(kind string) string { return s.hostKeyFile(kind) }

// HostKey is the public half of the host's key of a type: "ssh-ed25519 AAAA...".
func (s *Server) HostKey(kind string) string {
	s.t.Helper()
	words := strings.Fields(read(s.t, s.hostKeyFile(kind)+".pub"))
	return words[0] + " " + words[1]
}

// KnownHosts are known_hosts lines for the server's keys: of the types, or of
// all.
func (s *Server) KnownHosts(kinds ...string) string {
	s.t.Helper()
	if len(kinds) == 0 {
		kinds = s.config.KeyTypes
	}
	var b strings.Builder
	for _, kind := range kinds {
		b.WriteString(KnownHostsName(s.Host, s.Port) + " " + s.HostKey(kind) + "\n")
	}
	return b.String()
}

// KnownHostsName is a host in a known_hosts line, as OpenSSH writes it.
func KnownHostsName(host string, port int) string {
	if port == 22 {
		return host
	}
	return "[" + host + "]:" + strconv.Itoa(port)
}

// Fingerprint is what ssh-keygen says of the host's key of a type.
func (s *Server) Fingerprint(kind string) string {
	s.t.Helper()
	return Fingerprint(s.t, s.hostKeyFile(kind)+".pub")
}

// Fingerprint is what ssh-keygen says of the key in a file: "SHA256:...".
func Fingerprint(t testing.TB, file string) string {
	t.Helper()
	out, err := exec.Command("ssh-keygen", "-lf", file).CombinedOutput()
	words := strings.Fields(string(out))
	if err != nil || len(words) < 2 {
		t.Fatalf("ssh-keygen -lf %s: %v: %s", file, err, out)
	}
	return words[1]
}

// Authorize sets the keys that may log in.
func (s *Server) Authorize(publicKeys ...string) {
	s.t.Helper()
	s.write("authorized_keys", strings.Join(publicKeys, "\n")+"\n")
	if err := os.Chmod(filepath.Join(s.Dir, "authorized_keys"), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// Keyscan is what ssh-keyscan says of the server.
func (s *Server) Keyscan(args ...string) string {
	s.t.Helper()
	args = append(args, "-p", strconv.Itoa(s.Port), net.ParseIP(s.Host).String())
	cmd := exec.Command("ssh-keyscan", args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr // it also has the comment lines
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("ssh-keyscan %v: %v: %s", args, err, &stderr)
	}
	return stderr.String() + string(out)
}
