package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
	"unicode/utf8"

	"berth/environment"
	"berth/handlers/api"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
)

// runFlags are what `berth run` takes before the two dashes.
type runFlags struct {
	env        string
	title      string
	cwd        string
	stdin      string
	timeout    time.Duration
	envVars    []string
	secretVars []string
	detach     bool
	quiet      bool
	native     bool
}

func (a *app) runCommand() *cobra.Command {
	var o runFlags
	cmd := &cobra.Command{
		Use:     "run --env ENVIRONMENT [flags] -- COMMAND [ARGUMENT...]",
		Aliases: []string{"runs"},
		Short:   "Run a command in an environment; or list, get, log, cancel, files",
		Long: `Runs one command in an environment and shows its output as it comes. The exit
code is the command's own. Everything after the two dashes is the command and is
passed as it is; no shell reads it. Without the dashes the first word is one of
the commands below.

Ctrl-C cancels the run; a second one leaves it running.

When the command did not end by itself: 1 for a run that failed, was cancelled
or ran into its time limit, 7 when the target could not be reached or was lost,
130 after Ctrl-C.`,
		Example: `  berth run --env "Build box" -- uname -a
  berth run --env build --stdin - -- sh -c 'cat; exit 3' < notes.txt`,
		Args: cobra.ArbitraryArgs,
	}
	cmd.AddCommand(a.runListCommand(), a.runGetCommand(), a.runLogCommand(), a.runCancelCommand(), a.runFilesCommand())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := checkCommand(cmd, args); err != nil {
			return err
		}
		return a.run(cmd.Context(), o, args)
	}
	f := cmd.Flags()
	f.StringVar(&o.env, "env", "", "environment by name or id; the instance's default when not given")
	f.StringVar(&o.title, "title", "", "what people read in lists")
	f.StringVar(&o.cwd, "cwd", "", "folder, absolute or under the workspace (default the workspace)")
	f.StringVar(&o.stdin, "stdin", "", "`file` to give as standard input, - for this command's own")
	f.DurationVar(&o.timeout, "timeout", 0, "time limit, such as 90s (default 15m)")
	f.StringArrayVar(&o.envVars, "env-var", nil, "variable, `NAME=VALUE`; may be repeated")
	f.StringArrayVar(&o.secretVars, "secret-env-var", nil, "secret variable, `NAME=FILE`; may be repeated")
	f.BoolVar(&o.detach, "detach", false, "start it, print its id and leave")
	f.BoolVar(&o.native, "native", false, "only in a sandbox whose image is qualified for the company, and from exactly that image")
	f.BoolVar(&o.quiet, "quiet", false, "say nothing beside the command's own output")
	if err := cmd.RegisterFlagCompletionFunc("env", func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		return a.environmentNames(cmd), cobra.ShellCompDirectiveNoFileComp
	}); err != nil {
		panic(err)
	}
	return cmd
}

// checkCommand tells a command to run from a mistyped subcommand.
func checkCommand(cmd *cobra.Command, args []string) error {
	switch dash := cmd.ArgsLenAtDash(); {
	case dash > 0 || (dash < 0 && len(args) > 0):
		return &usageError{fmt.Sprintf("unknown command %q for %q; a command to run comes after two dashes: berth run --env ENVIRONMENT -- %s", args[0], cmd.CommandPath(), args[0])}
	case len(args) == 0:
		return &usageError{"missing argument COMMAND: " + cmd.UseLine()}
	}
	return nil
}

// startBody is the request of a run, but for the environment.
func (a *app) startBody(o runFlags, argv []string) (api.StartRun, error) {
	body := api.StartRun{Command: argv, Env: map[string]string{}}
	in := &inputs{}
	for _, pair := range o.envVars {
		name, value, err := plainVariable(pair)
		if err != nil {
			return body, err
		}
		body.Env[name] = value
	}
	for _, pair := range o.secretVars {
		name, value, err := in.secretVariable(a, pair)
		if err != nil {
			return body, err
		}
		body.Env[name] = value
	}
	if o.stdin != "" {
		text, err := in.read(a, "stdin", o.stdin)
		if err != nil {
			return body, err
		}
		if !utf8.ValidString(text) {
			return body, &usageError{"--stdin must be UTF-8 text"}
		}
		body.Stdin = &text
	}
	if o.timeout != 0 {
		if o.timeout < time.Second {
			return body, &usageError{"--timeout is at least 1s"}
		}
		seconds := int(o.timeout.Seconds())
		body.TimeoutSec = &seconds
	}
	if o.native {
		body.Native = &o.native
	}
	if o.title != "" {
		body.Title = &o.title
	}
	if o.cwd != "" {
		body.Cwd = &o.cwd
	}
	return body, nil
}

