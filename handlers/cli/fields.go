package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"berth/environment"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// fieldKind is how a flag's value becomes a value of the config.
type fieldKind int

const (
	textField fieldKind = iota
	numberField
	boolField
	listField
	fileField   // the file's text
	secretField // the file's text; its last line end is not part of it
)

// field is one key of an ssh environment's config as a flag.
type field struct {
	flag, key string
	kind      fieldKind
	usage     string
}

func configFields() []field {
	return []field{
		{"host", "host", textField, "host name or address"},
		{"port", "port", numberField, "port (default 22)"},
		{"user", "username", textField, "user on the host"},
		{"workspace", "remoteWorkspacePath", textField, "workspace folder on the host: absolute, or under ~/"},
		{"key-file", "privateKey", fileField, "`file` with the private key, - for standard input"},
		{"passphrase-file", "passphrase", secretField, "`file` with the key's passphrase"},
		{"password-file", "password", secretField, "`file` with the password"},
		{"certificate-file", "certificate", fileField, "`file` with the key's OpenSSH certificate"},
		{"known-hosts-file", "knownHosts", fileField, "`file` with known_hosts lines to trust"},
		{"strict", "strictHostKeyChecking", boolField, "trust only known host keys; --no-strict pins the first one seen"},
		{"proxy-jump", "proxyJump", textField, "jump hosts, as ssh's ProxyJump"},
		{"use-agent", "useAgent", boolField, "offer the keys of the server user's agent"},
		{"required-tool", "requiredTools", listField, "command that must exist there; may be repeated"},
		{"keep-alive", "keepAliveSec", numberField, "seconds between keep-alives, 0 for none"},
		{"min-free-mb", "minFreeMB", numberField, "least free disk in the workspace, in MiB"},
	}
}

// flagOf is how a person sets a field of the API on the command line; the
// field's own name where there is no flag.
func flagOf(cmd *cobra.Command, name string) string {
	head, rest, nested := strings.Cut(name, ".")
	flags := map[string]string{
		"timeoutSec": "timeout", "maxRunTimeoutSec": "max-run-timeout", "defaultEnvironmentId": "default-environment",
		"enableEnvironments": "enable-environments", "enableManagedSandboxOnly": "enable-managed-sandbox-only",
		"accountLabel": "account", "maxLeases": "max-leases", "leaseMinutesPerDay": "lease-minutes-per-day", "note": "budget-note",
	}
	switch {
	case nested && (head == "envVars" || head == "env"):
		return "--env-var " + rest
	case nested && (head == "config" || head == "budget"):
		head = rest
	}
	for _, f := range configFields() {
		flags[f.key] = f.flag
	}
	flag, ok := flags[head]
	if !ok {
		flag = head
	}
	has := func(flag string) bool { return cmd != nil && cmd.Flags().Lookup(flag) != nil }
	switch {
	case has(flag):
		return "--" + flag
	case strings.HasPrefix(name, "config.") && has("set"):
		return "--set " + rest
	}
	return name
}

// clearable names what --clear can take away, each with its key.
func clearable() map[string]string {
	return map[string]string{
		"description": "", "known-hosts": "knownHosts", "key": "privateKeySecretRef", "passphrase": "passphraseSecretRef",
		"password": "passwordSecretRef", "certificate": "certificate", "proxy-jump": "proxyJump",
		"required-tools": "requiredTools", "keep-alive": "keepAliveSec", "min-free-mb": "minFreeMB",
	}
}

// inputs are the flags that make an environment's body.
type inputs struct {
	file       string
	envVars    []string
	secretVars []string
	unsetVars  []string
	clear      []string
	stdinTaken bool
	budget     budgetFlags
	sandboxFlags
}

