// Package store keeps everything in PostgreSQL. Each exported method is one
// transaction; errors are environment.Error where a person may see them, and
// KindUnavailable with code database_unavailable while the database is away.
package store

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"berth/environment/catalogue"
	"berth/environment/fleet"
	"berth/environment/leasing"
	"berth/environment/probing"
	"berth/environment/running"
	"berth/environment/secrets"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
)

var (
	_ catalogue.Store = (*DB)(nil)
	_ probing.Store   = (*DB)(nil)
	_ leasing.Store   = (*DB)(nil)
	_ running.Store   = (*DB)(nil)
	_ secrets.Store   = (*DB)(nil)
	_ fleet.Store     = (*DB)(nil)
)

// Limits on connections and on one statement. A request waits for none of them
// longer than patience.
const (
	maxConnections = 24
	patience       = 10 * time.Second
)

// DB is the database. It connects again by itself when the database was away.
type DB struct {
	pool *sqlx.DB
	dsn  string
	log  *slog.Logger

	// budgets are environments in which leases are being created within a budget.
	budgets turns

	// written are leases as this server wrote them last.
	written leaseRows

	mu sync.Mutex
	// prepared are the statements that are done most often, by their text. Each
	// connection plans them once.
	prepared map[string]*sqlx.Stmt
}

// Open returns the database at a postgres:// URL. It connects once, so that a
// wrong URL is refused here; the error never shows the password.
func Open(ctx context.Context, url string, log *slog.Logger) (*DB, error) {
	dsn, err := dataSource(url)
	if err != nil {
		return nil, err
	}
	pool, err := connect(dsn, patience)
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(maxConnections)
	pool.SetMaxIdleConns(maxConnections)
	pool.SetConnMaxIdleTime(5 * time.Minute)
	db := &DB{pool: sqlx.NewDb(pool, "postgres"), dsn: dsn, log: log, prepared: map[string]*sqlx.Stmt{}, budgets: turns{lines: map[uuid.UUID]*line{}}}
	if err := db.Ping(ctx); err != nil {
		return nil, fmt.Errorf("open the database: %w", closing(err, db))
	}
	return db, nil
}

// closing closes what an error made useless and returns the error.
func closing(err error, db *DB) error {
	if cerr := db.Close(); cerr != nil {
		db.log.Warn("close the database", "err", cerr)
	}
	return err
}

// Close ends every connection.
func (db *DB) Close() error { return db.pool.Close() }

// Ping reports whether the database answers.
func (db *DB) Ping(ctx context.Context) error {
	var one int
	return db.get(ctx, "ping", &one, `select 1`)
}
