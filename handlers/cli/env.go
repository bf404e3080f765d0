package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"berth/environment"
	"berth/handlers/api"

	"github.com/spf13/cobra"
)

func (a *app) envCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "env",
		Aliases: []string{"environment", "environments"},
		Short:   "Targets: list, save, test, trust their keys",
		Long:    "Environments may be named by their name, without regard to case, or by their id.",
	}
	cmd.AddCommand(
		a.envListCommand(), a.envGetCommand(), a.envCreateCommand(), a.envUpdateCommand(),
		a.envStatusCommand("archive", "archived", "Stop offering an environment for work"),
		a.envStatusCommand("restore", "active", "Offer an archived environment again"),
		a.envDeleteCommand(), a.envImpactCommand(),
		a.envProbeCommand(), a.envProbeConfigCommand(), a.envProbesCommand(), a.envCapabilitiesCommand(),
		a.envScanCommand(), a.envTrustCommand(), a.envLeasesCommand(), a.envPinImageCommand(), a.envUsageCommand(),
	)
	group(cmd)
	return cmd
}

func (a *app) envListCommand() *cobra.Command {
	var query, driver, status, health string
	var limit int
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List environments",
		Args:    exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			values := url.Values{}
			for name, v := range map[string]string{"q": query, "driver": driver, "status": status, "health": health} {
				if v != "" {
					values.Set(name, v)
				}
			}
			if limit > 0 {
				values.Set("limit", strconv.Itoa(limit))
			}
			all, err := a.environments(cmd.Context(), c, values)
			if err != nil {
				return err
			}
			return a.show(all, func(w io.Writer) { a.printEnvironments(w, all) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&query, "query", "", "part of the name, description or address")
	f.StringVar(&driver, "driver", "", "only this driver")
	f.StringVar(&status, "status", "", "active, archived or maintenance")
	f.StringVar(&health, "health", "", "only this health: "+joinHealths())
	f.IntVar(&limit, "limit", 0, "at most this many")
	return cmd
}

func joinHealths() string {
	var all []string
	for _, h := range environment.Healths() {
		all = append(all, string(h))
	}
	return strings.Join(all, ", ")
}

func (a *app) printEnvironments(w io.Writer, all []api.Environment) {
	if len(all) == 0 {
		writef(w, "No environments.\n")
		return
	}
	t := newTable(w, "NAME", "HEALTH", "DRIVER", "ADDRESS", "LAST TEST", "STATUS", "ID")
	for _, e := range all {
		name := e.Name
		if e.IsDefault {
			name += " (default)"
		}
		t.row(name, a.paint(e.Health), e.Driver, address(e), a.lastTest(e.LastProbe), e.Status, e.ID.String())
	}
	t.flush()
}

// address is where an environment is, for people.
func address(e api.Environment) string {
	switch e.Driver {
	case environment.DriverLocal:
		return "this server"
	case environment.DriverSandbox:
		return sandboxAddress(e.Config)
	}
	var c environment.SSHConfig
	if err := json.Unmarshal(e.Config, &c); err != nil || c.Host == "" {
		return ""
	}
	return c.Target()
}

// sandboxAddress is what a sandbox is made from, and by which provider.
func sandboxAddress(config json.RawMessage) string {
	var c struct {
		Provider string `json:"provider"`
		Image    string `json:"image"`
	}
	if err := json.Unmarshal(config, &c); err != nil {
		return ""
	}
	if c.Image == "" {
		return c.Provider
	}
	return c.Provider + " " + c.Image
}

func (a *app) lastTest(p *api.ProbeBrief) string {
	if p == nil || p.FinishedAt == nil {
		return "never"
	}
	return a.ago(time.Time(*p.FinishedAt)) + ", " + millis(p.DurationMs)
}

// ago is how long something is past, in one unit.
func (a *app) ago(t time.Time) string {
	d := a.env.Now().Sub(t)
	switch {
	case d < time.Minute:
		return strconv.Itoa(max(0, int(d.Seconds()))) + " s ago"
	case d < time.Hour:
		return strconv.Itoa(int(d.Minutes())) + " min ago"
	case d < 48*time.Hour:
		return strconv.Itoa(int(d.Hours())) + " h ago"
	}
	return strconv.Itoa(int(d.Hours()/24)) + " days ago"
}

func millis(ms int64) string {
	if ms < 10_000 {
		return strconv.FormatInt(ms, 10) + " ms"
	}
	return strconv.FormatFloat(float64(ms)/1000, 'f', 1, 64) + " s"
}

func (a *app) envGetCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "get ENVIRONMENT",
		Aliases:           []string{"show"},
		Short:             "Show one environment",
		Args:              exactly("ENVIRONMENT"),
		ValidArgsFunction: a.completeEnvironments,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			e, err := a.find(cmd.Context(), c, args[0])
			if err != nil {
				return err
			}
			return a.show(e, func(w io.Writer) { a.printEnvironment(w, e) })
		},
	}
}

func (a *app) printEnvironment(w io.Writer, e api.Environment) {
	t := newTable(w, "NAME", e.Name)
	t.row("ID", e.ID.String())
	if e.Description != nil {
		t.row("DESCRIPTION", *e.Description)
	}
	t.row("HEALTH", a.paint(e.Health))
	t.row("STATUS", e.Status)
	t.row("DRIVER", e.Driver)
	t.row("ADDRESS", address(e))
	t.row("LAST TEST", a.lastTest(e.LastProbe))
	if e.LastProbe != nil && e.LastProbe.Summary != "" {
		t.row("", e.LastProbe.Summary)
	}
	for _, line := range configLines(e.Config) {
		t.row(line.key, line.value)
	}
	for _, p := range e.ConfigProblems {
		t.row("PROBLEM "+p.Field, p.Message)
	}
	for _, name := range sortedKeys(e.EnvVars) {
		value := "(secret)"
		if v := e.EnvVars[name].Value; v != nil {
			value = *v
		}
		t.row("ENV "+name, value)
	}
	if e.IsDefault {
		t.row("DEFAULT", "yes")
	}
	if e.Managed {
		t.row("MANAGED", "by the instance's configuration")
	}
	if b := e.Budget; b != nil {
		t.row("BUDGET", fmt.Sprintf("%s leases at once, %s minutes a day", limitText(b.MaxLeases), limitText(b.LeaseMinutesPerDay)))
		t.row("ACCOUNT", b.AccountLabel)
		t.row("BUDGET NOTE", b.Note)
	}
	t.row("REVISION", strconv.Itoa(e.Revision))
	t.row("UPDATED", time.Time(e.UpdatedAt).UTC().Format(time.RFC3339))
	t.flush()
}

type configLine struct{ key, value string }

// configLines are the settings that are set; a reference says only that
// something is stored.
func configLines(config json.RawMessage) []configLine {
	var values map[string]any
	if err := json.Unmarshal(config, &values); err != nil {
		return nil
	}
	var lines []configLine
	for _, key := range sortedKeys(values) {
		text := ""
		switch v := values[key].(type) {
		case nil:
			continue
		case string:
			text = v
		case map[string]any:
			text = "(stored)"
		default:
			b, err := json.Marshal(v)
			if err != nil {
				continue
			}
			text = string(b)
		}
		for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
			lines = append(lines, configLine{"CONFIG " + key, line})
		}
	}
	return lines
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
