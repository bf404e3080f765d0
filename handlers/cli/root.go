// Package cli is the command line: a client of the JSON API, and the door to
// the commands that are the server itself, which main hands in as hooks.
package cli

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"
)

// Env is what a process gives its command.
type Env struct {
	Args   []string // without the program's name
	Getenv func(string) string
	In     io.Reader
	Out    io.Writer
	Err    io.Writer
	Now    func() time.Time // nil: time.Now
}

// Hooks are the parts that the command line cannot know: the server and what it
// is made of. Each gets a context that ends with SIGINT or SIGTERM.
type Hooks struct {
	// Version is shown by `berth version` and sent as the user agent.
	Version Version
	// Serve runs a server until ctx ends. It calls o.Ready once, when it
	// answers requests, with the base URL ("http://127.0.0.1:3100").
	Serve func(ctx context.Context, o ServeOptions) error
	// Migrate brings the schema up to date and returns the version reached.
	Migrate func(ctx context.Context, o ServeOptions) (version int64, err error)
	// Backup writes the database to a file, and Restore reads one back.
	Backup, Restore func(ctx context.Context, o ServeOptions, file string) (Backup, error)
	// Doctor looks at what this machine has for each driver.
	Doctor func(ctx context.Context, o ServeOptions) []Check
	// Target starts the demo's disposable SSH server in this process.
	Target func(ctx context.Context) (Target, error)
}

// app is one invocation.
type app struct {
	env   Env
	hooks Hooks
	flags struct {
		apiBase string
		apiKey  string
		company string
		json    bool
	}
}

// Execute runs one command line and returns its exit code. It handles SIGINT
// and SIGTERM itself, because `berth run` means something else by them than
// `berth serve` does; ctx need not end with them.
func Execute(ctx context.Context, env Env, hooks Hooks) int {
	if env.Now == nil {
		env.Now = time.Now
	}
	a := &app{env: env, hooks: hooks}
	root := a.root()
	root.SetArgs(env.Args)
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil {
		a.report(cmd, err)
	}
	return exitCode(err)
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "berth",
		Short: "Decides where work runs: configures targets, proves them ready, runs work there",
		Long: `Berth configures targets (this machine, SSH hosts), proves in the actual target
that each is ready, runs bounded work there and shows exactly where it ran.

Exit codes: 0 done, 1 failed, 2 usage, 3 not found, 4 not allowed, 5 conflict,
6 the probe ran and failed, 7 unavailable. "berth run" passes the remote exit
code on.`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(a.env.In)
	root.SetOut(a.env.Out)
	root.SetErr(a.env.Err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &usageError{err.Error()}
	})
	f := root.PersistentFlags()
	f.StringVar(&a.flags.apiBase, "api-base", a.getenv("BERTH_API_BASE", "http://127.0.0.1:3100"), "address of the server (BERTH_API_BASE)")
	f.StringVar(&a.flags.apiKey, "api-key", "", "key for the server; better set BERTH_API_KEY, other users can see a command line")
	f.StringVar(&a.flags.company, "company", a.getenv("BERTH_COMPANY", ""), "company by id or name; not needed when there is one (BERTH_COMPANY)")
	f.BoolVar(&a.flags.json, "json", false, "print exactly one JSON value on standard output")
	root.AddCommand(
		a.loginCommand(), a.logoutCommand(), a.whoamiCommand(), a.tokenCommand(),
		a.envCommand(), a.runCommand(), a.companyCommand(), a.settingsCommand(), a.leaseCommand(),
		a.agentCommand(), a.secretCommand(), a.peopleCommand(), a.activityCommand(),
		a.serveCommand(), a.migrateCommand(), a.backupCommand(), a.restoreCommand(),
		a.doctorCommand(), a.versionCommand(), a.demoCommand(),
	)
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == "completion" {
			group(c)
		}
	}
	group(root)
	return root
}

// getenv returns a variable, or fallback when it is empty.
func (a *app) getenv(name, fallback string) string {
	if a.env.Getenv != nil {
		if v := a.env.Getenv(name); v != "" {
			return v
		}
	}
	return fallback
}
