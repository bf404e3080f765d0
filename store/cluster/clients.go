package cluster

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"berth/environment"
)

// Clients are PostgreSQL's programs that write a database to a file and read it
// back: pg_dump and pg_restore of one version.
type Clients struct {
	bin   string
	major int
}

// String says which version they are, and where.
func (c Clients) String() string { return strconv.Itoa(c.major) + " in " + c.bin }

// FindClients returns the programs for a server of a major version, oldest first:
// older ones than the server cannot dump it, and a file that newer ones wrote may
// not be readable where it is needed. KindUnavailable with code pg_dump_missing
// when there are none.
func FindClients(ctx context.Context, getenv func(string) string, server int) ([]Clients, error) {
	dirs := filepath.SplitList(getenv("PATH"))
	if named := getenv("BERTH_POSTGRES_BIN"); named != "" {
		dirs = slices.Insert(dirs, 0, named)
	}
	var found []Clients
	for _, dir := range append(dirs, candidates(getenv)...) {
		if major := clientVersion(ctx, dir); major >= server && major > 0 {
			found = append(found, Clients{bin: dir, major: major})
		}
	}
	if len(found) == 0 {
		need := strconv.Itoa(server)
		return nil, environment.Unavailable("pg_dump_missing", "PostgreSQL's pg_dump and pg_restore of version "+need+" or newer are not installed here.").
			Remedy("Install them (Debian, Ubuntu: apt install postgresql-client-" + need + "), or name their folder in BERTH_POSTGRES_BIN.")
	}
	slices.SortStableFunc(found, func(a, b Clients) int { return cmp.Compare(a.major, b.major) })
	return found, nil
}

// clientVersion is the major version of the clients in dir; 0 when there are none.
func clientVersion(ctx context.Context, dir string) int {
	if !filepath.IsAbs(dir) || !isProgram(filepath.Join(dir, "pg_restore")) {
		return 0
	}
	out, err := exec.CommandContext(ctx, filepath.Join(dir, "pg_dump"), "--version").Output()
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(out), ") ") // "pg_dump (PostgreSQL) 15.14"
	return number(after)
}

// Dump writes a database to out, as it is at one moment, while others go on
// writing. Of the tables in empty only the shape is written.
func (c Clients) Dump(ctx context.Context, url string, out *os.File, empty ...string) error {
	t, err := clientTarget(url)
	if err != nil {
		return err
	}
	args := []string{"--format=custom", "--no-owner", "--no-privileges", "--no-password", "--dbname=" + t.name}
	for _, table := range empty {
		args = append(args, "--exclude-table-data="+table)
	}
	cmd := c.command(ctx, t, "pg_dump", args...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = out, &said
	if err := cmd.Run(); err != nil {
		return describe("pg_dump", said.Bytes(), err)
	}
	return nil
}

// Load reads a file that Dump wrote into an empty database: all of it or nothing.
func (c Clients) Load(ctx context.Context, url, file string) error {
	t, err := clientTarget(url)
	if err != nil {
		return err
	}
	cmd := c.command(ctx, t, "pg_restore", "--exit-on-error", "--single-transaction", "--no-owner", "--no-privileges", "--no-password",
		"--dbname="+t.name, file)
	if out, err := cmd.CombinedOutput(); err != nil {
		return describe("pg_restore", out, err)
	}
	return nil
}

// command is one of the programs with nothing of this process's environment but
// where the database is.
func (c Clients) command(ctx context.Context, t target, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(c.bin, name), args...)
	cmd.Env = append(programEnv(), t.env...)
	return cmd
}

// Rows reads rows of some tables out of a file that Dump wrote, without any
// database: by table, each row by column, with "" for null. It is meant for tables
// of few and plain values. KindInvalid with code backup_unreadable for another
// sort of file.
func (c Clients) Rows(ctx context.Context, file string, tables ...string) (map[string][]map[string]string, error) {
	args := []string{"--data-only", "--file=-"}
	for _, table := range tables {
		args = append(args, "--table="+table)
	}
	cmd := c.command(ctx, target{}, "pg_restore", append(args, file)...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		if _, exited := errors.AsType[*exec.ExitError](err); !exited || ctx.Err() != nil {
			return nil, fmt.Errorf("read the backup: %w", err)
		}
		return nil, environment.Invalid("backup_unreadable", "The file "+file+" is not a backup, or not a whole one.").
			Remedy("Give a file that \"berth backup\" wrote; one of a newer PostgreSQL needs its pg_restore.").
			Because(describe("pg_restore", said.Bytes(), err))
	}
	return copiedRows(out.String()), nil
}

// copiedRows reads what follows each "COPY public.name (columns) FROM stdin;".
func copiedRows(script string) map[string][]map[string]string {
	rows := map[string][]map[string]string{}
	var table string
	var columns []string
	for line := range strings.Lines(script) {
		line = strings.TrimSuffix(line, "\n")
		if head, is := strings.CutPrefix(line, "COPY "); is && table == "" {
			name, rest, _ := strings.Cut(head, " (")
			list, _, _ := strings.Cut(rest, ")")
			_, table, _ = strings.Cut(name, ".")
			columns = strings.Split(list, ", ")
			continue
		}
		switch {
		case table == "":
		case line == `\.`:
			table = ""
		default:
			row := map[string]string{}
			for i, value := range strings.Split(line, "\t") {
				if i < len(columns) && value != `\N` {
					row[columns[i]] = value
				}
			}
			rows[table] = append(rows[table], row)
		}
	}
	return rows
}
