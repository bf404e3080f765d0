package cluster

import (
	"context"
	"path/filepath"
)

// Find returns the folder and the major version of the PostgreSQL that Start
// would use for a data folder; "" when it would fetch one or fail.
func Find(ctx context.Context, dataDir string, getenv func(string) string) (dir, major string) {
	p := place{root: dataDir, data: filepath.Join(dataDir, "postgres")}
	dirs := append(candidates(getenv), p.fetched())
	if named := getenv("BERTH_POSTGRES_BIN"); named != "" {
		dirs = []string{named}
	}
	return p.first(ctx, dirs)
}
