package main

import (
	"context"
	"errors"
	"log/slog"

	"berth/handlers/cli"
	"berth/store"
	"berth/store/cluster"

	"github.com/google/uuid"
)

// base is the data folder and the database, migrated.
type base struct {
	dir     string
	node    uuid.UUID // of the data folder
	db      *store.DB
	lock    *cluster.Lock
	private *cluster.Cluster // nil with a database URL
}

// openBase locks the data folder, starts the private PostgreSQL unless there is
// a database URL, connects and migrates. When it fails nothing is left open.
func openBase(ctx context.Context, o cli.ServeOptions, log *slog.Logger) (_ *base, err error) {
	b := &base{}
	if b.dir, err = dataDir(o); err != nil {
		return nil, err
	}
	if b.lock, err = cluster.LockDataDir(b.dir); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.close())
		}
	}()
	if b.node, err = cluster.NodeID(b.dir); err != nil {
		return nil, err
	}
	url := o.DatabaseURL
	if url == "" {
		if b.private, err = cluster.Start(ctx, b.dir, log); err != nil {
			return nil, err
		}
		url = b.private.URL()
	}
	if b.db, err = store.Open(ctx, url, log); err != nil {
		return nil, err
	}
	return b, b.db.Migrate(ctx)
}

// close disconnects, stops the private PostgreSQL and unlocks the folder.
func (b *base) close() error {
	var errs []error
	if b.db != nil {
		errs = append(errs, b.db.Close())
	}
	if b.private != nil {
		ctx, cancel := context.WithTimeout(context.Background(), databaseTime)
		defer cancel()
		errs = append(errs, b.private.Stop(ctx))
	}
	return errors.Join(append(errs, b.lock.Close())...)
}
