package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	embeddedpostgres "github.com/fergusstrange/embedded-postgres"
)

const fetchedVersion = string(embeddedpostgres.V16)

// fetched is where a fetched PostgreSQL's programs are.
func (p place) fetched() string { return filepath.Join(p.root, "postgresql", "bin") }

// fetch downloads a PostgreSQL into the data folder. The library can only fetch
// and run in one; it is given a locale that does not exist, so that it ends
// after it has fetched: running is this package's part.
// BERTH_POSTGRES_REPOSITORY names another Maven repository than the central one.
func (p place) fetch(ctx context.Context, getenv func(string) string) error {
	scratch, err := os.MkdirTemp(p.root, "fetch-")
	if err != nil {
		return fmt.Errorf("make a folder to fetch into: %w", err)
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	config := embeddedpostgres.DefaultConfig().Version(embeddedpostgres.V16).Port(0).Logger(io.Discard).
		CachePath(filepath.Join(scratch, "cache")).RuntimePath(filepath.Join(scratch, "run")).DataPath(filepath.Join(scratch, "data")).
		BinariesPath(filepath.Join(scratch, "postgresql")).Locale("none.such")
	if repository := getenv("BERTH_POSTGRES_REPOSITORY"); repository != "" {
		config = config.BinaryRepositoryURL(repository)
	}
	defer removeNewLogs(libraryLogs())
	fetched := make(chan error, 1)
	go func() { fetched <- embeddedpostgres.NewDatabase(config).Start() }()
	select {
	case err = <-fetched:
	case <-ctx.Done():
		// The library cannot be stopped; what it still writes is scratch.
		return ctx.Err()
	}
	got := filepath.Join(scratch, "postgresql")
	if version(ctx, filepath.Join(got, "bin")) == "" {
		return errors.Join(errors.New("what was fetched does not run here"), err)
	}
	if err := os.Chmod(got, 0o755); err != nil {
		return fmt.Errorf("open the fetched programs to their user: %w", err)
	}
	if err := os.Rename(got, filepath.Dir(p.fetched())); err != nil {
		return fmt.Errorf("put the fetched PostgreSQL in place: %w", err)
	}
	return nil
}

// libraryLogs are the files that the library writes beside its logger and
// leaves in the temporary folder.
func libraryLogs() []string {
	found, err := filepath.Glob(filepath.Join(os.TempDir(), "embedded_postgres_log*"))
	if err != nil {
		return nil
	}
	return found
}

func removeNewLogs(before []string) {
	for _, path := range libraryLogs() {
		if !slices.Contains(before, path) {
			_ = os.Remove(path)
		}
	}
}
