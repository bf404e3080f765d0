package main

import (
	"context"
	"errors"

	"berth/handlers/cli"
)

// migrate brings the schema up to date and returns the version reached.
func migrate(ctx context.Context, o cli.ServeOptions) (version int64, err error) {
	b, err := openBase(ctx, o, newLog(o))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	return b.db.SchemaVersion(ctx)
}
