package store

import (
	"context"

	"github.com/jmoiron/sqlx"
)

// often returns a statement that is done so often that planning it each time would
// cost more than doing it. Its text names every column that it returns: a plan
// outlives a change of the schema by another server.
func (db *DB) often(ctx context.Context, text string) (*sqlx.Stmt, error) {
	db.mu.Lock()
	have := db.prepared[text]
	db.mu.Unlock()
	if have != nil {
		return have, nil
	}
	made, err := db.pool.PreparexContext(ctx, text)
	if err != nil {
		return nil, err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	if have := db.prepared[text]; have != nil {
		return have, made.Close()
	}
	db.prepared[text] = made
	return made, nil
}

// mostPrepared bounds what connections plan once.
const mostPrepared = 100

// selectOften reads the rows of a statement that is done often. Its text is one of
// few; should they ever become many, the rest is planned each time.
func (db *DB) selectOften(ctx context.Context, dest any, text string, args ...any) error {
	db.mu.Lock()
	full := len(db.prepared) >= mostPrepared && db.prepared[text] == nil
	db.mu.Unlock()
	if full {
		return db.pool.SelectContext(ctx, dest, text, args...)
	}
	statement, err := db.often(ctx, text)
	if err != nil {
		return err
	}
	return statement.SelectContext(ctx, dest, args...)
}
