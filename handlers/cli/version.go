package cli

import (
	"io"

	"github.com/spf13/cobra"
)

// Version is the build.
type Version struct {
	Version  string `json:"version"`
	Revision string `json:"revision"`
	Modified bool   `json:"modified"`
	Go       string `json:"go"`
	Platform string `json:"platform"` // "linux/amd64"
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Show the build",
		Args:  exactly(),
		RunE: func(*cobra.Command, []string) error {
			v := a.hooks.Version
			return a.show(v, func(w io.Writer) {
				revision := v.Revision
				if v.Modified {
					revision += " (modified)"
				}
				writef(w, "berth %s %s %s %s\n", v.Version, revision, v.Go, v.Platform)
			})
		},
	}
}
