package cli

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"berth/handlers/api"

	"github.com/spf13/cobra"
)

func (a *app) activityCommand() *cobra.Command {
	var action, actor, since, until string
	var limit int
	var csv bool
	cmd := &cobra.Command{
		Use:   "activity [--action ACTION] [--actor NAME] [--since TIME] [--csv]",
		Short: "Who did what: of the instance, or of a company with --company",
		Args:  exactly(),
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		query := url.Values{"limit": {strconv.Itoa(limit)}}
		for key, value := range map[string]string{"action": action, "actor": actor} {
			if value != "" {
				query.Set(key, value)
			}
		}
		for key, value := range map[string]string{"since": since, "until": until} {
			if value == "" {
				continue
			}
			at, err := moment(value, a.env.Now())
			if err != nil {
				return &usageError{fmt.Sprintf("--%s %q is not a time such as 2026-05-04T12:00:00Z, or 24h for as long ago", key, value)}
			}
			query.Set(key, at.UTC().Format(time.RFC3339))
		}
		path := "/activity"
		if a.flags.company != "" {
			var err error
			if path, err = a.inCompany(cmd.Context(), path); err != nil {
				return err
			}
		}
		if csv {
			return a.export(cmd, path, query)
		}
		c, err := a.client()
		if err != nil {
			return err
		}
		all, err := list[api.Activity](cmd.Context(), c, path, query)
		if err != nil {
			return err
		}
		return a.show(all, func(w io.Writer) { printActivity(w, all) })
	}
	f := cmd.Flags()
	f.StringVar(&action, "action", "", "only this action, or all that begin with it when it ends with a dot: environment.")
	f.StringVar(&actor, "actor", "", "only those whose actor's name has this in it")
	f.StringVar(&since, "since", "", "from this time on: RFC 3339, or a duration ago such as 24h")
	f.StringVar(&until, "until", "", "before this time")
	f.IntVar(&limit, "limit", 50, "at most so many, newest first")
	f.BoolVar(&csv, "csv", false, "everything that matches, as CSV")
	return cmd
}

// moment reads a time, or a duration before now.
func moment(text string, now time.Time) (time.Time, error) {
	if d, err := time.ParseDuration(text); err == nil {
		return now.Add(-d), nil
	}
	return time.Parse(time.RFC3339, text)
}

// export copies the server's CSV to standard output.
func (a *app) export(cmd *cobra.Command, path string, query url.Values) error {
	c, err := a.client()
	if err != nil {
		return err
	}
	query.Del("limit")
	query.Set("format", "csv")
	resp, err := c.send(cmd.Context(), request{method: http.MethodGet, path: path + "?" + query.Encode()}, "text/csv")
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if _, err := io.Copy(a.env.Out, resp.Body); err != nil {
		return fmt.Errorf("read the export: %w", err)
	}
	return nil
}

func printActivity(w io.Writer, all []api.Activity) {
	if len(all) == 0 {
		writef(w, "Nothing.\n")
		return
	}
	t := newTable(w, "WHEN", "WHO", "WHAT", "SUBJECT", "REQUEST")
	for _, e := range all {
		t.row(time.Time(e.CreatedAt).UTC().Format(time.RFC3339), e.ActorName, e.Action, e.EntityType+" "+e.EntityID, e.RequestID)
	}
	t.flush()
}
