package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"berth/environment"
	"berth/handlers/api"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
)

func (a *app) envProbeCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "probe ENVIRONMENT",
		Aliases: []string{"test"},
		Short:   "Test an environment in its actual target; exit code 6 when it is not ready",
		Args:    exactly("ENVIRONMENT"),

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
			return a.probe(cmd.Context(), c, "/environments/"+e.ID.String()+"/probe", nil)
		},
	}
}

func (a *app) envProbeConfigCommand() *cobra.Command {
	in := &inputs{}
	var over string
	cmd := &cobra.Command{
		Use:   "probe-config (--host HOST --user USER --workspace FOLDER [--key-file FILE] | --provider PROVIDER --image IMAGE [--set KEY=VALUE])",
		Short: "Test values that are not saved; exit code 6 when they do not work",
		Args:  exactly(),
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		body, err := in.body(a, cmd.Flags())
		if err != nil {
			return err
		}
		c, err := a.client()
		if err != nil {
			return err
		}
		var saved *api.Environment
		if over != "" {
			e, err := a.find(cmd.Context(), c, over)
			if err != nil {
				return err
			}
			saved, body["environmentId"] = &e, e.ID
		}
		if err := in.sandbox(cmd.Context(), a, c, body, saved); err != nil {
			return err
		}
		if _, ok := body["driver"]; !ok {
			body["driver"] = environment.DriverSSH
			if saved != nil {
				body["driver"] = saved.Driver
			}
		}
		company, err := a.anyCompany(cmd.Context(), c)
		if err != nil {
			return err
		}
		return a.probe(cmd.Context(), c, "/companies/"+company.String()+"/environments/probe-config", body)
	}
	in.register(cmd.Flags())
	cmd.Flags().StringVar(&over, "environment", "", "saved environment that the values would change: the rest, and its secrets, come from it")
	return cmd
}

// probe starts a test, shows its stages as they end, and its verdict. Ctrl-C
// cancels the test.
func (a *app) probe(ctx context.Context, c *client, path string, body any) error {
	ctx, stop := untilStopped(ctx)
	defer stop()
	query := url.Values{"wait": {"0"}}
	if a.flags.company != "" {
		company, err := a.companyID(ctx, c)
		if err != nil {
			return err
		}
		query.Set("companyId", company.String())
	}
	var p api.ProbeResult
	if err := c.call(ctx, request{method: http.MethodPost, path: path + "?" + query.Encode(), body: body, into: &p}); err != nil {
		return err
	}
	v := &probeView{a: a, live: !a.flags.json}
	v.begin(p)
	p, err := a.followProbe(ctx, c, p.Details.ProbeID, v)
	if ctx.Err() != nil {
		return a.cancelProbe(c, p.Details.ProbeID, ctx.Err())
	}
	if err != nil {
		return err
	}
	if err := a.showVerdict(p, v); err != nil {
		return err
	}
	if !p.OK {
		return &exitError{code: exitProbeFailed}
	}
	return nil
}

// followProbe returns the probe when it has ended. The stream only hastens what
// reading the row again would find.
func (a *app) followProbe(ctx context.Context, c *client, id uuid.UUID, v *probeView) (api.ProbeResult, error) {
	p := api.ProbeResult{Details: api.ProbeDetails{ProbeID: id}}
	path := "/probes/" + id.String()
	for attempt := 0; ; attempt++ {
		err := c.stream(ctx, path+"/events", "", func(m message) (bool, error) {
			if m.event == string(environment.EventStage) {
				var s api.Stage
				if err := json.Unmarshal([]byte(m.data), &s); err == nil {
					v.stage(s)
				}
			}
			return m.event == string(environment.EventEnd), nil
		})
		if ctx.Err() != nil {
			return p, ctx.Err()
		}
		if _, refused := errors.AsType[*apiError](err); refused {
			return p, err
		}
		if err := c.call(ctx, request{method: http.MethodGet, path: path, into: &p}); err != nil && attempt > 5 {
			return p, err
		}
		if environment.ProbeState(p.Details.State).Ended() && p.Details.State != "" {
			return p, nil
		}
		if err := pause(ctx, time.Second); err != nil {
			return p, err
		}
	}
}

// pause waits, or returns ctx's error when it ends first.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

func (a *app) cancelProbe(c *client, id uuid.UUID, why error) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := c.call(ctx, request{method: http.MethodPost, path: "/probes/" + id.String() + "/cancel"}); err != nil {
		return err
	}
	return &exitError{code: exitFailed, cause: errors.Join(errors.New("the test was cancelled"), why)}
}

// verdict is a probe's answer with --json. A failed one carries the keys of an
// error as well, so that a script need not tell the two apart.
type verdict struct {
	api.ProbeResult
	Error       string `json:"error,omitempty"`
	Code        string `json:"code,omitempty"`
	Remediation string `json:"remediation,omitempty"`
}

func (a *app) showVerdict(p api.ProbeResult, v *probeView) error {
	out := verdict{ProbeResult: p}
	if !p.OK {
		out.Error, out.Code = p.Summary, p.Details.Code
		if out.Code == "" {
			out.Code = p.Details.State
		}
		out.Remediation = environment.Remedy(out.Code)
	}
	return a.show(out, func(w io.Writer) { v.end(w, p) })
}

func (a *app) envProbesCommand() *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use:               "probes ENVIRONMENT",
		Short:             "Show the tests of an environment, newest first",
		Args:              exactly("ENVIRONMENT"),
		ValidArgsFunction: a.completeEnvironments,
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if limit < 1 || limit > 1000 {
			return &usageError{"--limit is a number from 1 to 1000"}
		}
		c, err := a.client()
		if err != nil {
			return err
		}
		e, err := a.find(cmd.Context(), c, args[0])
		if err != nil {
			return err
		}
		query := url.Values{"limit": {strconv.Itoa(limit)}}
		all, err := list[api.ProbeResult](cmd.Context(), c, "/environments/"+e.ID.String()+"/probes", query)
		if err != nil {
			return err
		}
		return a.show(all, func(w io.Writer) {
			t := newTable(w, "WHEN", "VERDICT", "TOOK", "SUMMARY")
			for _, p := range all {
				t.row(a.ago(time.Time(p.Details.CreatedAt)), a.paint(p.Details.Health), millis(p.Details.DurationMs), p.Summary)
			}
			t.flush()
		})
	}
	cmd.Flags().IntVar(&limit, "limit", 20, "at most this many")
	return cmd
}
