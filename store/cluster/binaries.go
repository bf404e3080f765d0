package cluster

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"berth/environment"
)

// binaries returns the folder of the PostgreSQL programs: the one that
// BERTH_POSTGRES_BIN names, else the first of dirs that fits the data, else one
// that is fetched.
func (p place) binaries(ctx context.Context, getenv func(string) string, dirs []string, log *slog.Logger) (string, error) {
	major := dataVersion(p.data)
	if dir := getenv("BERTH_POSTGRES_BIN"); dir != "" {
		have := version(ctx, dir)
		switch {
		case have == "":
			return "", environment.Unavailable("postgres_missing", "BERTH_POSTGRES_BIN names "+dir+", where PostgreSQL's initdb and postgres are not, or do not run.")
		case major != "" && have != major:
			return "", wrongVersion(p.data, major)
		}
		return dir, nil
	}
	if dir, _ := p.first(ctx, append(dirs, p.fetched())); dir != "" {
		return dir, nil
	}
	if major != "" && !strings.HasPrefix(fetchedVersion, major+".") {
		return "", wrongVersion(p.data, major)
	}
	log.Info("no PostgreSQL found; fetching one", "to", p.fetched())
	if err := p.fetch(ctx, getenv); err != nil {
		return "", environment.Unavailable("postgres_missing", "PostgreSQL is not installed here, and none could be fetched.").
			Remedy("Install it (Debian, Ubuntu: apt install postgresql; Fedora: dnf install postgresql-server; macOS: brew install postgresql), or give a database with --database-url.").
			Because(err)
	}
	return p.fetched(), nil
}

// first is the first of dirs with programs that fit the data, and their major
// version; "" when none does.
func (p place) first(ctx context.Context, dirs []string) (dir, major string) {
	of := dataVersion(p.data)
	for _, dir := range dirs {
		if have := version(ctx, dir); have != "" && (of == "" || have == of) {
			return dir, have
		}
	}
	return "", ""
}

func wrongVersion(data, major string) error {
	return environment.Unavailable("postgres_version", "The data in "+data+" was made by PostgreSQL "+major+", which is not installed here.").
		Remedy("Install it (Debian, Ubuntu: apt install postgresql-" + major + "), or name its folder in BERTH_POSTGRES_BIN.")
}

// candidates are folders in which PostgreSQL may be, best first.
func candidates(getenv func(string) string) []string {
	var dirs []string
	for _, dir := range filepath.SplitList(getenv("PATH")) {
		// A wrapper of the distribution is no folder of programs: initdb is not
		// beside it.
		if filepath.IsAbs(dir) && isProgram(filepath.Join(dir, "postgres")) {
			dirs = append(dirs, dir)
		}
	}
	for _, pattern := range []string{"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/local/pgsql/bin", "/usr/libexec/postgresql*",
		"/opt/homebrew/opt/postgresql@*/bin", "/usr/local/opt/postgresql@*/bin", "/Applications/Postgres.app/Contents/Versions/*/bin"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			continue // the patterns are constants; a bad one is found by the tests
		}
		slices.SortFunc(found, func(a, b string) int { return cmp.Compare(number(b), number(a)) })
		dirs = append(dirs, found...)
	}
	return dirs
}

// number is the first number in a path: its major version.
func number(path string) int {
	digits := strings.FieldsFunc(path, func(r rune) bool { return r < '0' || r > '9' })
	if len(digits) == 0 {
		return 0
	}
	n, err := strconv.Atoi(digits[0])
	if err != nil {
		return 0
	}
	return n
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// version is the major version of the programs in dir; "" when initdb or
// postgres is missing or does not run.
func version(ctx context.Context, dir string) string {
	if !isProgram(filepath.Join(dir, "initdb")) || !isProgram(filepath.Join(dir, "postgres")) {
		return ""
	}
	out, err := exec.CommandContext(ctx, filepath.Join(dir, "postgres"), "--version").Output()
	if err != nil {
		return ""
	}
	// "postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)"
	_, after, _ := strings.Cut(string(out), ") ")
	major, _, _ := strings.Cut(strings.TrimSpace(after), ".")
	if n := number(major); n > 0 {
		return strconv.Itoa(n)
	}
	return ""
}

// dataVersion is the major version that made the data; "" when there is none.
func dataVersion(data string) string {
	text, err := os.ReadFile(filepath.Join(data, "PG_VERSION"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// describe is for errors of programs: the end of what they printed, in one line.
func describe(program string, out []byte, err error) error {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	lines = lines[max(0, len(lines)-20):]
	return fmt.Errorf("%s: %w: %s", program, err, strings.Join(lines, "; "))
}
