package ssh_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"berth/drivers/ssh"
	"berth/drivers/ssh/sshdtest"
	"berth/environment"

	glider "github.com/gliderlabs/ssh"
	gossh "golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

func TestC20_RSAWithoutSHA1(t *testing.T) {
	t.Parallel()
	for _, lines := range [][]string{nil, {"PubkeyAcceptedAlgorithms rsa-sha2-256"}} {
		s := sshdtest.Start(t, sshdtest.Config{Lines: append(lines, "LogLevel DEBUG1")})
		d := newDriver(t)
		file := filepath.Join(t.TempDir(), "rsa")
		private := sshdtest.Keygen(t, file, "-t", "rsa", "-b", "2048", "-N", "")
		s.Authorize(readFile(t, file+".pub"))
		mustPass(t, probe(t, d, specOf(t, d, settings(s, map[string]any{"privateKey": private}))))
		sshdtest.Wait(t, "the login is logged", func() bool { return strings.Contains(s.Log(), "Accepted") })
		for line := range strings.Lines(s.Log()) {
			if strings.Contains(line, "pkalg ssh-rsa ") || strings.Contains(line, "signature algorithm ssh-rsa") {
				t.Errorf("SHA-1 was used: %s", line)
			}
		}
	}
}

func TestC22_KeyboardInteractive(t *testing.T) {
	t.Parallel()
	user := sshdtest.AddUser(t, "", "right horse")
	s := sshdtest.Start(t, sshdtest.Config{User: user, Lines: []string{
		"PasswordAuthentication no", "KbdInteractiveAuthentication yes", "UsePAM yes", "PubkeyAuthentication no"}})
	d := newDriver(t)
	config := func(password string) map[string]any {
		return settings(s, map[string]any{"privateKey": nil, "password": password})
	}
	mustPass(t, probe(t, d, specOf(t, d, config("right horse"))))
	stage := mustFail(t, probe(t, d, specOf(t, d, config("wrong"))), "login", environment.CodeLoginRefused)
	contains(t, stage.Message, "password", user.Name, s.Addr())
}

// TestC22_QuestionsThatOneAnswerCannotMeet asks what no real sshd can be made to
// ask without a PAM module of its own.
func TestC22_QuestionsThatOneAnswerCannotMeet(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]func(gossh.KeyboardInteractiveChallenge) bool{
		"two questions": func(c gossh.KeyboardInteractiveChallenge) bool {
			return asked(c, []string{"Password: ", "Code: "}, false)
		},
		"an echoed one": func(c gossh.KeyboardInteractiveChallenge) bool { return asked(c, []string{"User: "}, true) },
		"one after another": func(c gossh.KeyboardInteractiveChallenge) bool {
			return asked(c, []string{"Password: "}, false) && asked(c, []string{"Code: "}, false)
		},
		"endless": func(c gossh.KeyboardInteractiveChallenge) bool {
			for asked(c, []string{"Password: "}, false) {
			}
			return false
		},
	} {
		t.Run(name, func(t *testing.T) {
			host, port, line := answerer(t, &glider.Server{KeyboardInteractiveHandler: func(_ glider.Context, c gossh.KeyboardInteractiveChallenge) bool { return ask(c) }})
			d := newDriver(t)
			r := probe(t, d, specOf(t, d, map[string]any{"host": host, "port": port, "username": "u", "remoteWorkspacePath": "/tmp", "password": "x", "knownHosts": line}))
			mustFail(t, r, "login", environment.CodeLoginNeedsInteraction)
		})
	}
}

func asked(c gossh.KeyboardInteractiveChallenge, questions []string, echo bool) bool {
	echos := make([]bool, len(questions))
	for i := range echos {
		echos[i] = echo
	}
	_, err := c("", "", questions, echos)
	return err == nil
}

