package handlers

import (
	"berth/environment"
	"berth/handlers/api"
)

// leaseOperations are those of leases.
func leaseOperations() []operation {
	act := func(verb, id, summary string) operation {
		return operation{
			method: "POST", path: "/api/environment-leases/:id/" + verb, id: id, who: whoOperator,
			summary: summary, body: typed[struct{}](), optionalBody: true,
			answers: []reply{ok[api.Lease]()}, fails: []int{409, 422},
		}
	}
	return []operation{
		{
			method: "GET", path: "/api/environments/:id/leases", id: "listLeases", who: whoOwnLeases,
			summary: "Leases, newest use first", query: leaseWords(), answers: []reply{listOf[api.Lease]()},
		},
		{
			method: "GET", path: "/api/environment-leases", id: "listAllLeases", who: whoOwnLeases,
			summary: "Leases of the instance, of deleted environments too, newest use first",
			query:   append(leaseWords(), idParameter("environmentId", "only those of this environment")),
			answers: []reply{listOf[api.Lease]()}, fails: []int{404},
		},
		{
			method: "GET", path: "/api/environment-leases/:id", id: "getLease", who: whoOwnLeases,
			summary: "One lease", answers: []reply{ok[api.Lease]()},
		},
		act("release", "releaseLease", "Give up a lease and clean up behind it"),
		act("destroy", "destroyLease", "End what a lease holds, kept or not"),
		act("retry-cleanup", "retryCleanup", "Try the clean-up of a lease at once"),
	}
}

func leaseWords() []parameter {
	return windowed(word("status", "only those of this status", environment.LeaseStatuses()...),
		idParameter("companyId", "only those of this company"),
		text("ownerKind", "only those for this: run, probe, setup_session, operator, task, or another word"),
		yesOrNo("held", "1: only those that hold something, or may"),
		yesOrNo("dead", "1: only those whose clean-up waits for an operator"))
}
