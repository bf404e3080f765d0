package store

import (
	"context"

	"github.com/jmoiron/sqlx"
)

// forgivenAfter is how long a failed sign-in counts.
const forgivenAfter = "interval '1 hour'"

// keptLink is how long an ended link stays, so that whoever follows it is told
// why it does not work, rather than that it never was.
const keptLink = "interval '30 days'"

// SweepExpired deletes what ended by itself and counts no more: cookies and
// sessions past their time, links that ended long ago, and failed sign-ins that
// are forgiven. It returns how many rows went. Any server may do it at any time.
func (db *DB) SweepExpired(ctx context.Context) (int64, error) {
	var swept int64
	err := db.tx(ctx, "sweep what expired", func(tx *sqlx.Tx) error {
		swept = 0
		for _, statement := range []string{
			`delete from cookie_sessions where expiry < now()`,
			`delete from person_sessions where expires_at < now()`,
			`delete from one_time_links where least(expires_at, used_at, revoked_at) < now() - ` + keptLink,
			`delete from sign_in_failures where last_at < now() - ` + forgivenAfter + ` and wait_until < now()`,
		} {
			n, err := exec(ctx, tx, statement)
			if err != nil {
				return err
			}
			swept += n
		}
		return nil
	})
	return swept, err
}
