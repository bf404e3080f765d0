package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"berth/handlers/cli"
)

// outcome is how one command line ended.
type outcome struct {
	code        int
	out, errOut string
}

func (o outcome) String() string {
	return fmt.Sprintf("exit %d, out %q, err %q", o.code, o.out, o.errOut)
}

// command runs one command line against a server's address.
func command(t *testing.T, base, stdin string, args ...string) outcome {
	t.Helper()
	var out, errOut bytes.Buffer
	env := cli.Env{
		Args: args, In: strings.NewReader(stdin), Out: &out, Err: &errOut,
		Getenv: func(name string) string {
			if name == "BERTH_API_BASE" {
				return base
			}
			return ""
		},
		Now: func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) },
	}
	hooks := cli.Hooks{Version: cli.Version{Version: "test", Go: "go1.26", Platform: "linux/amd64"}}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	code := cli.Execute(ctx, env, hooks)
	return outcome{code, out.String(), errOut.String()}
}

// oneJSON is the one JSON value that is all of an output.
func oneJSON(t *testing.T, out string) map[string]any {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(out))
	var v map[string]any
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("output %q is not a JSON object: %v", out, err)
	}
	if dec.More() {
		t.Fatalf("output %q is more than one JSON value", out)
	}
	return v
}

// counting is a server that must not be asked to change anything.
func counting(t *testing.T) (base string, changes *atomic.Int32) {
	t.Helper()
	changes = new(atomic.Int32)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			changes.Add(1)
		}
		http.Error(w, "unexpected", http.StatusInternalServerError)
	}))
	t.Cleanup(server.Close)
	return server.URL, changes
}

func TestC90_WrongUsageExitsTwoAndDoesNothing(t *testing.T) {
	base, changes := counting(t)
	const id = "0190aaaa-0000-7000-8000-000000000001"
	for name, test := range map[string]struct {
		args []string
		says string
	}{
		"unknown command":           {[]string{"frobnicate"}, "unknown command"},
		"unknown subcommand":        {[]string{"env", "frobnicate"}, "unknown command"},
		"no subcommand":             {[]string{"env"}, "needs a command"},
		"no command":                {nil, "needs a command"},
		"unknown flag":              {[]string{"env", "list", "--frobnicate"}, "unknown flag"},
		"unknown short flag":        {[]string{"env", "list", "-z"}, "unknown shorthand flag"},
		"missing argument":          {[]string{"env", "get"}, "missing argument ENVIRONMENT"},
		"missing second argument":   {[]string{"env", "trust-host-key", id}, "missing argument FINGERPRINT"},
		"too many arguments":        {[]string{"env", "get", "a", "b"}, "unexpected argument"},
		"port is no number":         {[]string{"env", "create", "--name", "x", "--port", "abc"}, "--port"},
		"delete without yes":        {[]string{"env", "delete", id}, "--yes"},
		"create without name":       {[]string{"env", "create", "--host", "h"}, "--name"},
		"update without change":     {[]string{"env", "update", id}, "nothing to change"},
		"unknown field to clear":    {[]string{"env", "update", id, "--clear", "port"}, "cannot take away"},
		"run without dashes":        {[]string{"run", "--env", id, "ls"}, "two dashes"},
		"run of nothing":            {[]string{"run", "--env", id, "--"}, "missing argument COMMAND"},
		"word before the dashes":    {[]string{"run", "--env", id, "ls", "--", "-l"}, "two dashes"},
		"bad variable":              {[]string{"env", "update", id, "--env-var", "NOVALUE"}, "NAME=VALUE"},
		"bad address":               {[]string{"--api-base", "nowhere", "env", "list"}, "--api-base"},
		"strict and not strict":     {[]string{"env", "update", id, "--strict", "--no-strict"}, "cannot both"},
		"key file that is not":      {[]string{"env", "update", id, "--key-file", "/nonexistent/key"}, "--key-file"},
		"bad json":                  {[]string{"env", "create", "--file", "-"}, "not a JSON object"},
		"run id that is none":       {[]string{"run", "get", "abc"}, "not a UUID"},
		"limit out of range":        {[]string{"run", "list", "--limit", "0"}, "--limit"},
		"settings without a change": {[]string{"settings", "set"}, "nothing to change"},
		"bad mode":                  {[]string{"serve", "--mode", "open"}, "--mode"},
		"bad log":                   {[]string{"serve", "--log", "xml"}, "--log"},
		"completion without shell":  {[]string{"completion"}, "needs a command"},
	} {
		t.Run(name, func(t *testing.T) {
			got := command(t, base, "", test.args...)
			if got.code != 2 {
				t.Errorf("%q exits %d, want 2", test.args, got.code)
			}
			if got.out != "" {
				t.Errorf("%q prints %q on standard output, want nothing", test.args, got.out)
			}
			if !strings.Contains(got.errOut, test.says) {
				t.Errorf("%q says %q, want %q in it", test.args, got.errOut, test.says)
			}
		})
	}
	if n := changes.Load(); n != 0 {
		t.Errorf("the server was asked for %d changes, want none", n)
	}
}

