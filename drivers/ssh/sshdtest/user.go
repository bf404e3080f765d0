package sshdtest

import (
	"crypto/rand"
	"encoding/hex"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// User is an account of the machine that goes with the test. Only root can make
// one.
type User struct {
	Name, Home string
}

// AddUser makes an account with a login shell ("" is /bin/bash) and, unless it
// is empty, a password.
func AddUser(t testing.TB, shell, password string) *User {
	t.Helper()
	if shell == "" {
		shell = "/bin/bash"
	}
	var id [4]byte
	_, _ = rand.Read(id[:]) // it never fails
	u := &User{Name: "berth" + hex.EncodeToString(id[:])}
	u.Home = "/tmp/home-" + u.Name
	account(t, "", "useradd", "-m", "-d", u.Home, "-s", shell, u.Name)
	t.Cleanup(func() {
		account(t, "", "userdel", "-f", u.Name)
		if err := os.RemoveAll(u.Home); err != nil {
			t.Errorf("remove %s: %v", u.Home, err)
		}
	})
	if password == "" {
		password = "*" // no password opens it, yet it is not locked
		account(t, u.Name+":"+password, "chpasswd", "-e")
	} else {
		account(t, u.Name+":"+password, "chpasswd")
	}
	return u
}

// account runs a tool that changes accounts; another that holds their lock is
// waited for.
func account(t testing.TB, stdin string, args ...string) {
	t.Helper()
	Wait(t, strings.Join(args, " "), func() bool {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Stdin = strings.NewReader(stdin)
		out, err := cmd.CombinedOutput()
		if err != nil && !strings.Contains(string(out), "lock") {
			t.Fatalf("%v (as root?): %v: %s", args, err, out)
		}
		return err == nil
	})
}
