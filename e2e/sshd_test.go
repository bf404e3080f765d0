package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// sshd is a real OpenSSH server on loopback, with three host keys, for the user
// who runs the tests.
type sshd struct {
	dir       string
	host      string
	port      int
	user      string
	key       string // the private key that may log in
	workspace string
	cmd       *exec.Cmd
	log       *logBuffer
}

// newSSHD starts a server; its end belongs to the test.
func newSSHD(t *testing.T) *sshd {
	t.Helper()
	dir, err := os.MkdirTemp("", "berth-sshd")
	if err != nil {
		t.Fatal(err)
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	free, err := freeAddress()
	if err != nil {
		t.Fatal(err)
	}
	address, err := net.ResolveTCPAddr("tcp", free)
	if err != nil {
		t.Fatal(err)
	}
	d := &sshd{dir: dir, host: "127.0.0.1", port: address.Port, user: me.Username, workspace: filepath.Join(dir, "work"), log: &logBuffer{}}
	t.Cleanup(func() {
		d.kill(t)
		if t.Failed() {
			t.Logf("sshd said:\n%s", d.log.String())
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if os.Getuid() == 0 { // sshd wants its empty folder
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			t.Fatal(err)
		}
	}
	d.keygen(t, "login")
	private, err := os.ReadFile(filepath.Join(dir, "login"))
	if err != nil {
		t.Fatal(err)
	}
	d.key = string(private)
	d.newHostKeys(t)
	d.start(t)
	return d
}

func (d *sshd) keygen(t *testing.T, name string, flags ...string) {
	t.Helper()
	path := filepath.Join(d.dir, name)
	for _, old := range []string{path, path + ".pub"} {
		if err := os.Remove(old); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	args := append([]string{"-q", "-N", "", "-f", path}, flags...)
	if len(flags) == 0 {
		args = append(args, "-t", "ed25519")
	}
	if out, err := exec.Command("ssh-keygen", args...).CombinedOutput(); err != nil {
		t.Fatalf("ssh-keygen: %v: %s", err, out)
	}
}

// newHostKeys gives the host other keys, as a rebuilt one has.
func (d *sshd) newHostKeys(t *testing.T) {
	t.Helper()
	d.keygen(t, "hk_ed25519", "-t", "ed25519")
	d.keygen(t, "hk_ecdsa", "-t", "ecdsa")
	d.keygen(t, "hk_rsa", "-t", "rsa", "-b", "2048")
}

// fingerprint is that of the host's ed25519 key.
func (d *sshd) fingerprint(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("ssh-keygen", "-lf", filepath.Join(d.dir, "hk_ed25519.pub")).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(out))[1]
}

// start runs the server and returns when it greets.
func (d *sshd) start(t *testing.T) {
	t.Helper()
	config := fmt.Sprintf(`ListenAddress %[2]s:%[3]d
HostKey %[1]s/hk_ed25519
HostKey %[1]s/hk_ecdsa
HostKey %[1]s/hk_rsa
AuthorizedKeysFile %[1]s/login.pub
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin yes
LogLevel VERBOSE
PidFile none
MaxStartups 100
Subsystem sftp internal-sftp
`, d.dir, d.host, d.port)
	path := filepath.Join(d.dir, "config")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	d.cmd = exec.Command("/usr/sbin/sshd", "-D", "-e", "-f", path)
	d.cmd.Stdout, d.cmd.Stderr = d.log, d.log
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, 10*time.Second, "sshd greets", func() bool {
		c, err := net.DialTimeout("tcp", net.JoinHostPort(d.host, strconv.Itoa(d.port)), time.Second)
		if err != nil {
			return false
		}
		greeting := make([]byte, 4)
		_, err = c.Read(greeting)
		return errors.Join(err, c.Close()) == nil && string(greeting) == "SSH-"
	})
}

// kill ends the server and every connection to it, but not what runs on the
// host.
func (d *sshd) kill(t *testing.T) {
	t.Helper()
	if d.cmd == nil {
		return
	}
	for _, pid := range append(sessionsOf(t, d.cmd.Process.Pid), d.cmd.Process.Pid) {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Error(err)
		}
	}
	_ = d.cmd.Wait() // it was killed
	d.cmd = nil
}

// sessionsOf finds the processes below pid that are called sshd.
func sessionsOf(t *testing.T, pid int) []int {
	t.Helper()
	below := []int{pid}
	all := processes(t)
	for i := 0; i < len(below); i++ {
		for _, p := range all {
			if p.parent == below[i] && strings.HasPrefix(p.name, "sshd") {
				below = append(below, p.pid)
			}
		}
	}
	return below[1:]
}

// process is one entry of /proc.
type process struct {
	pid, parent int
	name        string
	command     string
}

func processes(t *testing.T) []process {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	var all []process
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(filepath.Join("/proc", e.Name(), "stat"))
		if err != nil {
			continue // it ended
		}
		command, err := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if err != nil {
			continue
		}
		open, end := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
		fields := strings.Fields(string(stat[end+1:]))
		if len(fields) < 2 || fields[0] == "Z" {
			continue
		}
		parent, err := strconv.Atoi(fields[1])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, process{pid, parent, string(stat[open+1 : end]), strings.ReplaceAll(string(command), "\x00", " ")})
	}
	return all
}

// running counts the processes whose command line is exactly this.
func running(t *testing.T, command string) int {
	t.Helper()
	n := 0
	for _, p := range processes(t) {
		if strings.TrimSpace(p.command) == command {
			n++
		}
	}
	return n
}

// config is what an environment of this host has for its settings.
func (d *sshd) config() map[string]any {
	return map[string]any{"host": d.host, "port": d.port, "username": d.user, "remoteWorkspacePath": d.workspace, "privateKey": d.key}
}

// save makes an environment of the host, with its key trusted, and returns its
// id.
func (d *sshd) save(t *testing.T, s *server, name string) string {
	t.Helper()
	var e struct{ ID string }
	s.call(t, "POST", "/api/companies/"+s.company+"/environments",
		map[string]any{"name": name, "driver": "ssh", "config": d.config()}, &e, 201)
	s.call(t, "POST", "/api/environments/"+e.ID+"/trust-host-key", map[string]any{"fingerprint": d.fingerprint(t)}, nil, 200)
	return e.ID
}
