// Berth decides where work runs: it configures targets, proves that each is
// ready, runs bounded work there and shows exactly where it ran.
package main

import (
	"context"
	"io"
	"os"
	"runtime"
	"runtime/debug"

	"berth/handlers/cli"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr))
}

// run is the program: it returns the exit code.
func run(ctx context.Context, args []string, getenv func(string) string, in io.Reader, out, errOut io.Writer) int {
	return cli.Execute(ctx, cli.Env{Args: args, Getenv: getenv, In: in, Out: out, Err: errOut}, cli.Hooks{
		Version: buildVersion(),
		Serve:   serve,
		Migrate: migrate,
		Backup:  backup,
		Restore: restore,
		Doctor:  doctor,
		Target:  demoTarget,
	})
}

// release is the version of this source.
const release = "0.4.0"

// buildVersion reads what the compiler noted of the source.
func buildVersion() cli.Version {
	v := cli.Version{Version: release, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}
