package cli

import (
	"errors"

	"github.com/spf13/cobra"
)

// Target is a disposable SSH server: where it listens and who may log in.
type Target struct {
	Host       string
	Port       int
	User       string
	PrivateKey string
	Workspace  string
	// Close ends the server and all that runs on it, and removes its folder.
	Close func() error
}

func (a *app) demoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Show the main job with a disposable SSH target; Ctrl-C removes all of it",
		Args:  exactly(),
		RunE:  func(*cobra.Command, []string) error { return errors.New("unwritten") },
	}
}
