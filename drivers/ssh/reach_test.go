package ssh_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"berth/drivers/ssh"
	"berth/drivers/ssh/sshdtest"
	"berth/environment"
)

// listen serves each connection to a loopback port and ends with the test.
func listen(t *testing.T, serve func(net.Conn)) (string, int) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer func() { _ = conn.Close() }()
				serve(conn)
			})
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		all.Wait()
	})
	return "127.0.0.1", listener.Addr().(*net.TCPAddr).Port
}

// untilClosed reads until the other side closes.
func untilClosed(conn net.Conn) {
	buffer := make([]byte, 4096)
	for {
		if _, err := conn.Read(buffer); err != nil {
			return
		}
	}
}

func at(host string, port int) map[string]any {
	return map[string]any{"host": host, "port": port, "username": "u", "remoteWorkspacePath": "/w", "password": "x"}
}

func TestC25_SilentListener(t *testing.T) {
	host, port := listen(t, untilClosed)
	real := sshdtest.Start(t, sshdtest.Config{})
	d := newDriver(t)
	spec, working := specOf(t, d, at(host, port)), specOf(t, d, settings(real, nil))
	before := runtime.NumGoroutine()
	var all sync.WaitGroup
	started := time.Now()
	for range 10 {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			r := d.Probe(ctx, spec, func(environment.Stage) {})
			if r.Code != environment.CodeGreetingTimeout || !strings.Contains(r.Summary, "Timed out waiting for the SSH greeting") || !strings.Contains(r.Summary, fmt.Sprint(port)) {
				t.Errorf("code %q, %s", r.Code, r.Summary)
			}
		})
	}
	mustPass(t, probe(t, d, working))
	all.Wait()
	if took := time.Since(started); took > 3*time.Second {
		t.Errorf("took %s", took)
	}
	sshdtest.Wait(t, "no goroutine is left", func() bool { return runtime.NumGoroutine() <= before })
}

func TestReach_GreetingLimit(t *testing.T) {
	t.Parallel()
	host, port := listen(t, untilClosed)
	d := newDriver(t, func(o *ssh.Options) { o.Limits.Greeting = 100 * time.Millisecond })
	started := time.Now()
	stage := mustFail(t, probe(t, d, specOf(t, d, at(host, port))), "greeting", environment.CodeGreetingTimeout)
	if took := time.Since(started); stage.Limit["seconds"] != 0.1 || took > 5*time.Second {
		t.Errorf("limit %v, took %s", stage.Limit, took)
	}
}

func TestReach_NotSSH(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		serve func(net.Conn)
		says  string
	}{
		"closed at once": {func(net.Conn) {}, "closed the connection"},
		"web server": {func(c net.Conn) {
			buffer := make([]byte, 64)
			if _, err := c.Read(buffer); err == nil { // it answers only what it understands
				_, _ = c.Write([]byte("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n<h1>Bad Request</h1>"))
			}
		}, "HTTP/1.1 400 Bad Request"},
		"mail server": {func(c net.Conn) { _, _ = c.Write([]byte("220 mail.test ESMTP\r\n")); untilClosed(c) }, "220 mail.test"},
		"garbage": {func(c net.Conn) {
			_, _ = c.Write([]byte(strings.Repeat("\x00\xff\x1b[31m", 4000)))
			untilClosed(c)
		}, "is not an SSH server"},
		"many lines":           {func(c net.Conn) { _, _ = c.Write([]byte(strings.Repeat("hello\n", 3000))); untilClosed(c) }, "hello"},
		"greeting and no more": {func(c net.Conn) { _, _ = c.Write([]byte("SSH-2.0-x\r\n")) }, "broke off"},
		"greeting, garbage":    {func(c net.Conn) { _, _ = c.Write([]byte("SSH-2.0-x\r\n" + strings.Repeat("\xff", 500))) }, "broke off"},
	} {
		t.Run(name, func(t *testing.T) {
			host, port := listen(t, c.serve)
			d := newDriver(t, func(o *ssh.Options) { o.Limits.Greeting = 500 * time.Millisecond })
			r := probe(t, d, specOf(t, d, at(host, port)))
			if r.Code != environment.CodeNotSSH {
				t.Fatalf("code %q, want not_ssh: %s", r.Code, r.Summary)
			}
			contains(t, r.Summary, c.says, fmt.Sprint(port))
			if strings.ContainsRune(r.Summary, 0x1b) {
				t.Errorf("an escape code is in %q", r.Summary)
			}
		})
	}
}

