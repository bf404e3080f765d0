package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/jmoiron/sqlx"
)

// Cookies keeps what browsers' cookies stand for, in the shape that scs asks of
// a store (scs.CtxStore). Its tokens are hashes already (HashTokenInStore), so
// that whoever reads the database has no session.
type Cookies struct{ DB *DB }

// FindCtx returns the data of a cookie; false when it is unknown or expired, by
// the database's clock.
func (c Cookies) FindCtx(ctx context.Context, token string) ([]byte, bool, error) {
	var data []byte
	err := c.DB.get(ctx, "read a cookie's session", &data,
		`select data from cookie_sessions where token = $1 and expiry > now()`, token)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, false, nil
	}
	return data, err == nil, err
}

// CommitCtx stores the data of a cookie until expiry.
func (c Cookies) CommitCtx(ctx context.Context, token string, data []byte, expiry time.Time) error {
	return c.DB.tx(ctx, "keep a cookie's session", func(tx *sqlx.Tx) error {
		_, err := exec(ctx, tx, `
			insert into cookie_sessions (token, data, expiry) values ($1, $2, $3)
			on conflict (token) do update set data = excluded.data, expiry = excluded.expiry`, token, data, expiry)
		return err
	})
}

// DeleteCtx forgets a cookie; one that is unknown is not an error.
func (c Cookies) DeleteCtx(ctx context.Context, token string) error {
	return c.DB.tx(ctx, "forget a cookie's session", func(tx *sqlx.Tx) error {
		_, err := exec(ctx, tx, `delete from cookie_sessions where token = $1`, token)
		return err
	})
}

// Find is FindCtx for a caller without a context, which scs's interface names.
func (c Cookies) Find(token string) ([]byte, bool, error) {
	return c.FindCtx(context.Background(), token)
}

// Commit is CommitCtx likewise.
func (c Cookies) Commit(token string, data []byte, expiry time.Time) error {
	return c.CommitCtx(context.Background(), token, data, expiry)
}

// Delete is DeleteCtx likewise.
func (c Cookies) Delete(token string) error { return c.DeleteCtx(context.Background(), token) }