// answerer serves on a loopback port with a key of its own.
func answerer(t *testing.T, server *glider.Server) (host string, port int, knownHosts string) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := gossh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	server.AddHostKey(signer)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(listener)
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-served
	})
	port = listener.Addr().(*net.TCPAddr).Port
	return "127.0.0.1", port, sshdtest.KnownHostsName("127.0.0.1", port) + " " + string(gossh.MarshalAuthorizedKey(signer.PublicKey()))
}

func TestC24_WrongKeyIsALoginRefused(t *testing.T) {
	t.Parallel()
	user := sshdtest.AddUser(t, "", "old password")
	s := sshdtest.Start(t, sshdtest.Config{User: user, Lines: []string{"PasswordAuthentication yes", "UsePAM yes"}})
	d := newDriver(t)
	file := filepath.Join(t.TempDir(), "other")
	private := sshdtest.Keygen(t, file, "-t", "ed25519", "-N", "")
	for name, password := range map[string]any{"key alone": nil, "with a password stored": "old password"} {
		t.Run("a "+name, func(t *testing.T) {
			s.ClearLog()
			spec := specOf(t, d, settings(s, map[string]any{"privateKey": private, "password": password}))
			stage := mustFail(t, probe(t, d, spec), "login", environment.CodeLoginRefused)
			contains(t, stage.Message, user.Name, sshdtest.Fingerprint(t, file), s.Addr())
			noPassword(t, s)
		})
	}
	t.Run("b encrypted key without passphrase", func(t *testing.T) {
		s.ClearLog()
		locked := sshdtest.Keygen(t, filepath.Join(t.TempDir(), "locked"), "-t", "ed25519", "-N", "x", "-a", "1")
		spec := specOf(t, d, settings(s, map[string]any{"password": "old password"}))
		spec.Secrets["privateKey"] = environment.NewSecret(locked)
		stage := mustFail(t, probe(t, d, spec), "login", environment.CodeKeyNeedsPassphrase)
		contains(t, stage.Message, "passphrase", s.Addr())
		noPassword(t, s)
	})
}

func noPassword(t *testing.T, s *sshdtest.Server) {
	t.Helper()
	sshdtest.Wait(t, "sshd let the connection go", func() bool { return s.Connections() == 0 })
	if strings.Contains(s.Log(), "password for") {
		t.Errorf("a password was tried:\n%s", s.Log())
	}
}

func TestLogin_Password(t *testing.T) {
	t.Parallel()
	user := sshdtest.AddUser(t, "", "right horse")
	s := sshdtest.Start(t, sshdtest.Config{User: user, Lines: []string{"UsePAM yes"}})
	d := newDriver(t)
	mustPass(t, probe(t, d, specOf(t, d, settings(s, map[string]any{"privateKey": nil, "password": "right horse"}))))
	contains(t, mustFail(t, probe(t, d, specOf(t, d, settings(s, map[string]any{"privateKey": nil, "password": "x"}))),
		"login", environment.CodeLoginRefused).Message, "password")

	s.AddLine("AuthenticationMethods publickey,password")
	s.Restart()
	mustPass(t, probe(t, d, specOf(t, d, settings(s, map[string]any{"password": "right horse"}))))
	mustFail(t, probe(t, d, specOf(t, d, settings(s, nil))), "login", environment.CodeLoginNeedsInteraction)
}

