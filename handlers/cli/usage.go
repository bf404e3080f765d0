package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// group makes a command that only holds others refuse to be called itself:
// cobra would print help and succeed, and a script would think it worked.
func group(cmd *cobra.Command) {
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return &usageError{fmt.Sprintf("%q needs a command: %s", cmd.CommandPath(), strings.Join(names(cmd), ", "))}
		}
		message := fmt.Sprintf("unknown command %q for %q", args[0], cmd.CommandPath())
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			message += "; did you mean " + strings.Join(near, " or ") + "?"
		}
		return &usageError{message}
	}
}

func names(cmd *cobra.Command) []string {
	var all []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			all = append(all, c.Name())
		}
	}
	return all
}

// exactly takes the named arguments, no fewer and no more.
func exactly(args ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, got []string) error {
		switch {
		case len(got) < len(args):
			return &usageError{fmt.Sprintf("missing argument %s: %s", args[len(got)], cmd.UseLine())}
		case len(got) > len(args):
			return &usageError{fmt.Sprintf("unexpected argument %q: %s", got[len(args)], cmd.UseLine())}
		}
		return nil
	}
}
