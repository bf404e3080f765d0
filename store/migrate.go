package store

import (
	"context"
	"database/sql"
	"fmt"

	"berth/environment"
	"berth/migrations"

	"github.com/pressly/goose/v3"
)

// migrationLock is the advisory lock under which one server migrates at a time.
const migrationLock = 0x6265727468 // "berth"

// Migrate brings the schema up to date. Servers that do so at once wait for each
// other.
func (db *DB) Migrate(ctx context.Context) error {
	pool, err := connect(db.dsn, 0)
	if err != nil {
		return err
	}
	defer func() { _ = pool.Close() }()
	return translate(ctx, "migrate the database", db.migrate(ctx, pool))
}

func (db *DB) migrate(ctx context.Context, pool *sql.DB) error {
	lock, err := pool.Conn(ctx)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer func() { _ = lock.Close() }() // which lets the lock go, too
	if _, err := lock.ExecContext(ctx, `select pg_advisory_lock($1)`, migrationLock); err != nil {
		return fmt.Errorf("wait for another server's migration: %w", err)
	}
	defer func() {
		_, _ = lock.ExecContext(context.WithoutCancel(ctx), `select pg_advisory_unlock($1)`, migrationLock)
	}()
	steps, err := goose.NewProvider(goose.DialectPostgres, pool, migrations.Files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return fmt.Errorf("read the steps: %w", err)
	}
	if err := notNewer(ctx, steps); err != nil {
		return err
	}
	done, err := steps.Up(ctx)
	if err != nil {
		return err
	}
	for _, step := range done {
		db.log.Info("migrated", "step", step.Source.Path, "took", step.Duration)
	}
	return nil
}

// notNewer refuses a schema that a newer Berth made: what this one knows of it may
// not be so any more.
func notNewer(ctx context.Context, steps *goose.Provider) error {
	version, err := steps.GetDBVersion(ctx)
	if err != nil {
		return fmt.Errorf("read the schema's version: %w", err)
	}
	latest, err := LatestSchema()
	if err != nil || version <= latest {
		return err
	}
	return environment.Conflict("schema_newer", fmt.Sprintf("The database's schema is %d; this Berth knows up to %d.", version, latest)).
		Remedy("Start the version of Berth that made it, or a newer one; to go back, restore the backup from before the upgrade.")
}