// runEnvironment is the environment of --env; nil leaves it to the server, which
// knows the default. An id goes as it is: an agent may work in an environment that
// it may not read.
func (a *app) runEnvironment(ctx context.Context, c *client, name string) (*uuid.UUID, error) {
	if name == "" {
		return nil, nil
	}
	if id, err := environment.ParseID("environment", name); err == nil {
		return &id, nil
	}
	e, err := a.find(ctx, c, name)
	return &e.ID, err
}

func (a *app) run(ctx context.Context, o runFlags, argv []string) error {
	body, err := a.startBody(o, argv)
	if err != nil {
		return err
	}
	c, err := a.client()
	if err != nil {
		return err
	}
	company, err := a.companyID(ctx, c)
	if err != nil {
		return err
	}
	if body.EnvironmentID, err = a.runEnvironment(ctx, c, o.env); err != nil {
		return err
	}
	var started api.Run
	path := "/companies/" + company.String() + "/runs"
	if err := c.call(ctx, request{method: http.MethodPost, path: path, body: body, into: &started}); err != nil {
		return err
	}
	if o.detach {
		return a.show(started, func(w io.Writer) { writef(w, "%s\n", started.ID) })
	}
	f := &runFollower{a: a, c: c, id: started.ID, quiet: o.quiet || a.flags.json}
	f.note("Run %s in %s", started.ID, where(started))
	if a.flags.json {
		f.capture()
	} else {
		f.out, f.err = a.env.Out, a.env.Err
	}
	ended, err := f.follow(ctx)
	if err != nil {
		return err
	}
	return a.endRun(f, ended)
}

// where names a run's environment and its address.
func where(r api.Run) string {
	text := printable(r.Environment.Name)
	if r.Environment.Target != "" {
		text += ", " + printable(r.Environment.Target)
	}
	return text
}

// runAnswer is a run with --json: with its output, and with the keys of an
// error when it has a failure.
type runAnswer struct {
	api.Run
	Stdout      string `json:"stdout"`
	Stderr      string `json:"stderr"`
	Error       string `json:"error,omitempty"`
	Code        string `json:"code,omitempty"`
	Remediation string `json:"remediation,omitempty"`
}

func (a *app) endRun(f *runFollower, r api.Run) error {
	f.sayHow(r)
	if a.flags.json {
		answer := runAnswer{Run: r, Stdout: f.stdout.String(), Stderr: f.stderr.String()}
		if r.Failure != nil {
			answer.Error, answer.Code, answer.Remediation = r.Failure.Message, r.Failure.Code, r.Failure.Remediation
		}
		if err := a.printJSON(answer); err != nil {
			return err
		}
	}
	code := exitOfRun(r, f.interrupted)
	if code == exitDone {
		return nil
	}
	return &exitError{code: code}
}

// exitInterrupted is what a shell expects of a command that Ctrl-C ended.
const exitInterrupted = 130

// exitOfRun is the remote exit code where there is one.
func exitOfRun(r api.Run, interrupted bool) int {
	switch {
	case interrupted:
		return exitInterrupted
	case r.ExitCode != nil && (r.Status == string(environment.RunSucceeded) || r.Status == string(environment.RunFailed)):
		return *r.ExitCode & 0xff
	case r.Status == string(environment.RunLost):
		return exitUnavailable
	case r.Failure != nil && environment.HealthOfCode(r.Failure.Code) == environment.HealthUnreachable &&
		r.Status == string(environment.RunFailed):
		return exitUnavailable
	}
	return exitFailed
}
