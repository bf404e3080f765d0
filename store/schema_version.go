package store

import "context"

// SchemaVersion is the number of the newest migration that was applied.
func (db *DB) SchemaVersion(ctx context.Context) (int64, error) {
	var version int64
	err := db.get(ctx, "read the schema's version", &version,
		`select coalesce(max(version_id), 0) from goose_db_version where is_applied`)
	return version, err
}
