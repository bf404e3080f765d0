package store

import (
	"context"
	"fmt"

	"berth/migrations"

	"github.com/pressly/goose/v3"
)

// SchemaVersion is the number of the newest migration that was applied.
func (db *DB) SchemaVersion(ctx context.Context) (int64, error) {
	var version int64
	err := db.get(ctx, "read the schema's version", &version,
		`select coalesce(max(version_id), 0) from goose_db_version where is_applied`)
	return version, err
}

// LatestSchema is the number of the newest migration that this program knows.
func LatestSchema() (int64, error) {
	files, err := migrations.Files.ReadDir(".")
	if err != nil {
		return 0, fmt.Errorf("list the migrations: %w", err)
	}
	var latest int64
	for _, f := range files {
		n, err := goose.NumericComponent(f.Name())
		if err != nil {
			return 0, fmt.Errorf("read a migration's number: %w", err)
		}
		latest = max(latest, n)
	}
	return latest, nil
}
