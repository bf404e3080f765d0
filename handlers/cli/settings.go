package cli

import (
	"context"
	"io"
	"net/http"
	"strconv"

	"berth/handlers/api"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// settings are both parts of the instance's settings in one answer.
type settings struct {
	api.Settings
	api.Experimental
}

func (a *app) settingsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "settings", Short: "The instance's settings: get, set"}
	cmd.AddCommand(a.settingsGetCommand(), a.settingsSetCommand())
	group(cmd)
	return cmd
}

func (c *client) settings(ctx context.Context) (settings, error) {
	var s settings
	if err := c.call(ctx, request{method: http.MethodGet, path: "/instance/settings", into: &s.Settings}); err != nil {
		return s, err
	}
	err := c.call(ctx, request{method: http.MethodGet, path: "/instance/settings/experimental", into: &s.Experimental})
	return s, err
}

func (a *app) settingsGetCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "get",
		Short: "Show the settings",
		Args:  exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			return a.showSettings(cmd.Context(), c)
		},
	}
}

func (a *app) showSettings(ctx context.Context, c *client) error {
	s, err := c.settings(ctx)
	if err != nil {
		return err
	}
	return a.show(s, func(w io.Writer) {
		t := newTable(w, "SETTING", "VALUE")
		t.row("enable-environments", strconv.FormatBool(s.EnableEnvironments))
		t.row("enable-managed-sandbox-only", strconv.FormatBool(s.EnableManagedSandboxOnly))
		id := "none"
		if s.DefaultEnvironmentID != nil {
			id = s.DefaultEnvironmentID.String()
		}
		t.row("default-environment", id)
		t.row("max-run-timeout", strconv.Itoa(s.MaxRunTimeoutSec)+" s")
		t.flush()
	})
}

func (a *app) settingsSetCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "set [--enable-environments] [--default-environment ENVIRONMENT|none] ...",
		Short: "Change settings",
		Args:  exactly(),
	}
	f := cmd.Flags()
	f.Bool("enable-environments", false, "offer environments")
	f.Bool("enable-managed-sandbox-only", false, "hide local targets")
	f.String("default-environment", "", "environment by name or id, or none")
	f.Duration("max-run-timeout", 0, "cap on a run's timeout, such as 1h")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := a.client()
		if err != nil {
			return err
		}
		general, experimental, err := a.settingsBodies(cmd, c, f)
		if err != nil {
			return err
		}
		if len(general)+len(experimental) == 0 {
			return &usageError{"nothing to change: name a flag"}
		}
		for path, body := range map[string]map[string]any{
			"/instance/settings": general, "/instance/settings/experimental": experimental,
		} {
			if len(body) == 0 {
				continue
			}
			if err := c.call(cmd.Context(), request{method: http.MethodPatch, path: path, body: body}); err != nil {
				return err
			}
		}
		return a.showSettings(cmd.Context(), c)
	}
	return cmd
}

func (a *app) settingsBodies(cmd *cobra.Command, c *client, f *pflag.FlagSet) (general, experimental map[string]any, err error) {
	general, experimental = map[string]any{}, map[string]any{}
	for flag, key := range map[string]string{
		"enable-environments": "enableEnvironments", "enable-managed-sandbox-only": "enableManagedSandboxOnly",
	} {
		if f.Changed(flag) {
			if experimental[key], err = f.GetBool(flag); err != nil {
				return nil, nil, err
			}
		}
	}
	if f.Changed("max-run-timeout") {
		d, err := f.GetDuration("max-run-timeout")
		if err != nil {
			return nil, nil, err
		}
		general["maxRunTimeoutSec"] = int(d.Seconds())
	}
	if f.Changed("default-environment") {
		name, err := f.GetString("default-environment")
		if err != nil {
			return nil, nil, err
		}
		general["defaultEnvironmentId"] = nil
		if name != "none" {
			e, err := a.find(cmd.Context(), c, name)
			if err != nil {
				return nil, nil, err
			}
			general["defaultEnvironmentId"] = e.ID
		}
	}
	return general, experimental, nil
}
