//go:build bench

package bench

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"berth/drivers/ssh/sshdtest"

	"golang.org/x/crypto/ssh"
)

// target saves an environment for a real sshd and trusts its key.
func (s *server) target(t *testing.T, d *sshdtest.Server) string {
	t.Helper()
	id := s.environment(t, "bench target", map[string]any{
		"host": d.Host, "port": d.Port, "username": d.User, "remoteWorkspacePath": d.Home + "/work",
		"privateKey": d.PrivateKey, "knownHosts": d.KnownHosts(),
	})
	return id
}

// client is the bare library's connection to the same sshd.
func client(t *testing.T, d *sshdtest.Server) *ssh.Client {
	t.Helper()
	signer, err := ssh.ParsePrivateKey([]byte(d.PrivateKey))
	if err != nil {
		t.Fatal(err)
	}
	c, err := ssh.Dial("tcp", fmt.Sprintf("%s:%d", d.Host, d.Port), &ssh.ClientConfig{
		User: d.User, Auth: []ssh.AuthMethod{ssh.PublicKeys(signer)},
		HostKeyCallback: func(string, net.Addr, ssh.PublicKey) error { return nil }, // the floor checks nothing
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// execute runs one command over a new session and returns its output.
func execute(t *testing.T, c *ssh.Client, command string) string {
	t.Helper()
	session, err := c.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	out, err := session.Output(command)
	if err != nil {
		t.Fatal(err)
	}
	_ = session.Close() // it has ended
	return string(out)
}

// sshProbe measures a saved probe of all stages, from the request to the
// verdict, against dial, login and one command by the bare library.
func sshProbe(t *testing.T) []bar {
	d := sshdtest.Start(t, sshdtest.Config{})
	s, _ := serve(t, database(t), t.TempDir())
	s.furnish(t)
	id := s.target(t, d)
	probe := func() time.Duration {
		var result struct {
			OK      bool
			Summary string
		}
		began := time.Now()
		s.call(t, "POST", "/api/environments/"+id+"/probe", nil, &result, 200)
		took := time.Since(began)
		if !result.OK {
			t.Fatal(result.Summary)
		}
		return took
	}
	bare := func() time.Duration {
		began := time.Now()
		c := client(t, d)
		if out := execute(t, c, "echo ready"); !strings.Contains(out, "ready") {
			t.Fatal(out)
		}
		took := time.Since(began)
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		return took
	}
	ours, floor := alternate(t, 25, probe, bare)
	o, f := median(ours), median(floor)
	return []bar{{"ssh probe", ms(o), ms(f), ratio(float64(o), float64(f)), "<= 1.35; Paperclip 250 ms", float64(o) <= 1.35*float64(f)}}
}

// runStart measures the time from the request for a run to its first byte of
// output at the reader of its events, the connection being pooled, against one
// new session on an open connection.
func runStart(t *testing.T) []bar {
	d := sshdtest.Start(t, sshdtest.Config{})
	s, _ := serve(t, database(t), t.TempDir())
	s.furnish(t)
	id := s.target(t, d)
	c := client(t, d)
	t.Cleanup(func() { _ = c.Close() })
	run := func() time.Duration { return s.firstByte(t, id) }
	bare := func() time.Duration {
		session, err := c.NewSession()
		if err != nil {
			t.Fatal(err)
		}
		out, err := session.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if err := session.Start("echo ready"); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(out, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		took := time.Since(began)
		_ = session.Close() // its command has ended
		return took
	}
	ours, floor := alternate(t, 25, run, bare)
	o, f := median(ours), median(floor)
	return []bar{{"run start over SSH, first byte", ms(o), ms(f), ratio(float64(o), float64(f)), "<= floor + 10 ms", o <= f+10*time.Millisecond}}
}

// firstByte starts a run, follows its events, and waits for its end after the
// first output, so that the next one finds a quiet host.
func (s *server) firstByte(t *testing.T, environment string) time.Duration {
	t.Helper()
	var run struct{ ID string }
	began := time.Now()
	s.call(t, "POST", "/api/companies/"+s.company+"/runs",
		map[string]any{"environmentId": environment, "command": []string{"echo", "ready"}}, &run, 201)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", s.url+"/api/runs/"+run.ID+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var took time.Duration
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		switch lines.Text() {
		case "event: output":
			took = time.Since(began)
		case "event: end":
			if took == 0 {
				t.Fatal("the run ended without output")
			}
			return took
		}
	}
	t.Fatal("the events ended before the run")
	return 0
}
