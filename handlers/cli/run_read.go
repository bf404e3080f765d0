package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"berth/environment"
	"berth/handlers/api"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
)

func (a *app) runListCommand() *cobra.Command {
	var env, status string
	var limit int
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List runs, newest first",
		Args:  exactly(),
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if limit < 1 || limit > 1000 {
			return &usageError{"--limit is a number from 1 to 1000"}
		}
		c, err := a.client()
		if err != nil {
			return err
		}
		company, err := a.companyID(cmd.Context(), c)
		if err != nil {
			return err
		}
		query := url.Values{"limit": {strconv.Itoa(limit)}}
		if status != "" {
			query.Set("status", status)
		}
		if env != "" {
			e, err := a.find(cmd.Context(), c, env)
			if err != nil {
				return err
			}
			query.Set("environmentId", e.ID.String())
		}
		all, err := list[api.Run](cmd.Context(), c, "/companies/"+company.String()+"/runs", query)
		if err != nil {
			return err
		}
		return a.show(all, func(w io.Writer) { a.printRuns(w, all) })
	}
	cmd.Flags().StringVar(&env, "env", "", "only this environment")
	cmd.Flags().StringVar(&status, "status", "", "only this status")
	cmd.Flags().IntVar(&limit, "limit", 20, "at most this many")
	return cmd
}

func (a *app) printRuns(w io.Writer, all []api.Run) {
	if len(all) == 0 {
		writef(w, "No runs.\n")
		return
	}
	t := newTable(w, "ID", "STATUS", "EXIT", "ENVIRONMENT", "STARTED", "COMMAND")
	for _, r := range all {
		t.row(r.ID.String(), a.paint(r.Status), exitText(r), r.Environment.Name, a.ago(time.Time(r.CreatedAt)), commandText(r))
	}
	t.flush()
}

func exitText(r api.Run) string {
	if r.ExitCode == nil {
		return ""
	}
	return strconv.Itoa(*r.ExitCode)
}

// commandText is a run's title, or its command as one line.
func commandText(r api.Run) string {
	if r.Title != nil && *r.Title != "" {
		return *r.Title
	}
	line := strings.Join(r.Command, " ")
	if runes := []rune(line); len(runes) > 60 {
		return string(runes[:59]) + "…"
	}
	return line
}

// oneRun makes a command that reads or changes one run.
func (a *app) oneRun(use, short string, do func(context.Context, *client, uuid.UUID) error) *cobra.Command {
	return &cobra.Command{
		Use:   use + " RUN",
		Short: short,
		Args:  exactly("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := environment.ParseID("run", args[0])
			if err != nil {
				return err
			}
			c, err := a.client()
			if err != nil {
				return err
			}
			return do(cmd.Context(), c, id)
		},
	}
}

func (a *app) runGetCommand() *cobra.Command {
	return a.oneRun("get", "Show one run: where it ran, how it ended", func(ctx context.Context, c *client, id uuid.UUID) error {
		var r api.Run
		if err := c.call(ctx, request{method: http.MethodGet, path: "/runs/" + id.String(), into: &r}); err != nil {
			return err
		}
		return a.show(r, func(w io.Writer) { a.printRun(w, r) })
	})
}

func (a *app) printRun(w io.Writer, r api.Run) {
	t := newTable(w, "ID", r.ID.String())
	t.row("STATUS", a.paint(r.Status))
	if r.ExitCode != nil {
		t.row("EXIT CODE", exitText(r))
	}
	if r.Signal != nil {
		t.row("SIGNAL", *r.Signal)
	}
	if r.Failure != nil {
		t.row("FAILURE", r.Failure.Code+": "+r.Failure.Message)
	}
	t.row("COMMAND", strings.Join(r.Command, " "))
	t.row("ENVIRONMENT", r.Environment.Name)
	t.row("TARGET", r.Environment.Target)
	if r.Native {
		t.row("NATIVE", "yes: from the qualified image")
	}
	if r.Host != nil {
		t.row("HOST", r.Host.Name)
		t.row("BOOT ID", r.Host.BootID)
	}
	if r.WorkingDir != nil {
		t.row("FOLDER", *r.WorkingDir)
	}
	if r.Lease != nil {
		t.row("LEASE", r.Lease.ID.String()+" "+r.Lease.Status)
	}
	for _, p := range r.Phases {
		t.row("PHASE "+p.Name, millis(p.DurationMs))
	}
	if r.Termination != "" {
		t.row("TERMINATION", r.Termination)
	}
	t.flush()
}

func (a *app) runCancelCommand() *cobra.Command {
	return a.oneRun("cancel", "Ask for the end of a run", func(ctx context.Context, c *client, id uuid.UUID) error {
		var r api.Run
		if err := c.cancelRun(ctx, id, &r); err != nil {
			return err
		}
		return a.show(r, func(w io.Writer) { writef(w, "Run %s is %s.\n", r.ID, r.Status) })
	})
}

func (a *app) runLogCommand() *cobra.Command {
	var follow bool
	cmd := a.oneRun("log", "Print a run's output, each stream on its own", func(ctx context.Context, c *client, id uuid.UUID) error {
		f := &runFollower{a: a, c: c, id: id, quiet: true, out: a.env.Out, err: a.env.Err, placed: true}
		if a.flags.json {
			f.capture()
		}
		read := f.catchUp
		if follow {
			read = f.watch
		}
		r, err := read(ctx)
		if err != nil || !a.flags.json {
			return err
		}
		return a.printJSON(map[string]any{"stdout": f.stdout.String(), "stderr": f.stderr.String(), "status": r.Status, "logCut": r.LogCut})
	})
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on until the run ends")
	return cmd
}

func (a *app) runFilesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "files RUN [PATH]",
		Short: "List the workspace of a run, or print one of its files",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 {
				return nil
			}
			return exactly("RUN")(cmd, args)
		},
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		id, err := environment.ParseID("run", args[0])
		if err != nil {
			return err
		}
		c, err := a.client()
		if err != nil {
			return err
		}
		path := "/runs/" + id.String() + "/workspace?path="
		if len(args) == 2 {
			path += url.QueryEscape(args[1])
		}
		var entry api.Workspace
		if err := c.call(cmd.Context(), request{method: http.MethodGet, path: path, into: &entry}); err != nil {
			return err
		}
		if entry.Type == "dir" || a.flags.json {
			return a.show(entry, func(w io.Writer) { printFolder(w, entry) })
		}
		return a.copyFile(cmd.Context(), c, path+"&raw=1")
	}
	return cmd
}

func printFolder(w io.Writer, folder api.Workspace) {
	t := newTable(w, "TYPE", "SIZE", "MODIFIED", "NAME")
	for _, e := range folder.Entries {
		t.row(e.Type, strconv.FormatInt(e.Size, 10), time.Time(e.ModifiedAt).UTC().Format(time.RFC3339), e.Name)
	}
	t.flush()
	if folder.Truncated {
		writef(w, "There are more entries than these.\n")
	}
}

// copyFile prints a file's bytes as they are.
func (a *app) copyFile(ctx context.Context, c *client, path string) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	resp, err := c.send(ctx, request{method: http.MethodGet, path: path}, "application/octet-stream")
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	n, err := io.Copy(a.env.Out, resp.Body)
	if err != nil {
		return fmt.Errorf("copy the file: %w", err)
	}
	if size := resp.Header.Get("X-Berth-Size"); size != "" && size != strconv.FormatInt(n, 10) {
		a.say("berth: only the first %d of %s bytes were read", n, size)
	}
	return nil
}