func TestSecretsAreRefusedOnTheCommandLine(t *testing.T) {
	base, changes := counting(t)
	const canary = "canary-argv"
	for name, args := range map[string][]string{
		"password":             {"env", "create", "--name", "x", "--password", canary},
		"key":                  {"env", "create", "--name", "x", "--key", canary},
		"private key":          {"env", "update", "x", "--private-key", canary},
		"passphrase":           {"env", "probe-config", "--passphrase", canary},
		"variable by name":     {"env", "create", "--name", "x", "--env-var", "API_TOKEN=" + canary},
		"variable by value":    {"env", "create", "--name", "x", "--env-var", "LINK=postgres://u:" + canary + "@h/"},
		"variable of a run":    {"run", "--env", "x", "--env-var", "API_TOKEN=" + canary, "--", "true"},
		"value in a file flag": {"env", "create", "--name", "x", "--password-file", canary},
	} {
		t.Run(name, func(t *testing.T) {
			for _, args := range [][]string{args, append([]string{"--json"}, args...)} {
				got := command(t, base, "", args...)
				if got.code != 2 {
					t.Errorf("%q exits %d, want 2", args, got.code)
				}
				if all := got.out + got.errOut; strings.Contains(all, canary) || !strings.Contains(strings.ToLower(all), "file") {
					t.Errorf("%q says %q, want the way out and not the value", args, all)
				}
			}
		})
	}
	if n := changes.Load(); n != 0 {
		t.Errorf("the server was asked for %d changes, want none", n)
	}
}

func TestC88_UsageAndUnreachableServerAsJSON(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for name, test := range map[string]struct {
		args []string
		code string
		exit int
	}{
		"server stopped":        {[]string{"env", "probe", "no-such-env", "--json"}, "server_unreachable", 7},
		"unknown flag":          {[]string{"env", "list", "--json", "--frobnicate"}, "usage", 2},
		"unknown flag, earlier": {[]string{"env", "list", "--frobnicate", "--json"}, "usage", 2},
		"missing argument":      {[]string{"--json", "env", "get"}, "usage", 2},
	} {
		t.Run(name, func(t *testing.T) {
			got := command(t, gone.URL, "", test.args...)
			if got.code != test.exit {
				t.Errorf("exit %d, want %d", got.code, test.exit)
			}
			answer := oneJSON(t, got.out)
			if answer["code"] != test.code || answer["error"] == "" {
				t.Errorf("answer %v, want code %s and an error", answer, test.code)
			}
		})
	}
}

func TestVersion(t *testing.T) {
	if got := command(t, "", "", "version"); got.code != 0 || !strings.Contains(got.out, "berth test") {
		t.Errorf("version gives %s", got)
	}
	if got := command(t, "", "", "version", "--json"); oneJSON(t, got.out)["platform"] != "linux/amd64" {
		t.Errorf("version --json gives %s", got)
	}
}
