// Package sshdtest runs the system's real sshd for tests: with keys of its own,
// on a free port of the loopback, with its log at hand. The tests run as root,
// or as the user who logs in.
package sshdtest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Sshd is where the daemon is found. It has to be an absolute path: sshd starts
// itself again by it.
const Sshd = "/usr/sbin/sshd"

// Config of a Server; the zero value is an sshd as most hosts have it.
type Config struct {
	// Hosts are the addresses to listen on, on one port: 127.0.0.1 by default.
	Hosts []string
	Port  int // 0: a free one
	// KeyTypes of the host: ed25519, ecdsa and rsa by default.
	KeyTypes []string
	// Lines are added in front of the configuration, so that they win.
	Lines []string
	// User who logs in; nil is the user of the test, with a home of its own.
	User *User
}

// Server is a running sshd. It ends with the test.
type Server struct {
	Host       string // the first of Config.Hosts
	Port       int
	User       string
	Home       string // of the user, as commands see it
	Dir        string // keys, configuration and log
	PrivateKey string // OpenSSH, of a key that may log in
	PublicKey  string // its authorized_keys line

	t      testing.TB
	config Config
	cmd    *exec.Cmd
	ended  chan struct{} // closed when cmd was waited for
	mark   string        // in the environment of what sessions start
}

// Start runs an sshd until the end of the test.
func Start(t testing.TB, config Config) *Server {
	t.Helper()
	if len(config.Hosts) == 0 {
		config.Hosts = []string{"127.0.0.1"}
	}
	if len(config.KeyTypes) == 0 {
		config.KeyTypes = []string{"ed25519", "ecdsa", "rsa"}
	}
	s := &Server{t: t, config: config, Host: config.Hosts[0], Port: config.Port, Dir: tempDir(t)}
	s.mark = "SSHDTEST=" + filepath.Base(s.Dir)
	s.setUser(config.User)
	for _, kind := range config.KeyTypes {
		s.MakeHostKey(kind)
	}
	key := filepath.Join(s.Dir, "client")
	s.PrivateKey = Keygen(t, key, "-t", "ed25519", "-N", "")
	s.PublicKey = strings.TrimSpace(read(t, key+".pub"))
	s.Authorize(s.PublicKey)
	t.Cleanup(s.cleanup)
	for {
		s.Port = config.Port
		if s.Port == 0 {
			s.Port = freePort(t, config.Hosts)
		}
		s.configure()
		if s.run() {
			return s
		}
		// Somebody else took the port meanwhile.
		if config.Port != 0 || !strings.Contains(s.Log(), "Address already in use") {
			t.Fatalf("sshd ended at once; its log:\n%s", s.Log())
		}
		s.ClearLog()
	}
}

func tempDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sshdtest-") // short, and readable by whoever logs in
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("remove %s: %v", dir, err)
		}
	})
	return dir
}

func (s *Server) setUser(u *User) {
	s.t.Helper()
	if u != nil {
		s.User, s.Home = u.Name, u.Home
		return
	}
	current, err := user.Current()
	if err != nil {
		s.t.Fatal(err)
	}
	s.User, s.Home = current.Username, filepath.Join(s.Dir, "home")
	if err := os.Mkdir(s.Home, 0o755); err != nil {
		s.t.Fatal(err)
	}
}

func (s *Server) configure() {
	s.t.Helper()
	var b strings.Builder
	for _, line := range s.config.Lines {
		fmt.Fprintln(&b, line)
	}
	for _, host := range s.config.Hosts {
		fmt.Fprintln(&b, "ListenAddress", net.JoinHostPort(host, strconv.Itoa(s.Port)))
	}
	for _, kind := range s.config.KeyTypes {
		fmt.Fprintln(&b, "HostKey", s.hostKeyFile(kind))
	}
	fmt.Fprintf(&b, "AuthorizedKeysFile %s\n", filepath.Join(s.Dir, "authorized_keys"))
	fmt.Fprintf(&b, "PidFile %s\n", filepath.Join(s.Dir, "pid"))
	fmt.Fprintf(&b, "SetEnv HOME=%s %s\n", s.Home, s.mark)
	b.WriteString("StrictModes no\nUsePAM no\nLogLevel VERBOSE\nPermitRootLogin yes\nMaxStartups 200\n")
	if !slices.ContainsFunc(s.config.Lines, func(line string) bool { return strings.HasPrefix(line, "Subsystem sftp") }) {
		b.WriteString("Subsystem sftp internal-sftp\n") // a second one would be an error
	}
	s.write("sshd_config", b.String())
}

// Start runs the daemon, again after Stop or Kill, and returns when it answers.
func (s *Server) Start() {
	s.t.Helper()
	if !s.run() {
		s.t.Fatalf("sshd ended at once; its log:\n%s", s.Log())
	}
}

// run starts the daemon; false when it ended at once.
func (s *Server) run() bool {
	s.t.Helper()
	if os.Geteuid() == 0 {
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			s.t.Fatal(err)
		}
	}
	s.cmd = exec.Command(Sshd, "-D", "-f", filepath.Join(s.Dir, "sshd_config"), "-E", s.logFile())
	s.cmd.Env = []string{"PATH=/usr/bin:/bin:/usr/sbin:/sbin"}
	if err := s.cmd.Start(); err != nil {
		s.t.Fatalf("start sshd: %v", err)
	}
	s.ended = make(chan struct{})
	go func(cmd *exec.Cmd, ended chan struct{}) {
		_ = cmd.Wait()
		close(ended)
	}(s.cmd, s.ended)
	return s.answers()
}

// answers waits for the daemon's greeting; false when the daemon ended.
func (s *Server) answers() bool {
	s.t.Helper()
	ended := false
	Wait(s.t, "sshd answers", func() bool {
		select {
		case <-s.ended:
			ended = true
			return true
		default:
		}
		conn, err := net.DialTimeout("tcp", s.Addr(), time.Second)
		if err != nil {
			return false
		}
		defer func() { _ = conn.Close() }()
		buffer := make([]byte, 4)
		if err := conn.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
			return false
		}
		n, err := conn.Read(buffer)
		return err == nil && strings.HasPrefix("SSH-", string(buffer[:n]))
	})
	return !ended
}

// Addr is host:port.
func (s *Server) Addr() string { return net.JoinHostPort(s.Host, strconv.Itoa(s.Port)) }

// Wait polls until done returns true, and fails the test after 20 s.
func Wait(t testing.TB, what string, done func() bool) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		if time.Now().After(deadline) {
			t.Fatalf("waited 20 s for: %s", what)
		}
		<-tick.C
	}
}

func freePort(t testing.TB, hosts []string) int {
	t.Helper()
	listener, err := net.Listen("tcp", net.JoinHostPort(hosts[0], "0"))
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	return port
}

func (s *Server) write(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.Dir, name), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func read(t testing.TB, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
