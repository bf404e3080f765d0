package docker

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"berth/drivers/settings"
	"berth/environment"
)

// Limits of a config.
const (
	maxText      = 64 << 10
	maxKnown     = 256 << 10
	maxMiB       = 16 << 20
	maxLabels    = 100
	maxVariables = 200
	maxTools     = 50
	maxToolName  = 255
)

var (
	networkName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)
	userName    = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*(:[A-Za-z0-9_][A-Za-z0-9_.-]*)?$`)
	runtimeName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_./-]*$`)
)

// Configure normalises a config. The rules: what is not set stays unset and means
// the default; blanks around a value do not count; what belongs to another kind of
// engine than the chosen one is not stored, and a warning says so; a certificate
// and its key must belong together; the host's own network, and labels of Berth's,
// are refused.
func (d *Driver) Configure(in environment.ConfigInput) (environment.ConfigOutput, error) {
	f := &fields{settings.Of(in.Config)}
	out := environment.ConfigOutput{Secrets: map[string]environment.Secret{}, SecretFields: secretFields()}
	c := config{
		Provider: f.choice("provider", environment.ProviderDocker),
		Image:    f.image(), Engine: f.engine(),
		Pull: f.choice("pull", pullMissing, pullAlways, pullNever), Platform: f.choice("platform", "linux/amd64", "linux/arm64"),
		CPUs: f.decimal("cpus", 0.01, 1024), MemoryMiB: f.number("memoryMiB", 16, maxMiB), Pids: f.number("pids", 16, 4<<20),
		DiskMiB: f.number("diskMiB", 64, maxMiB), ShmMiB: f.number("shmMiB", 1, 1<<20),
		Network: f.network(), ReadOnlyRoot: f.Boolean("readOnlyRoot", false),
		WorkspacePath: f.workspace(), WorkspaceMiB: f.number("workspaceMiB", 16, maxMiB),
		User:    f.named("user", userName, "A user is a name or a number, with a group after a colon: 1000:1000."),
		Runtime: f.named("runtime", runtimeName, "A runtime is a name that the engine knows, such as runsc."),
		Labels:  f.Texts("labels", maxLabels, labelProblem), Env: f.Texts("env", maxVariables, variableProblem),
		RequiredTools:     f.tools(),
		StartupTimeoutSec: f.number("startupTimeoutSec", 1, int(environment.MaxStartupBudget.Seconds())),
		ReuseLease:        f.Boolean("reuseLease", false), LeasePolicy: f.policy(),
		RetainSec: f.number("retainSec", 60, int(environment.MaxRetained.Seconds())), ArchiveOnRelease: f.Boolean("archiveOnRelease", false),
	}
	if c.Provider == "" {
		c.Provider = environment.ProviderDocker
	}
	f.credentials(&c, in.Stored, &out)
	f.RefuseUnknown("A Docker sandbox")
	if err := environment.InvalidFields(f.Errors); err != nil {
		return environment.ConfigOutput{}, err
	}
	normalised, err := json.Marshal(c)
	if err != nil {
		return environment.ConfigOutput{}, fmt.Errorf("write docker config: %w", err)
	}
	out.Config, out.Warnings = normalised, f.Warnings
	return out, nil
}

func (f *fields) image() string {
	text := f.text("image", 512)
	if _, problem := parseImage(text); problem != "" {
		f.Refuse("image", problem)
	}
	return text
}

func (f *fields) engine() string {
	text := f.text("engine", 1024)
	if text == "" {
		return ""
	}
	e, problem := parseEngine(text)
	f.Refuse("engine", problem)
	return e.String()
}

func (f *fields) network() string {
	name := f.text("network", 128)
	switch {
	case name == "":
	case name == "host" || strings.HasPrefix(name, "container:"):
		f.Refuse("network", "A sandbox cannot share the network of the host or of another container.")
	case !networkName.MatchString(name):
		f.Refuse("network", "This is none, bridge or the name of a network of the engine.")
	}
	return name
}

// workspace takes an absolute path that is not one of the system's own.
func (f *fields) workspace() string {
	text := f.text("workspacePath", 4096)
	if text == "" {
		return ""
	}
	clean := path.Clean(text)
	first, _, _ := strings.Cut(strings.TrimPrefix(clean, "/"), "/")
	switch {
	case !path.IsAbs(text):
		f.Refuse("workspacePath", "Begin the path with \"/\".")
	case hasControl(text) || strings.Contains(text, ":") || strings.Contains(text, ","):
		f.Refuse("workspacePath", "A path here cannot hold control characters, colons or commas.")
	case clean == "/" || slices.Contains([]string{"proc", "sys", "dev"}, first):
		f.Refuse("workspacePath", "Choose a folder of its own, such as /workspace.")
	}
	return clean
}

func (f *fields) named(key string, pattern *regexp.Regexp, problem string) string {
	text := f.text(key, 128)
	if text != "" && !pattern.MatchString(text) {
		f.Refuse(key, problem)
	}
	return text
}

func (f *fields) policy() string {
	var words []string
	for _, p := range environment.LeasePolicies() {
		words = append(words, string(p))
	}
	return f.choice("leasePolicy", words...)
}

func (f *fields) tools() []string {
	var tools []string
	for _, name := range f.List("requiredTools", maxTools) {
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
	return tools
}

func labelProblem(name, value string) string {
	switch {
	case strings.TrimSpace(name) == "" || len(name) > 255 || hasControl(name):
		return "A label's name has 1 to 255 characters and no control character."
	case strings.HasPrefix(name, labelPrefix):
		return "Labels that begin with berth. are Berth's own."
	case len(value) > 4096:
		return "A label's value has at most 4096 characters."
	case value != "" && environment.LooksSecret(name, value):
		return "This looks like a secret, and whoever may ask the engine can read a label. Leave it out: what a command needs goes into the environment's variables."
	}
	return ""
}

func variableProblem(name, value string) string {
	if problem := environment.EnvNameProblem(name); problem != "" {
		return problem
	}
	if len(value) > maxText || strings.ContainsRune(value, 0) {
		return "A value has at most 64 KiB and no NUL."
	}
	if value != "" && environment.LooksSecret(name, value) {
		return "This looks like a secret, and here it would be stored and shown as plain text. Set it with the environment's variables, which keep it as a secret."
	}
	return ""
}

func hasControl(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// secretsOf are the secrets that belong to a kind of engine.
func secretsOf(scheme string) []string {
	switch scheme {
	case overTCP:
		return []string{"tlsKey"}
	case overSSH:
		return []string{"sshPrivateKey", "sshPassphrase", "sshPassword"}
	}
	return nil
}

// engineSecrets are those of any kind of engine, in order.
func engineSecrets() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(secretFields())), func(name string) bool { return name == "registryPassword" })
}