func TestLogin_Certificate(t *testing.T) {
	t.Parallel()
	s := sshdtest.Start(t, sshdtest.Config{})
	dir := t.TempDir()
	ca, key := filepath.Join(dir, "ca"), filepath.Join(dir, "key")
	sshdtest.Keygen(t, ca, "-t", "ed25519", "-N", "")
	private := sshdtest.Keygen(t, key, "-t", "rsa", "-b", "2048", "-N", "")
	if out, err := exec.Command("ssh-keygen", "-q", "-s", ca, "-I", "me", "-n", s.User, "-V", "+1h", key+".pub").CombinedOutput(); err != nil {
		t.Fatalf("sign: %v: %s", err, out)
	}
	s.AddLine("TrustedUserCAKeys " + ca + ".pub")
	s.Restart()
	d := newDriver(t)
	config := settings(s, map[string]any{"privateKey": private, "certificate": readFile(t, key+"-cert.pub")})
	mustPass(t, probe(t, d, specOf(t, d, config)))
	sshdtest.Wait(t, "the certificate is logged", func() bool { return strings.Contains(s.Log(), "RSA-CERT") })

	config["certificate"] = readFile(t, key+".pub")
	_, err := configure(t, d, config, nil)
	contains(t, fieldsOf(err)["config.certificate"], "public key")
	config["certificate"], config["privateKey"] = readFile(t, key+"-cert.pub"), s.PrivateKey
	_, err = configure(t, d, config, nil)
	contains(t, fieldsOf(err)["config.certificate"], "another key")
}

func TestLogin_Agent(t *testing.T) {
	t.Parallel()
	s := sshdtest.Start(t, sshdtest.Config{})
	raw, err := gossh.ParseRawPrivateKey([]byte(s.PrivateKey))
	if err != nil {
		t.Fatal(err)
	}
	keyring := agent.NewKeyring()
	if err := keyring.Add(agent.AddedKey{PrivateKey: *raw.(*ed25519.PrivateKey)}); err != nil {
		t.Fatal(err)
	}
	socket := serveAgent(t, keyring)
	d := newDriver(t, func(o *ssh.Options) { o.AgentSocket = socket })
	mustPass(t, probe(t, d, specOf(t, d, settings(s, map[string]any{"privateKey": nil, "useAgent": true}))))
	mustFail(t, probe(t, d, specOf(t, d, settings(s, map[string]any{"privateKey": nil}))), "login", environment.CodeCredentialMissing)

	without := newDriver(t)
	stage := mustFail(t, probe(t, without, specOf(t, d, settings(s, map[string]any{"privateKey": nil, "useAgent": true}))), "login", environment.CodeCredentialMissing)
	contains(t, stage.Message, "agent")
}

func serveAgent(t *testing.T, keyring agent.Agent) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "agent-") // short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_ = agent.ServeAgent(keyring, conn)
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() {
		_ = listener.Close()
		<-done
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return filepath.Join(dir, "s")
}

func TestLogin_CredentialsThatAreNotThere(t *testing.T) {
	t.Parallel()
	s := sshdtest.Start(t, sshdtest.Config{})
	d := newDriver(t)
	for _, c := range []struct {
		name     string
		problems map[string]string
		secrets  map[string]environment.Secret
		code     string
		says     string
	}{
		{"none", nil, nil, environment.CodeCredentialMissing, "neither a key nor a password"},
		{"gone", map[string]string{"privateKey": environment.CodeSecretMissing}, nil, environment.CodeSecretMissing, "private key is gone"},
		{"disabled", map[string]string{"password": environment.CodeSecretDisabled}, map[string]environment.Secret{"privateKey": environment.NewSecret(s.PrivateKey)}, environment.CodeSecretDisabled, "password is disabled"},
		{"unreadable", nil, map[string]environment.Secret{"privateKey": environment.NewSecret("rubbish")}, environment.CodeKeyUnreadable, "no key was found"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.ClearLog()
			spec := specOf(t, d, settings(s, nil))
			spec.Secrets, spec.SecretProblems = c.secrets, c.problems
			stage := mustFail(t, probe(t, d, spec), "login", c.code)
			contains(t, stage.Message, c.says, s.Addr(), s.User)
			noLogin(t, s)
			_, err := d.Acquire(t.Context(), spec)
			if e := environment.AsError(err); e.Code != c.code || e.Details["stage"] != "login" {
				t.Errorf("acquire: %v (%v), want %s at login", err, e.Details, c.code)
			}
		})
	}
}
