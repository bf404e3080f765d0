package ssh

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"berth/drivers/settings"
	"berth/environment"
)

// Limits of a config.
const (
	maxKeepAlive = 3600
	maxMinFreeMB = 1 << 30
	maxPath      = 4096
	maxTools     = 50
	maxToolName  = 255
)

// Configure normalises a config. The rules: port 22, strict host keys and a
// keep-alive of 15 s unless said; blanks around host, user, port and paths do
// not count; a known_hosts text with one wrong line is refused as a whole, and
// the line is named; a private key is stored as OpenSSH writes it, whatever the
// paste did to it; an RSA key under 2048 bits is stored with a warning.
func (d *Driver) Configure(in environment.ConfigInput) (environment.ConfigOutput, error) {
	f := &fields{settings.Of(in.Config)}
	f.RefuseUnknown("An SSH environment", configKeys()...)
	c := environment.SSHConfig{
		Host:                  f.host(),
		Port:                  f.port(),
		Username:              f.username(),
		RemoteWorkspacePath:   f.workspace(),
		KnownHosts:            f.knownHosts(),
		StrictHostKeyChecking: f.Boolean("strictHostKeyChecking", true),
		UseAgent:              f.Boolean("useAgent", false),
		ProxyJump:             f.proxyJump(),
		RequiredTools:         f.tools(),
		KeepAliveSec:          f.Number("keepAliveSec", environment.DefaultKeepAliveSec, 0, maxKeepAlive),
		MinFreeMB:             f.Number("minFreeMB", environment.DefaultMinFreeMB, 0, maxMinFreeMB),
	}
	out := environment.ConfigOutput{Secrets: map[string]environment.Secret{}, SecretFields: environment.SSHSecretFields()}
	f.credentials(&c, in.Stored, &out)
	if err := environment.InvalidFields(f.Errors); err != nil {
		return environment.ConfigOutput{}, err
	}
	config, err := json.Marshal(c)
	if err != nil {
		return environment.ConfigOutput{}, fmt.Errorf("write ssh config: %w", err)
	}
	out.Config, out.Warnings = config, f.Warnings
	return out, nil
}

func (f *fields) host() string {
	host, problem := environment.CleanHost(f.text("host"))
	f.Refuse("host", problem)
	return host
}

func (f *fields) port() int {
	text := f.Scalar("port")
	if text == "" {
		return environment.DefaultSSHPort
	}
	port, problem := parsePort(text)
	f.Refuse("port", problem)
	return port
}

func (f *fields) username() string {
	user, problem := cleanUser(f.text("username"))
	f.Refuse("username", problem)
	return user
}

// workspace takes an absolute path, or one under the home of the user on the
// target: "~" or "~/...", which the target itself expands.
func (f *fields) workspace() string {
	path := strings.TrimSpace(f.text("remoteWorkspacePath"))
	switch {
	case path == "":
		f.Refuse("remoteWorkspacePath", "Enter a folder on the target.")
	case len(path) > maxPath:
		f.Refuse("remoteWorkspacePath", fmt.Sprintf("A path has at most %d bytes.", maxPath))
	case hasControl(path):
		f.Refuse("remoteWorkspacePath", "A path cannot hold line breaks or other control characters.")
	case path == "~" || strings.HasPrefix(path, "~/") || strings.HasPrefix(path, "/"):
		return path
	case strings.HasPrefix(path, "~"):
		f.Refuse("remoteWorkspacePath", `The home of another user cannot be meant: begin the path with "/" or "~/".`)
	default:
		f.Refuse("remoteWorkspacePath", `A relative path is refused: begin the path with "/" or "~/".`)
	}
	return ""
}

func (f *fields) knownHosts() *string {
	text := cleanKnownHosts(f.text("knownHosts"))
	if text == "" {
		return nil
	}
	if len(text) > maxKnownHosts {
		f.Refuse("knownHosts", fmt.Sprintf("Known hosts have at most %d KiB.", maxKnownHosts>>10))
		return nil
	}
	_, problems := parseKnownHosts(text)
	if len(problems) > 0 {
		f.Refuse("knownHosts", problems[0])
		return nil
	}
	return &text
}

func (f *fields) proxyJump() *string {
	hops, problem := parseProxyJump(f.text("proxyJump"))
	f.Refuse("proxyJump", problem)
	if len(hops) == 0 {
		return nil
	}
	text := formatProxyJump(hops)
	return &text
}

func (f *fields) tools() []string {
	tools := []string{}
	for _, name := range f.List("requiredTools", 0) {
		name = strings.TrimSpace(name)
		switch {
		case name == "" || slices.Contains(tools, name):
			continue
		case len(name) > maxToolName || hasControl(name):
			f.Refuse("requiredTools", "A tool's name has at most 255 characters and no control character.")
		case strings.HasPrefix(name, "-"):
			f.Refuse("requiredTools", "A tool's name cannot begin with a dash.")
		case strings.Contains(name, "/") && !strings.HasPrefix(name, "/"):
			f.Refuse("requiredTools", "A tool is a name or an absolute path.")
		}
		tools = append(tools, name)
	}
	if len(tools) > maxTools {
		f.Refuse("requiredTools", fmt.Sprintf("There can be at most %d required tools.", maxTools))
	}
	return tools
}

func hasControl(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f })
}