// TestReach_Reset: the reset is seen by the dial or by the first read, as it
// comes; neither may say that nothing listens.
func TestReach_Reset(t *testing.T) {
	t.Parallel()
	host, port := listen(t, func(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0) })
	d := newDriver(t)
	r := probe(t, d, specOf(t, d, at(host, port)))
	if r.Code != environment.CodeNotSSH && r.Code != environment.CodeConnectRefused || strings.Contains(r.Summary, "nothing listens") {
		t.Errorf("code %q: %s", r.Code, r.Summary)
	}
}

func TestReach_SilenceAfterTheGreeting(t *testing.T) {
	t.Parallel()
	host, port := listen(t, func(c net.Conn) { _, _ = c.Write([]byte("SSH-2.0-x\r\n")); untilClosed(c) })
	d := newDriver(t)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	r := d.Probe(ctx, specOf(t, d, at(host, port)), func(environment.Stage) {})
	mustFail(t, r, "host_key", environment.CodeTimedOut)
	contains(t, r.Summary, fmt.Sprint(port), "key exchange")
}

func TestC03_RefusedNamesThePort(t *testing.T) {
	t.Parallel()
	s := sshdtest.Start(t, sshdtest.Config{})
	d := newDriver(t)
	spec := specOf(t, d, settings(s, nil))
	mustPass(t, probe(t, d, spec))
	s.Stop()
	stage := mustFail(t, probe(t, d, spec), "connect", environment.CodeConnectRefused)
	contains(t, stage.Message, fmt.Sprint(s.Port), "TCP", "127.0.0.1")
	if strings.Contains(stage.Message, ":22 ") {
		t.Errorf("port 22 is named: %s", stage.Message)
	}
}

func TestReach_ConnectTimeout(t *testing.T) {
	t.Parallel()
	port := deaf(t)
	d := newDriver(t, func(o *ssh.Options) { o.Limits.Connect = 300 * time.Millisecond })
	stage := mustFail(t, probe(t, d, specOf(t, d, at("127.0.0.1", port))), "connect", environment.CodeConnectTimeout)
	contains(t, stage.Message, fmt.Sprint(port), "timed out")
}

// deaf is a port whose queue is full: the kernel drops what more arrives.
func deaf(t *testing.T) int {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	port := name.(*syscall.SockaddrInet4).Port
	for range 3 {
		conn, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", port), 100*time.Millisecond)
		if err != nil {
			return port
		}
		t.Cleanup(func() { _ = conn.Close() })
	}
	t.Fatal("the queue does not fill up")
	return 0
}

func TestReach_NoRoute(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	// The kernel refuses TCP to a broadcast address itself: nothing is sent.
	stage := mustFail(t, probe(t, d, specOf(t, d, at("255.255.255.255", 2222))), "connect", environment.CodeNoRoute)
	contains(t, stage.Message, "no route", "2222", "255.255.255.255")
}

