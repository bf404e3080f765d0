package store

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"berth/environment"
)

// leaseFields are the columns that a caller sets, in the order of leaseArgs. What
// goes by the database's clock is not among them: created_at, updated_at,
// heartbeat_at, used_from and used_until.
const leaseFields = `company_id, environment_id, run_id, owner_kind, status, lease_policy, driver, provider, provider_lease_id, ref,
	acquired_at, last_used_at, expires_at, released_at, failure_reason, cleanup_status, receipt, metadata, owner, environment_name,
	agent_id, workspace_id, adapter_type, ttl_sec, retain_sec, scope_key, object_key, resumes, acquisition, acquisition_reason,
	cleanup_attempts, cleanup_next_at, cleanup_error, cleanup_outcome, cleanup_claim_until, dead_letter_at, provider_gone_at`

const leaseColumns = `id, company_id, environment_id, run_id, owner_kind, status, lease_policy, driver, provider, provider_lease_id,
	coalesce(ref, 'null') as ref, acquired_at, last_used_at, expires_at, released_at, failure_reason, cleanup_status,
	coalesce(receipt, 'null') as receipt, coalesce(metadata, 'null') as metadata, owner, created_at, updated_at, environment_name,
	agent_id, workspace_id, adapter_type, heartbeat_at, ttl_sec, retain_sec, scope_key, object_key, resumes, acquisition, acquisition_reason,
	cleanup_attempts, cleanup_next_at, cleanup_error, cleanup_outcome, cleanup_claim_until, dead_letter_at, provider_gone_at`

// leaseArgs are a lease's id and the values of leaseFields, from $1 on.
func leaseArgs(l environment.Lease) []any {
	return []any{l.ID,
		l.CompanyID, l.EnvironmentID, l.RunID, l.OwnerKind, string(l.Status), string(l.Policy), l.Driver, l.Provider, cleanPtr(l.ProviderID), document{l.Ref},
		orNow(l.AcquiredAt), orNow(l.LastUsedAt), l.ExpiresAt, l.ReleasedAt, cleanPtr(l.FailureReason), l.CleanupStatus, document{l.Receipt},
		document{l.Metadata}, l.Owner, clean(l.EnvironmentName),
		l.AgentID, l.WorkspaceID, cleanPtr(l.AdapterType), l.TTLSec, l.RetainSec, cleanPtr(l.ScopeKey), cleanPtr(l.ObjectKey), l.Resumes,
		l.Acquisition, cleanPtr(l.AcquisitionReason),
		l.CleanupAttempts, l.CleanupNextAt, cleanPtr(l.CleanupError), string(l.CleanupOutcome), l.CleanupClaimUntil, l.DeadLetterAt, l.ProviderGoneAt,
	}
}

// leaseValues are expressions for leaseFields out of arguments, of which at names
// the place, with what goes by the database's clock. Until is since when the lease
// is not in use any more, as an expression.
func leaseValues(until string, at func(name string) string) []string {
	names := fieldNames(leaseFields)
	values := make([]string, len(names))
	for i, name := range names {
		switch name {
		case "status":
			values[i] = at(name) + "::text"
		case "acquired_at", "last_used_at":
			values[i] = "coalesce(" + at(name) + "::timestamptz, now())"
		case "ttl_sec", "retain_sec":
			values[i] = at(name) + "::integer"
		case "expires_at":
			values[i] = "case when " + at("status") + "::text in ('acquiring', 'active') then now() + " + at("ttl_sec") + "::integer * interval '1 second'" +
				" when " + at("status") + "::text = 'retained' then " + until + " + " + at("retain_sec") + "::integer * interval '1 second'" +
				" else " + at(name) + "::timestamptz end"
		default:
			values[i] = at(name)
		}
	}
	return values
}

// inLeaseArgs is the place of a field in leaseArgs.
func inLeaseArgs(name string) string {
	return "$" + strconv.Itoa(slices.Index(fieldNames(leaseFields), name)+2)
}

func fieldNames(columns string) []string {
	names := strings.Split(columns, ",")
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
	}
	return names
}

// inUse is a condition: a lease of that status has a holder.
func inUse(status string) string { return status + ` in ('acquiring', 'active', 'releasing')` }

// statusArg is leaseArgs' status.
const statusArg = "$6::text"

// insertLease is the start of a statement that inserts a lease out of leaseArgs
// and two more, $39 and $40: when it was created and changed.
var insertLease = `insert into environment_leases (id, ` + leaseFields + `, created_at, updated_at, used_until)
	select $1::uuid, ` + strings.Join(leaseValues("now()", inLeaseArgs), ", ") + `, coalesce($39::timestamptz, now()), coalesce($40::timestamptz, now()),
		case when not (` + inUse(statusArg) + `) then now() end`

// createLease is insertLease where no budget is to be kept, lazily when $41 says so.
var createLease = insertLease + `
	where not exists (select 1 from environments where id = $3 and budget is not null)
	on conflict (id) do nothing returning ` + answerColumns + `, ` + lazily("$41") + ` as lazy`

const readLease = `select ` + leaseColumns + `, xmin::text as version from environment_leases where id = $1`

// leaseInUTC is a lease as it is handed out.
func leaseInUTC(l environment.Lease) environment.Lease {
	for _, at := range []*time.Time{&l.AcquiredAt, &l.LastUsedAt, &l.CreatedAt, &l.UpdatedAt, &l.HeartbeatAt} {
		*at = at.UTC()
	}
	for _, at := range []**time.Time{&l.ExpiresAt, &l.ReleasedAt, &l.CleanupNextAt, &l.CleanupClaimUntil, &l.DeadLetterAt, &l.ProviderGoneAt} {
		*at = utc(*at)
	}
	return l
}

// leasesInUTC are leases as they are handed out; never nil.
func leasesInUTC(leases []environment.Lease) []environment.Lease {
	all := make([]environment.Lease, len(leases))
	for i, l := range leases {
		all[i] = leaseInUTC(l)
	}
	return all
}
