package ssh

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"berth/environment"

	"github.com/kevinburke/ssh_config"
)

const maxClientConfig = 64 << 10

// ReadClientConfig reads a pasted block of ~/.ssh/config. Of several Host blocks
// the first that names a host and not a pattern counts; what stands before it,
// and in blocks of patterns that match it, counts as in OpenSSH. Include and
// Match are never followed. What was not used is in ignored, with the reason.
// Errors are KindInvalid.
func (d *Driver) ReadClientConfig(text string) (map[string]any, []string, error) {
	if len(text) > maxClientConfig {
		return nil, nil, badClientConfig("The block has at most 64 KiB.", nil)
	}
	text, ignored := withoutMatch(text)
	config, err := decodeClientConfig(text)
	if err != nil {
		return nil, nil, badClientConfig("This is not a block of an SSH client's config: "+excerpt(strings.TrimPrefix(err.Error(), "ssh_config: "))+".", err)
	}
	alias := firstAlias(config)
	r := &clientConfig{values: map[string]any{}, ignored: ignored}
	for _, option := range options(config, alias) {
		r.take(option[0], option[1])
	}
	if _, ok := r.values["host"]; !ok && alias != "" {
		r.host(alias)
	}
	if host, ok := r.values["host"].(string); ok {
		r.values["host"] = strings.ReplaceAll(host, "%h", alias)
		r.host(r.values["host"].(string))
	}
	if len(r.values) == 0 {
		return nil, nil, badClientConfig("Nothing was found that could be used: paste a block that begins with Host.", nil)
	}
	return r.values, r.ignored, nil
}

func badClientConfig(message string, cause error) error {
	return environment.Invalid("validation_failed", message).Because(cause)
}

// decodeClientConfig turns a panic of the parser into an error: the text comes
// from anybody.
func decodeClientConfig(text string) (config *ssh_config.Config, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errors.New("it cannot be read")
		}
	}()
	return ssh_config.DecodeBytes([]byte(text))
}

// withoutMatch takes out Include, which would read files of the server, and the
// blocks of Match.
func withoutMatch(text string) (kept string, ignored []string) {
	var b strings.Builder
	matching := false
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(text, "\ufeff"))
	for line := range strings.SplitSeq(text, "\n") {
		keyword, _, _ := strings.Cut(strings.TrimLeft(line, " \t\v\f\u00a0"), " ")
		keyword, _, _ = strings.Cut(keyword, "\t")
		keyword, _, _ = strings.Cut(keyword, "=")
		switch strings.ToLower(strings.Trim(keyword, `"`)) {
		case "host":
			matching = false
		case "match":
			matching = true
			ignored = append(ignored, "Match: blocks with conditions are not read")
		case "include":
			ignored = append(ignored, "Include: other files are not read")
			continue
		}
		if !matching {
			b.WriteString(line + "\n")
		}
	}
	return b.String(), ignored
}

// firstAlias is the first name of a Host line that is no pattern.
func firstAlias(config *ssh_config.Config) string {
	for _, host := range config.Hosts {
		for _, pattern := range host.Patterns {
			if name := pattern.String(); !strings.ContainsAny(name, "*?!") {
				return name
			}
		}
	}
	return ""
}

// options are the keywords that hold for a host, in their order, as pairs.
func options(config *ssh_config.Config, alias string) [][2]string {
	var pairs [][2]string
	for _, host := range config.Hosts {
		if !host.Matches(alias) {
			continue
		}
		for _, node := range host.Nodes {
			if kv, ok := node.(*ssh_config.KV); ok {
				pairs = append(pairs, [2]string{strings.ToLower(kv.Key), strings.Trim(strings.TrimSpace(kv.Value), `"`)})
			}
		}
	}
	return pairs
}

// clientConfig gathers what of a client's config can be used. The first value of
// a keyword counts, as in OpenSSH.
type clientConfig struct {
	values  map[string]any
	ignored []string
	seen    []string
}

func (r *clientConfig) take(keyword, value string) {
	if slices.Contains(r.seen, keyword) && keyword != "identityfile" {
		return
	}
	r.seen = append(r.seen, keyword)
	switch keyword {
	case "hostname":
		r.values["host"] = value
	case "port":
		port, problem := parsePort(value)
		r.set("port", port, keyword, value, problem)
	case "user":
		user, problem := cleanUser(value)
		r.set("username", user, keyword, value, problem)
	case "proxyjump":
		hops, problem := parseProxyJump(value)
		if problem == "" && len(hops) == 0 {
			return // none
		}
		r.set("proxyJump", formatProxyJump(hops), keyword, value, problem)
	case "serveraliveinterval":
		seconds, err := strconv.Atoi(value)
		problem := ""
		if err != nil || seconds < 0 || seconds > maxKeepAlive {
			problem = "not a number of seconds"
		}
		r.set("keepAliveSec", seconds, keyword, value, problem)
	case "stricthostkeychecking":
		r.strict(value)
	case "identityfile":
		r.ignore("IdentityFile", value, "a file of your machine; paste the key itself")
	case "identityagent", "forwardagent", "addkeystoagent":
		r.ignore(keyword, value, "Berth forwards no agent")
	case "proxycommand":
		r.ignore("ProxyCommand", value, "Berth starts no programs; use ProxyJump")
	case "userknownhostsfile", "certificatefile":
		r.ignore(keyword, value, "a file of your machine; paste its text")
	default:
		r.ignore(keyword, value, "not needed here")
	}
}

func (r *clientConfig) strict(value string) {
	switch strings.ToLower(value) {
	case "no", "off", "accept-new":
		r.values["strictHostKeyChecking"] = false
		r.ignored = append(r.ignored, "StrictHostKeyChecking "+excerpt(value)+": becomes trust on first use; a changed key is still refused")
	case "yes", "ask":
		r.values["strictHostKeyChecking"] = true
	default:
		r.ignore("StrictHostKeyChecking", value, "not a value that OpenSSH has")
	}
}

func (r *clientConfig) set(key string, value any, keyword, text, problem string) {
	if problem != "" {
		r.ignore(keyword, text, problem)
		return
	}
	r.values[key] = value
}

func (r *clientConfig) host(text string) {
	host, problem := environment.CleanHost(text)
	if problem != "" {
		delete(r.values, "host")
		r.ignore("HostName", text, problem)
		return
	}
	r.values["host"] = host
}

func (r *clientConfig) ignore(keyword, value, reason string) {
	r.ignored = append(r.ignored, fmt.Sprintf("%s %s: %s", keyword, excerpt(value), strings.TrimSuffix(reason, ".")))
}
