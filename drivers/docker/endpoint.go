package docker

import (
	"net"
	"net/url"
	"path"
	"strconv"
	"strings"

	"berth/environment"
)

// Kinds of endpoints.
const (
	overUnix = "unix"
	overTCP  = "tcp"
	overSSH  = "ssh"
)

// endpoint is the address of an engine.
type endpoint struct {
	scheme string
	user   string // of ssh
	host   string // of tcp and ssh, without brackets
	port   int
	socket string // of unix and ssh
}

// parseEngine reads an engine's address; problem is for people.
func parseEngine(text string) (e endpoint, problem string) {
	text = strings.TrimSpace(text)
	if text == "" {
		return endpoint{scheme: overUnix, socket: defaultSocket}, ""
	}
	u, err := url.Parse(text)
	switch {
	case len(text) > 1024 || err != nil || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return e, "This is no address of an engine: unix:///path, tcp://host:port or ssh://user@host."
	case u.RawQuery != "" || u.Fragment != "" || u.Opaque != "":
		return e, "An engine's address ends with its path."
	}
	if _, has := u.User.Password(); has {
		return e, "A password has no place in an address: enter it in its own field."
	}
	switch u.Scheme {
	case overUnix:
		if u.Host != "" || !path.IsAbs(u.Path) || len(u.Path) > 100 {
			return e, "Enter the socket's absolute path, of at most 100 characters: unix:///var/run/docker.sock."
		}
		return endpoint{scheme: overUnix, socket: path.Clean(u.Path)}, ""
	case overTCP:
		if u.Path != "" && u.Path != "/" || u.User != nil {
			return e, "An address of this kind is tcp://host:port."
		}
		e, problem = hostPort(u, overTCP, 2376)
		return e, problem
	case overSSH:
		e, problem = hostPort(u, overSSH, environment.DefaultSSHPort)
		if e.user = u.User.Username(); problem == "" && e.user == "" {
			return e, "Enter the user, too: ssh://user@host."
		}
		if e.socket = path.Clean("/" + u.Path); u.Path == "" || u.Path == "/" {
			e.socket = defaultSocket
		}
		return e, problem
	}
	return e, "Begin with unix://, tcp:// or ssh://."
}

func hostPort(u *url.URL, scheme string, port int) (endpoint, string) {
	host, problem := environment.CleanHost(u.Hostname())
	if problem != "" {
		return endpoint{}, problem
	}
	if text := u.Port(); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 65535 {
			return endpoint{}, "A port is a number from 1 to 65535."
		}
		port = n
	}
	return endpoint{scheme: scheme, host: host, port: port}, ""
}

// String is the address with every default written out.
func (e endpoint) String() string {
	switch e.scheme {
	case overTCP:
		return "tcp://" + net.JoinHostPort(e.host, strconv.Itoa(e.port))
	case overSSH:
		return "ssh://" + e.user + "@" + net.JoinHostPort(e.host, strconv.Itoa(e.port)) + e.socket
	}
	return "unix://" + e.socket
}

// shown is the address for people.
func (e endpoint) shown() string {
	if e.scheme == overSSH && e.socket == defaultSocket {
		return strings.TrimSuffix(e.String(), e.socket)
	}
	return e.String()
}
