package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"berth/environment"
	"berth/handlers/api"

	"github.com/spf13/cobra"
)

func (a *app) envScanCommand() *cobra.Command {
	var host, jump string
	var port int
	cmd := &cobra.Command{
		Use:               "scan-host-key [ENVIRONMENT] [--host HOST --port PORT --proxy-jump HOPS]",
		Short:             "Show the host keys that a server presents; trusts none",
		ValidArgsFunction: a.completeEnvironments,
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if (len(args) == 1) == (host != "") || len(args) > 1 {
			return &usageError{"name an environment, or --host"}
		}
		c, err := a.client()
		if err != nil {
			return err
		}
		body := map[string]any{"host": host, "port": port}
		if jump != "" {
			body["proxyJump"] = jump
		}
		if len(args) == 1 {
			if body, err = a.scanBody(cmd, c, args[0]); err != nil {
				return err
			}
		}
		var keys []environment.HostKey
		if err := c.call(cmd.Context(), request{method: http.MethodPost, path: "/environments/scan-host-key", body: body, into: &keys}); err != nil {
			return err
		}
		return a.show(keys, func(w io.Writer) { printKeys(w, keys) })
	}
	cmd.Flags().StringVar(&host, "host", "", "host name or address")
	cmd.Flags().IntVar(&port, "port", 22, "port")
	cmd.Flags().StringVar(&jump, "proxy-jump", "", "jump hosts, as ssh's ProxyJump")
	return cmd
}

// scanBody asks for the keys of a saved environment's address.
func (a *app) scanBody(cmd *cobra.Command, c *client, name string) (map[string]any, error) {
	e, err := a.find(cmd.Context(), c, name)
	if err != nil {
		return nil, err
	}
	var config environment.SSHConfig
	if err := json.Unmarshal(e.Config, &config); err != nil || e.Driver != environment.DriverSSH {
		return nil, environment.NewError(environment.KindInvalid, "unsupported", fmt.Sprintf("%s has no host key: its driver is %s.", e.Name, e.Driver))
	}
	body := map[string]any{"host": config.Host, "port": config.Port}
	if config.ProxyJump != nil {
		body["proxyJump"], body["environmentId"] = *config.ProxyJump, e.ID
	}
	return body, nil
}

func printKeys(w io.Writer, keys []environment.HostKey) {
	t := newTable(w, "TYPE", "FINGERPRINT")
	for _, k := range keys {
		t.row(k.Type, k.Fingerprint)
	}
	t.flush()
}

func (a *app) envTrustCommand() *cobra.Command {
	var replace bool
	cmd := &cobra.Command{
		Use:   "trust-host-key ENVIRONMENT FINGERPRINT [--replace]",
		Short: "Trust the key with this fingerprint, if the host presents it",
		Long: `Scans the host again and trusts the key with this SHA256: fingerprint. Compare
it with the one on the host's console first. --replace is needed where another
key is trusted already.`,
		Args:              exactly("ENVIRONMENT", "FINGERPRINT"),
		ValidArgsFunction: a.completeEnvironments,
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := a.client()
		if err != nil {
			return err
		}
		e, err := a.find(cmd.Context(), c, args[0])
		if err != nil {
			return err
		}
		body := map[string]any{"fingerprint": args[1]}
		if replace {
			body["replace"] = true
		}
		var changed api.Environment
		path := "/environments/" + e.ID.String() + "/trust-host-key"
		if err := c.call(cmd.Context(), request{method: http.MethodPost, path: path, body: body, into: &changed}); err != nil {
			return err
		}
		return a.show(changed, func(w io.Writer) {
			writef(w, "%s now trusts %s.\n", printable(changed.Name), args[1])
		})
	}
	cmd.Flags().BoolVar(&replace, "replace", false, "replace the key that is trusted now")
	return cmd
}
