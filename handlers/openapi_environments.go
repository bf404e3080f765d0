package handlers

import (
	"berth/environment"
	"berth/handlers/api"
)

// environmentOperations are those of environments and their host keys.
func environmentOperations() []operation {
	return append(environmentCatalogue(), environmentWork()...)
}

func environmentCatalogue() []operation {
	return []operation{
		{
			method: "GET", path: "/api/companies/:c/environments", id: "listEnvironments", who: whoReader,
			summary: "The environments of the instance", query: environmentFilter(), answers: []reply{listOf[api.Environment]()},
		},
		{
			method: "GET", path: "/api/environments", id: "listAllEnvironments", who: whoReader,
			summary: "The same, for who has no company to name", query: environmentFilter(), answers: []reply{listOf[api.Environment]()},
		},
		{
			method: "POST", path: "/api/companies/:c/environments", id: "createEnvironment", who: whoOperator,
			summary: "Save an environment", body: typed[environmentBody](),
			answers: []reply{made[api.Environment]("ETag", "Location")}, fails: []int{409, 422},
		},
		{
			method: "GET", path: "/api/companies/:c/environments/capabilities", id: "getCapabilities", who: whoReader,
			summary: "What the installed drivers can do; reaches nothing", answers: []reply{ok[api.Capabilities]()},
		},
		{
			method: "GET", path: "/api/environments/capabilities", id: "getAllCapabilities", who: whoReader,
			summary: "The same, for who has no company to name", answers: []reply{ok[api.Capabilities]()},
		},
		{
			method: "GET", path: "/api/environments/:id", id: "getEnvironment", who: whoReader,
			summary: "One environment", answers: []reply{ok[api.Environment]("ETag")},
		},
		{
			method: "PATCH", path: "/api/environments/:id", id: "updateEnvironment", who: whoOperator,
			summary: "Change what is named: config and envVars merge one level deep, and null removes there",
			query:   []parameter{idParameter("companyId", "whose secrets are meant")},
			body:    typed[environmentPatchBody](), ifMatch: true,
			answers: []reply{ok[api.Environment]("ETag")}, fails: []int{409, 412, 422},
		},
		{
			method: "DELETE", path: "/api/environments/:id", id: "deleteEnvironment", who: whoOperator,
			summary: "Delete an environment; answers with the row that is gone",
			query:   []parameter{idParameter("reassignTo", "the environment that takes over what pointed at it")},
			body:    typed[environmentDeleteBody](), optionalBody: true, ifMatch: true,
			answers: []reply{ok[api.Environment]()}, fails: []int{409, 412, 422},
		},
		{
			method: "GET", path: "/api/environments/:id/delete-blast-radius", id: "getBlastRadius", who: whoOperator,
			summary: "What a delete would touch", answers: []reply{ok[api.BlastRadius]()},
		},
	}
}

func environmentWork() []operation {
	return []operation{
		{
			method: "POST", path: "/api/environments/check", id: "checkEnvironment", who: whoOperator,
			summary: "What is wrong with values that are not saved", body: typed[draftBody](),
			answers: []reply{ok[api.Check]()}, fails: []int{404, 409, 422},
		},
		{
			method: "POST", path: "/api/environments/scan-host-key", id: "scanHostKeys", who: whoOperator,
			summary: "The keys that an SSH server presents; trusts nothing", body: typed[hostKeyScanBody](),
			answers: []reply{ok[[]environment.HostKey]()}, fails: []int{404, 409, 422, 504},
		},
		{
			method: "POST", path: "/api/environments/:id/pin-image", id: "pinImage", who: whoOperator,
			summary: "Save the digest that the last probe read for the image's tag", body: typed[struct{}](), optionalBody: true, ifMatch: true,
			answers: []reply{ok[api.Environment]("ETag")}, fails: []int{409, 412, 422},
		},
		{
			method: "GET", path: "/api/environments/:id/usage", id: "getUsage", who: whoReader,
			summary: "What of an environment's budget is used", answers: []reply{ok[api.Usage]()},
		},
		{
			method: "POST", path: "/api/environments/:id/trust-host-key", id: "trustHostKey", who: whoOperator,
			summary: "Scan again and pin the key that has the fingerprint", body: typed[hostKeyTrustBody](),
			answers: []reply{ok[api.Environment]("ETag")}, fails: []int{409, 422, 504},
		},
	}
}

func environmentFilter() []parameter {
	return windowed(search(),
		word("status", "only those of this status", environment.StatusActive, environment.StatusArchived, environment.StatusMaintenance),
		word("driver", "only those of this driver", environment.DriverLocal, environment.DriverSSH, environment.DriverSandbox, environment.DriverPlugin),
		word("health", "only those of this health", environment.Healths()...),
		word("sort", "newest change first when absent", "updated", "name", "health", "driver", "tested"))
}