// register adds the flags that create and probe-config share.
func (in *inputs) register(f *pflag.FlagSet) {
	f.StringVar(&in.file, "file", "", "JSON `file` with the body as the API takes it, - for standard input; other flags win over it")
	f.String("name", "", "name, unique without regard to case")
	f.String("description", "", "description")
	f.String("driver", "", "ssh, sandbox or local (default ssh; sandbox with --provider)")
	for _, c := range configFields() {
		switch c.kind {
		case numberField:
			f.Int(c.flag, 0, c.usage)
		case boolField:
			f.Bool(c.flag, false, c.usage)
		case listField:
			f.StringArray(c.flag, nil, c.usage)
		default:
			f.String(c.flag, "", c.usage)
		}
	}
	f.Bool("no-strict", false, "pin the first host key seen")
	f.StringArrayVar(&in.envVars, "env-var", nil, "variable for runs, `NAME=VALUE`; may be repeated")
	f.StringArrayVar(&in.secretVars, "secret-env-var", nil, "secret variable for runs, `NAME=FILE`; may be repeated")
	in.sandboxFlags.register(f)
	refuseSecrets(f)
}

// registerChange adds what only an update can do.
func (in *inputs) registerChange(f *pflag.FlagSet) {
	f.StringArrayVar(&in.unsetVars, "unset-env-var", nil, "`NAME` of a variable to remove; may be repeated")
	in.sandboxFlags.registerChange(f)
	in.budget.registerChange(f)
	f.StringArrayVar(&in.clear, "clear", nil, "`field` to take away: description, known-hosts, key, passphrase, password, certificate, proxy-jump, required-tools, keep-alive, min-free-mb")
}

// secretFlags are flags that people try: a value there could be read by every
// user of the machine, so they exist only to say so.
func secretFlags() map[string]string {
	return map[string]string{
		"key": "key-file", "private-key": "key-file", "passphrase": "passphrase-file", "password": "password-file",
	}
}

func refuseSecrets(f *pflag.FlagSet) {
	for name := range secretFlags() {
		f.String(name, "", "refused: a secret never goes on a command line")
		if err := f.MarkHidden(name); err != nil {
			panic(err)
		}
	}
}

// body is the request that the flags make; starting from --file when given.
func (in *inputs) body(a *app, f *pflag.FlagSet) (map[string]any, error) {
	for name, instead := range secretFlags() {
		if f.Changed(name) {
			return nil, &usageError{fmt.Sprintf("--%s is refused: every user of this machine can read a command line; put it in a file and use --%s FILE, or --%s - for standard input", name, instead, instead)}
		}
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	body, err := in.fromFile(a)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"name", "description", "driver"} {
		if f.Changed(name) {
			body[name], err = f.GetString(name)
			if err != nil {
				return nil, err
			}
		}
	}
	config, err := object(body, "config")
	if err != nil {
		return nil, err
	}
	if err := in.config(a, f, config); err != nil {
		return nil, err
	}
	vars, err := object(body, "envVars")
	if err != nil {
		return nil, err
	}
	if err := in.variables(a, vars); err != nil {
		return nil, err
	}
	if err := in.clears(body, config); err != nil {
		return nil, err
	}
	if len(config) > 0 {
		body["config"] = config
	}
	if len(vars) > 0 {
		body["envVars"] = vars
	}
	return body, nil
}

func (in *inputs) fromFile(a *app) (map[string]any, error) {
	body := map[string]any{}
	if in.file == "" {
		return body, nil
	}
	text, err := in.read(a, "file", in.file)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal([]byte(text), &body); err != nil || body == nil {
		return nil, &usageError{fmt.Sprintf("--file %s is not a JSON object", in.file)}
	}
	return body, nil
}

// object returns the object under a key of a body, an empty one when absent.
func object(body map[string]any, key string) (map[string]any, error) {
	switch v := body[key].(type) {
	case nil:
		return map[string]any{}, nil
	case map[string]any:
		return v, nil
	}
	return nil, &usageError{fmt.Sprintf("%q in --file is not an object", key)}
}

