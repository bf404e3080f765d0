package store

import (
	"context"
	"slices"
	"time"

	"berth/environment/identity"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// SignInFailed implements identity.Store.
func (db *DB) SignInFailed(ctx context.Context, keys []string) (time.Time, error) {
	var longest time.Duration
	err := db.tx(ctx, "count a failed sign-in", func(tx *sqlx.Tx) error {
		var counts []struct {
			Key      string `db:"key"`
			Failures int    `db:"failures"`
		}
		// In the keys' order, so that two at once do not hold what the other needs.
		err := tx.SelectContext(ctx, &counts, `
			insert into sign_in_failures as f (key, failures) select key, 1 from unnest($1::text[]) as key order by key
			on conflict (key) do update set last_at = now(),
				failures = case when f.last_at < now() - `+forgivenAfter+` then 1 else least(f.failures + 1, 1000) end,
				first_at = case when f.last_at < now() - `+forgivenAfter+` then now() else f.first_at end
			returning key, failures`, pq.Array(keysOf(keys)))
		if err != nil {
			return err
		}
		longest = 0
		for _, c := range counts {
			wait := identity.WaitAfter(c.Key, c.Failures)
			if wait == 0 {
				continue
			}
			_, err := exec(ctx, tx, `
				update sign_in_failures set wait_until = now() + $2::float8 * interval '1 second' where key = $1`, c.Key, wait.Seconds())
			if err != nil {
				return err
			}
			longest = max(longest, wait)
		}
		return nil
	})
	return fromNow(longest), err
}

// SignInWait implements identity.Store.
func (db *DB) SignInWait(ctx context.Context, keys []string) (time.Time, error) {
	var seconds float64
	err := db.get(ctx, "read how long a sign-in waits", &seconds, `
		select coalesce(extract(epoch from max(wait_until) - now()), 0)::float8 from sign_in_failures where key = any($1::text[])`,
		pq.Array(keysOf(keys)))
	return fromNow(time.Duration(seconds * float64(time.Second))), err
}

// SignedIn implements identity.Store.
func (db *DB) SignedIn(ctx context.Context, keys []string) error {
	return db.tx(ctx, "forget failed sign-ins", func(tx *sqlx.Tx) error {
		_, err := exec(ctx, tx, `delete from sign_in_failures where key = any($1::text[])`, pq.Array(keysOf(keys)))
		return err
	})
}

// fromNow is the end of a wait that the database's clock measured, by this
// machine's: the two may differ. It is zero when there is nothing to wait for.
func fromNow(wait time.Duration) time.Time {
	if wait <= 0 {
		return time.Time{}
	}
	return time.Now().Add(wait)
}

// keysOf are the keys, clean and each once.
func keysOf(keys []string) []string {
	all := make([]string, 0, len(keys))
	for _, k := range keys {
		all = append(all, clean(k))
	}
	slices.Sort(all)
	return slices.Compact(all)
}
