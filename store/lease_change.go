package store

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"berth/environment"
)

// answerColumns are what a statement that stores a lease answers: what the row has
// by the database's clock or in its spelling, and what tells this version of it from
// the next. All else is as it was sent.
const answerColumns = `acquired_at, last_used_at, expires_at, heartbeat_at, created_at, updated_at,
	coalesce(ref, 'null') as ref, coalesce(receipt, 'null') as receipt, coalesce(metadata, 'null') as metadata, xmin::text as version`

type leaseAnswer struct {
	AcquiredAt  time.Time       `db:"acquired_at"`
	LastUsedAt  time.Time       `db:"last_used_at"`
	ExpiresAt   *time.Time      `db:"expires_at"`
	HeartbeatAt time.Time       `db:"heartbeat_at"`
	CreatedAt   time.Time       `db:"created_at"`
	UpdatedAt   time.Time       `db:"updated_at"`
	Ref         json.RawMessage `db:"ref"`
	Receipt     json.RawMessage `db:"receipt"`
	Metadata    json.RawMessage `db:"metadata"`
	Version     string          `db:"version"`
	Lazy        *string         `db:"lazy"`
}

// of is the lease that was sent as its row has it now.
func (a leaseAnswer) of(sent environment.Lease) versioned {
	l := sent
	l.AcquiredAt, l.LastUsedAt, l.ExpiresAt, l.HeartbeatAt = a.AcquiredAt, a.LastUsedAt, a.ExpiresAt, a.HeartbeatAt
	l.CreatedAt, l.UpdatedAt, l.Ref, l.Receipt, l.Metadata = a.CreatedAt, a.UpdatedAt, a.Ref, a.Receipt, a.Metadata
	return versioned{Lease: leaseInUTC(l), Version: a.Version}
}

// storable is a lease as its row can hold it: clean text, and microseconds.
func storable(l environment.Lease) environment.Lease {
	for _, text := range []**string{&l.ProviderID, &l.FailureReason, &l.AdapterType, &l.ScopeKey, &l.ObjectKey, &l.AcquisitionReason, &l.CleanupError} {
		*text = cleanPtr(*text)
	}
	l.EnvironmentName = clean(l.EnvironmentName)
	for _, at := range []*time.Time{&l.AcquiredAt, &l.LastUsedAt, &l.CreatedAt, &l.UpdatedAt} {
		*at = at.Round(time.Microsecond)
	}
	for _, at := range []**time.Time{&l.ExpiresAt, &l.ReleasedAt, &l.CleanupNextAt, &l.CleanupClaimUntil, &l.DeadLetterAt, &l.ProviderGoneAt} {
		if *at != nil {
			*at = new((*at).Round(time.Microsecond))
		}
	}
	return l
}

// always are the fields that a change sends in any case, from $4 on: by these the
// database sets others.
var always = []string{"status", "ttl_sec", "retain_sec", "expires_at"}

// changeText is a statement that stores what l has other than before over the
// version $2 of its row, with its entry of the log, and answers; nothing when the
// row has changed since. Few fields change at a time, and in few combinations.
func changeText(before versioned, l environment.Lease, a *environment.Activity) (string, []any) {
	names := fieldNames(leaseFields)
	was, is := leaseArgs(before.Lease)[1:], leaseArgs(l)[1:]
	args := []any{l.ID, before.Version, goesLazily(l)}
	sent, set := map[string]string{}, []string{}
	send := func(i int) string {
		args = append(args, is[i])
		return "$" + strconv.Itoa(len(args))
	}
	for _, name := range always {
		sent[name] = send(slices.Index(names, name))
	}
	for i, name := range names {
		if _, have := sent[name]; !have && !reflect.DeepEqual(was[i], is[i]) {
			sent[name] = send(i)
		}
	}
	values := leaseValues("coalesce(used_until, now())", func(name string) string { return sent[name] })
	for i, name := range names {
		if _, have := sent[name]; have {
			set = append(set, name+" = "+values[i])
		}
	}
	status := sent["status"] + "::text"
	text := `update environment_leases set ` + strings.Join(set, ", ") + `, updated_at = now(),
		heartbeat_at = case when ` + status + ` in ('acquiring', 'active') then now() else heartbeat_at end,
		used_until = coalesce(used_until, case when not (` + inUse(status) + `) then now() end)
		where id = $1 and xmin = $2::xid returning ` + answerColumns + `, ` + lazily("$3") + ` as lazy`
	if a == nil || a.Action == "" {
		return text, args
	}
	n := len(args) + 1
	return `with changed as (` + text + `), logged as (` + insertActivity(n) + ` from changed) select * from changed`, append(args, activityArgs(*a)...)
}

// goesLazily reports whether a lease of that state may be written lazily.
func goesLazily(l environment.Lease) bool { return l.Borrowed() && l.Status == environment.LeaseActive }
