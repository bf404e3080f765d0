package example

import (
	"encoding/json"
	"time"

	"berth/environment"
)

// Lease is a lease of build-box in a state.
func Lease(status environment.LeaseStatus) environment.Lease {
	n := byte(0)
	for i, s := range environment.LeaseStatuses() {
		if s == status {
			n = byte(1 + i)
		}
	}
	env, at := ReadySSH(), Before(94*time.Second)
	l := environment.Lease{ID: id(0x06, n), CompanyID: Acme().ID, EnvironmentID: &env.ID, RunID: pointer(id(0x05, 4)), OwnerKind: "run",
		Status: status, Policy: "ephemeral", Driver: env.Driver, Provider: "ssh", Owner: Server(), Metadata: json.RawMessage("{}"),
		Ref: json.RawMessage("null"), Receipt: json.RawMessage("null"), AcquiredAt: at, LastUsedAt: at, CreatedAt: at, UpdatedAt: at}
	if status == environment.LeaseAcquiring {
		return l
	}
	l.ProviderID = pointer("ssh://deploy@build.example.net:2222/srv/work")
	l.Ref = raw(environment.Ref{Driver: env.Driver, Provider: "ssh", ProviderID: *l.ProviderID, Dir: "/srv/work", Host: *Host(), Config: env.Config})
	switch status {
	case environment.LeaseReleased, environment.LeaseExpired:
		l.ReleasedAt, l.CleanupStatus = pointer(at.Add(42*time.Second)), pointer("success")
		l.Receipt = raw(environment.Receipt{Outcome: "released", ProviderID: *l.ProviderID, At: *l.ReleasedAt, Details: map[string]any{"runFolder": "removed"}})
		if status == environment.LeaseExpired {
			l.FailureReason = pointer(environment.CodeTerminationUnproven)
		}
	case environment.LeaseFailed:
		l.ProviderID, l.Ref, l.FailureReason = nil, json.RawMessage("null"), pointer(environment.CodeConnectRefused)
		l.ReleasedAt = pointer(at.Add(time.Second))
	case environment.LeasePendingCleanup:
		l.CleanupStatus, l.FailureReason = pointer("pending"), pointer(environment.CodeConnectionLost)
	}
	return l
}

// Leases are one in each state, newest use first.
func Leases() []environment.Lease {
	all := make([]environment.Lease, 0, len(environment.LeaseStatuses()))
	for i, s := range environment.LeaseStatuses() {
		l := Lease(s)
		l.LastUsedAt = l.LastUsedAt.Add(-time.Duration(i) * time.Minute)
		all = append(all, l)
	}
	return all
}
