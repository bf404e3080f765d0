package handlers

import (
	"slices"

	"berth/environment"
	"berth/handlers/api"
)

// instanceOperations are those of companies, settings, activity and the tools
// for SSH keys.
func instanceOperations() []operation {
	return slices.Concat(companyOperations(), settingsOperations(), activityOperations(), toolOperations())
}

func companyOperations() []operation {
	return []operation{
		{
			method: "GET", path: "/api/companies", id: "listCompanies", who: whoSignedIn,
			summary: "The companies that the caller belongs to", query: windowed(search()), answers: []reply{listOf[api.Company]()},
		},
		{
			method: "POST", path: "/api/companies", id: "createCompany", who: whoOperator,
			summary: "Create a company", body: typed[companyBody](), answers: []reply{made[api.Company]()}, fails: []int{409, 422},
		},
		{
			method: "GET", path: "/api/companies/:c", id: "getCompany", who: whoSignedIn,
			summary: "One company", answers: []reply{ok[api.Company]()},
		},
	}
}

func settingsOperations() []operation {
	return []operation{
		{
			method: "GET", path: "/api/health", id: "getHealth", who: whoAnybody, open: true,
			summary: "The process answers; it asks nobody", answers: []reply{ok[map[string]string]()},
		},
		{
			method: "GET", path: "/api/openapi.json", id: "getOpenAPI", who: whoAnybody, open: true,
			summary: "This document", answers: []reply{ok[map[string]any]("ETag"), {status: 304}},
		},
		{
			method: "GET", path: "/api/instance/settings", id: "getSettings", who: whoOperator,
			summary: "The settings of the instance", answers: []reply{ok[api.Settings]()},
		},
		{
			method: "PATCH", path: "/api/instance/settings", id: "updateSettings", who: whoOperator,
			summary: "Change settings; null clears the default environment", body: typed[settingsPatchBody](),
			answers: []reply{ok[api.Settings]()}, fails: []int{404, 409, 422},
		},
		{
			method: "GET", path: "/api/instance/settings/experimental", id: "getExperimental", who: whoOperator,
			summary: "The flags of the instance", answers: []reply{ok[api.Experimental]()},
		},
		{
			method: "PATCH", path: "/api/instance/settings/experimental", id: "updateExperimental", who: whoOperator,
			summary: "Change flags", body: typed[experimentalPatchBody](), answers: []reply{ok[api.Experimental]()}, fails: []int{409, 422},
		},
	}
}

func activityOperations() []operation {
	filter := windowed(
		text("action", "exact, or a prefix that ends with a full stop or an underscore"), text("actor", "part of the actor's name, without regard to case"),
		text("entityType", "of what it was done to"), text("entityId", "of what it was done to"),
		text("since", "a time, or a day in UTC"), text("until", "a time, exclusive, or a day in UTC, inclusive"),
		word("format", "a whole export, as a file", "csv", "json"),
	)
	answers := []reply{ok[[]api.Activity]("Link", "Content-Disposition"), other("text/csv", "Content-Disposition")}
	return []operation{
		{
			method: "GET", path: "/api/activity", id: "listActivity", who: whoOperator, summary: "Who did what, newest first",
			query: append(slices.Clone(filter), idParameter("companyId", "only what belongs to this company")), answers: answers, fails: []int{404},
		},
		{
			method: "GET", path: "/api/companies/:c/activity", id: "listCompanyActivity", who: whoKeeper,
			summary: "Who did what in a company, newest first", query: filter, answers: answers,
		},
	}
}

func toolOperations() []operation {
	return []operation{
		{
			method: "POST", path: "/api/ssh-keys/generate", id: "generateKey", who: whoOperator,
			summary: "A new key pair; it is in this one answer and stored nowhere",
			body:    typed[keyGenerateBody](), optionalBody: true, answers: []reply{made[api.KeyPair]()}, fails: []int{422},
		},
		{
			method: "POST", path: "/api/ssh-keys/inspect", id: "inspectKey", who: whoOperator,
			summary: "What may be shown of a key", body: typed[keyInspectBody](), answers: []reply{ok[environment.KeyFacts]()}, fails: []int{422},
		},
		{
			method: "POST", path: "/api/ssh-config/read", id: "readSSHConfig", who: whoOperator,
			summary: "Config keys of a pasted block of an ssh client's config", body: typed[sshConfigBody](),
			answers: []reply{ok[api.ClientConfig]()}, fails: []int{422},
		},
	}
}