func (in *inputs) config(a *app, f *pflag.FlagSet, config map[string]any) (err error) {
	for _, c := range configFields() {
		if !f.Changed(c.flag) {
			continue
		}
		switch c.kind {
		case numberField:
			config[c.key], err = f.GetInt(c.flag)
		case boolField:
			config[c.key], err = f.GetBool(c.flag)
		case listField:
			config[c.key], err = f.GetStringArray(c.flag)
		case textField:
			config[c.key], err = f.GetString(c.flag)
		default:
			config[c.key], err = in.fileFlag(a, f, c)
		}
		if err != nil {
			return err
		}
	}
	if f.Changed("no-strict") {
		if f.Changed("strict") {
			return &usageError{"--strict and --no-strict cannot both be given"}
		}
		loose, err := f.GetBool("no-strict")
		if err != nil {
			return err
		}
		config["strictHostKeyChecking"] = !loose
	}
	return nil
}

func (in *inputs) fileFlag(a *app, f *pflag.FlagSet, c field) (string, error) {
	path, err := f.GetString(c.flag)
	if err != nil {
		return "", err
	}
	text, err := in.read(a, c.flag, path)
	if err != nil || c.kind == fileField {
		return text, err
	}
	return dropLineEnd(text), nil
}

// dropLineEnd takes off the one line end that editors and echo put last; other
// white space belongs to the secret.
func dropLineEnd(text string) string {
	return strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
}

func (in *inputs) variables(a *app, vars map[string]any) error {
	for _, pair := range in.envVars {
		name, value, err := plainVariable(pair)
		if err != nil {
			return err
		}
		vars[name] = map[string]any{"type": "plain", "value": value}
	}
	for _, pair := range in.secretVars {
		name, value, err := in.secretVariable(a, pair)
		if err != nil {
			return err
		}
		vars[name] = map[string]any{"type": "secret", "value": value}
	}
	for _, name := range in.unsetVars {
		vars[name] = nil
	}
	return nil
}

// secretVariable reads the value of NAME=FILE.
func (in *inputs) secretVariable(a *app, pair string) (name, value string, err error) {
	name, path, ok := strings.Cut(pair, "=")
	if !ok || name == "" || path == "" {
		return "", "", &usageError{"--secret-env-var takes NAME=FILE"}
	}
	text, err := in.read(a, "secret-env-var "+name, path)
	return name, dropLineEnd(text), err
}

// plainVariable splits NAME=VALUE and refuses what looks like a secret.
func plainVariable(pair string) (name, value string, err error) {
	name, value, ok := strings.Cut(pair, "=")
	if !ok || name == "" {
		return "", "", &usageError{"--env-var takes NAME=VALUE"}
	}
	if environment.LooksSecret(name, value) {
		return "", "", &usageError{fmt.Sprintf("--env-var %s looks like a secret, and every user of this machine can read a command line; put the value in a file and use --secret-env-var %s=FILE", name, name)}
	}
	return name, value, nil
}

func (in *inputs) clears(body, config map[string]any) error {
	for _, name := range in.clear {
		key, ok := clearable()[name]
		switch {
		case !ok:
			return &usageError{fmt.Sprintf("--clear cannot take away %q", name)}
		case key == "":
			body[name] = nil
		default:
			config[key] = nil
		}
	}
	return nil
}

// read returns a file's text; standard input for "-", which only one flag may
// take.
func (in *inputs) read(a *app, flag, path string) (string, error) {
	if path != "-" {
		b, err := os.ReadFile(path)
		if err != nil {
			// The path may be a secret that was typed in place of one.
			return "", &usageError{fmt.Sprintf("--%s takes the name of a file that can be read, or - for standard input: %v", flag, errors.Unwrap(err))}
		}
		return string(b), nil
	}
	if in.stdinTaken {
		return "", &usageError{"only one flag can read standard input"}
	}
	in.stdinTaken = true
	b, err := io.ReadAll(a.env.In)
	if err != nil {
		return "", fmt.Errorf("read standard input: %w", err)
	}
	return string(b), nil
}