func TestReach_Names(t *testing.T) {
	t.Parallel()
	s := sshdtest.Start(t, sshdtest.Config{})
	resolver := nameServer(t, map[string]nameAnswer{
		"box.test.":    {addrs: []net.IP{net.IPv4(127, 0, 0, 1)}},
		"two.test.":    {addrs: []net.IP{net.IPv4(127, 0, 0, 9), net.IPv4(127, 0, 0, 1)}},
		"broken.test.": {code: 2},
		"silent.test.": {silent: true},
	})
	d := newDriver(t, func(o *ssh.Options) { o.Resolver, o.Limits.Resolve = resolver, 700*time.Millisecond })
	pinned := func(host string) map[string]any {
		line := sshdtest.KnownHostsName(host, s.Port) + " " + s.HostKey("ed25519")
		return settings(s, map[string]any{"host": host, "knownHosts": line})
	}
	mustPass(t, probe(t, d, specOf(t, d, pinned("BOX.test"))))
	r := probe(t, d, specOf(t, d, pinned("two.test")))
	mustPass(t, r)
	if got := fmt.Sprint(stageOf(r, "resolve").Measured["addresses"]); got != "[127.0.0.9 127.0.0.1]" {
		t.Errorf("addresses %s", got)
	}
	for host, code := range map[string]string{"missing.test": environment.CodeDNSNotFound, "broken.test": environment.CodeDNSTemporary, "silent.test": environment.CodeDNSTemporary} {
		t.Run(host, func(t *testing.T) {
			stage := mustFail(t, probe(t, d, specOf(t, d, pinned(host))), "resolve", code)
			contains(t, stage.Message, host, fmt.Sprint(s.Port), "name lookup")
		})
	}
}

// nameAnswer is what the name server says of a name.
type nameAnswer struct {
	addrs  []net.IP
	code   byte
	silent bool
}

// nameServer is a resolver that asks a name server on the loopback, which knows
// the names given and no others.
func nameServer(t *testing.T, names map[string]nameAnswer) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done, over := make(chan struct{}), make(chan struct{})
	var held sync.WaitGroup
	go func() {
		defer close(done)
		buffer := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return
			}
			reply, silent := nameReply(buffer[:n], names)
			held.Go(func() {
				if silent { // until nobody waits: the resolver's own goroutines wait on
					<-over
				}
				_, _ = conn.WriteTo(reply, from)
			})
		}
	}()
	t.Cleanup(func() {
		_ = conn.SetReadDeadline(time.Unix(1, 0)) // no more questions, but answers
		<-done
		close(over)
		held.Wait()
		_ = conn.Close()
	})
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

func nameReply(query []byte, names map[string]nameAnswer) (reply []byte, silent bool) {
	name, at := "", 12
	for query[at] != 0 {
		name += strings.ToLower(string(query[at+1:at+1+int(query[at])])) + "."
		at += 1 + int(query[at])
	}
	kind := binary.BigEndian.Uint16(query[at+1:])
	question := query[12 : at+5]
	answer, known := names[name]
	code := answer.code
	if !known || answer.silent {
		code = 3
	}
	var records []byte
	count := 0
	if kind == 1 {
		for _, ip := range answer.addrs {
			records = append(append(records, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4), ip.To4()...)
			count++
		}
	}
	header := []byte{query[0], query[1], 0x81, 0x80 | code, 0, 1, 0, byte(count), 0, 0, 0, 0}
	return append(append(header, question...), records...), answer.silent
}

func TestC01_IPv6(t *testing.T) {
	t.Parallel()
	s := sshdtest.Start(t, sshdtest.Config{Hosts: []string{"::1", "127.0.0.1"}})
	d := newDriver(t)
	for _, host := range []string{"::1", "[::1]"} {
		r := probe(t, d, specOf(t, d, settings(s, map[string]any{"host": host})))
		mustPass(t, r)
		contains(t, r.Summary, fmt.Sprintf("[::1]:%d", s.Port))
		if strings.Contains(r.Summary, "[[") {
			t.Errorf("two pairs of brackets: %s", r.Summary)
		}
	}
	localhost := sshdtest.KnownHostsName("localhost", s.Port) + " " + s.HostKey("ed25519")
	mustPass(t, probe(t, d, specOf(t, d, settings(s, map[string]any{"host": "localhost", "knownHosts": localhost}))))
}
