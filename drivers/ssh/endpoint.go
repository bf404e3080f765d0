package ssh

import (
	"fmt"
	"net"
	"strconv"
	"strings"

	"berth/environment"
)

// maxHops is how many jump hosts may lead to a target.
const maxHops = 5

// endpoint is one host on the way to the target, or the target itself.
type endpoint struct {
	user string
	host string
	port int
	jump bool
}

// address is host and port as one dials it.
func (e endpoint) address() string { return net.JoinHostPort(e.host, strconv.Itoa(e.port)) }

// name is the host in a known_hosts line.
func (e endpoint) name() string { return environment.KnownHostsName(e.host, e.port) }

// String is how messages name the host.
func (e endpoint) String() string {
	if e.jump {
		return "jump host " + e.address()
	}
	return e.address()
}

// capital is String at the begin of a sentence.
func (e endpoint) capital() string {
	if e.jump {
		return "Jump host " + e.address()
	}
	return e.address()
}

// route returns the hosts of a config in the order in which they are reached;
// the target is the last.
func route(c environment.SSHConfig) ([]endpoint, error) {
	var hosts []endpoint
	if c.ProxyJump != nil {
		hops, problem := parseProxyJump(*c.ProxyJump)
		if problem != "" {
			return nil, environment.InvalidFields([]environment.FieldError{{Field: "config.proxyJump", Message: problem}})
		}
		for _, hop := range hops {
			if hop.user == "" {
				hop.user = c.Username
			}
			hosts = append(hosts, hop)
		}
	}
	return append(hosts, endpoint{user: c.Username, host: c.Host, port: c.Port}), nil
}

// parseProxyJump reads OpenSSH's ProxyJump, "user@host:port,inner,[::1]:22". It
// returns a message for a person when it cannot be one. A hop without a user
// has "" for it; "none" is no hop.
func parseProxyJump(text string) (hops []endpoint, problem string) {
	text = strings.TrimSpace(text)
	if text == "" || strings.EqualFold(text, "none") {
		return nil, ""
	}
	for part := range strings.SplitSeq(text, ",") {
		hop, problem := parseHop(strings.TrimSpace(part))
		if problem != "" {
			return nil, problem
		}
		hops = append(hops, hop)
	}
	if len(hops) > maxHops {
		return nil, fmt.Sprintf("There can be at most %d jump hosts.", maxHops)
	}
	return hops, ""
}

func parseHop(text string) (hop endpoint, problem string) {
	const form = `A jump host is written "user@host:port"; several are parted by commas.`
	if text == "" {
		return hop, form
	}
	text = strings.TrimPrefix(text, "ssh://")
	hop = endpoint{port: 22, jump: true}
	if at := strings.LastIndexByte(text, '@'); at >= 0 {
		user, problem := cleanUser(text[:at])
		if problem != "" {
			return hop, "Jump host: " + problem
		}
		hop.user, text = user, text[at+1:]
	}
	host, port := text, ""
	switch {
	case strings.HasPrefix(text, "["):
		end := strings.IndexByte(text, ']')
		if end < 0 || (end+1 < len(text) && text[end+1] != ':') {
			return hop, form
		}
		host, port = text[:end+1], strings.TrimPrefix(text[end+1:], ":")
		if end+1 < len(text) && port == "" {
			return hop, form
		}
	case strings.Count(text, ":") == 1:
		host, port, _ = strings.Cut(text, ":")
		if port == "" {
			return hop, form
		}
	}
	host, problem = environment.CleanHost(host)
	if problem != "" {
		return hop, "Jump host: " + problem
	}
	hop.host = host
	if port != "" {
		if hop.port, problem = parsePort(port); problem != "" {
			return hop, "Jump host: " + problem
		}
	}
	return hop, ""
}

// String of hops in the form that is stored.
func formatProxyJump(hops []endpoint) string {
	parts := make([]string, 0, len(hops))
	for _, hop := range hops {
		text := hop.host
		if hop.port != 22 || strings.Contains(hop.host, ":") {
			text = hop.address()
		}
		if hop.user != "" {
			text = hop.user + "@" + text
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ",")
}

// parsePort reads a port; blanks around it do not matter.
func parsePort(text string) (port int, problem string) {
	text = strings.TrimSpace(text)
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 65535 || strings.Trim(text, "0123456789") != "" {
		return 0, "A port is a whole number from 1 to 65535."
	}
	return n, ""
}

// cleanUser trims a user name and says what is wrong with it.
func cleanUser(text string) (user, problem string) {
	user = strings.TrimSpace(text)
	switch {
	case user == "":
		return "", "Enter a user name."
	case len(user) > 255:
		return "", "A user name has at most 255 characters."
	case strings.HasPrefix(user, "-"):
		return "", "A user name cannot begin with a dash."
	case strings.ContainsFunc(user, func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`:;|&<>"'`+"`", r) }):
		return "", "A user name holds no blanks, quotes or control characters."
	}
	return user, ""
}
