package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// flagOf is how a person sets a field of the API on the command line; the
// field's own name where there is no flag.
func flagOf(cmd *cobra.Command, field string) string {
	name, rest, _ := strings.Cut(field, ".")
	switch name {
	case "config":
		name = rest
	case "envVars", "env":
		return "--env-var " + rest
	}
	if flag, ok := flagNames[name]; ok && cmd != nil && cmd.Flags().Lookup(flag) != nil {
		return "--" + flag
	}
	return field
}

var flagNames = map[string]string{
	"name": "name", "description": "description", "driver": "driver",
	"host": "host", "port": "port", "username": "user", "remoteWorkspacePath": "workspace",
	"privateKey": "key-file", "passphrase": "passphrase-file", "password": "password-file",
	"knownHosts": "known-hosts-file", "strictHostKeyChecking": "strict", "proxyJump": "proxy-jump",
	"requiredTools": "required-tool", "useAgent": "use-agent", "certificate": "certificate-file",
	"keepAliveSec": "keep-alive", "minFreeMB": "min-free-mb",
	"timeoutSec": "timeout", "cwd": "cwd", "title": "title", "stdin": "stdin", "command": "--",
	"maxRunTimeoutSec": "max-run-timeout", "defaultEnvironmentId": "default-environment",
}
