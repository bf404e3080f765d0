package cli

import (
	"io"

	"github.com/spf13/cobra"
)

// Check is one thing that the doctor looked at.
type Check struct {
	Name   string `json:"name"`
	For    string `json:"for"` // what needs it: "server", "ssh", "tests"
	OK     bool   `json:"ok"`
	Needed bool   `json:"needed"` // without it the server does not start
	Found  string `json:"found"`  // version, path or why not
	Remedy string `json:"remediation"`
}

func (a *app) doctorCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Show what this machine lacks for each driver, and how to get it",
		Args:  exactly(),
	}
	options := a.serverFlags(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		o, err := options()
		if err != nil {
			return err
		}
		checks := a.hooks.Doctor(cmd.Context(), o)
		if err := a.show(checks, func(w io.Writer) { a.printChecks(w, checks) }); err != nil {
			return err
		}
		for _, c := range checks {
			if c.Needed && !c.OK {
				return &exitError{code: exitUnavailable}
			}
		}
		return nil
	}
	return cmd
}

func (a *app) printChecks(w io.Writer, checks []Check) {
	t := newTable(w, "", "WHAT", "FOR", "FOUND", "HOW TO GET IT")
	for _, c := range checks {
		mark := "ok"
		switch {
		case !c.OK && c.Needed:
			mark = "missing"
		case !c.OK:
			mark = "optional"
		}
		t.row(a.paint(mark), c.Name, c.For, c.Found, c.Remedy)
	}
	t.flush()
}
