// Package views has the pages and their fragments. Each component takes one
// props struct that only its constructor makes, and its root element says its
// state. Nothing here reads a store or the clock.
package views

import (
	"net/url"

	"github.com/google/uuid"
)

// Environments is the address of the list.
const Environments = "/company/settings/instance/environments"

// Other addresses.
const (
	GeneralPath          = "/company/settings/instance/general"
	ExperimentalPath     = "/company/settings/instance/experimental"
	PeoplePath           = "/company/settings/instance/people"
	InstanceActivityPath = "/company/settings/instance/activity"
	CompaniesPath        = "/companies"
	SignInPath           = "/signin"
	SignOutPath          = "/signout"
	AccountPath          = "/account"
	RightsPath           = AccountPath + "/rights"
	NewPath              = Environments + "/new"
	TestAllPath          = Environments + "/test-all"
	draftsPath           = Environments + "/drafts"
	PreviewPath          = "/dev/preview"
)

// EnvironmentPath is the page of an environment.
func EnvironmentPath(id uuid.UUID) string { return Environments + "/" + id.String() }

// TabPath is a tab of that page.
func TabPath(id uuid.UUID, tab Tab) string { return EnvironmentPath(id) + "?tab=" + string(tab) }

// EditPath is its form.
func EditPath(id uuid.UUID) string { return EnvironmentPath(id) + "/edit" }

// TrustPath is the dialog that trusts a key; fingerprint "" offers all.
func TrustPath(id uuid.UUID, fingerprint string) string {
	path := EnvironmentPath(id) + "/trust"
	if fingerprint == "" {
		return path
	}
	return path + "?fingerprint=" + url.QueryEscape(fingerprint)
}

// ProbePath is a probe's fragment.
func ProbePath(id uuid.UUID) string { return Environments + "/probes/" + id.String() }

// RunsPath is the list of a company's runs.
func RunsPath(company uuid.UUID) string { return CompaniesPath + "/" + company.String() + "/runs" }

// RunPath is the page of a run.
func RunPath(company, run uuid.UUID) string { return RunsPath(company) + "/" + run.String() }

// FilesPath is a folder or a file of a run's workspace.
func FilesPath(company, run uuid.UUID, path string) string {
	return RunPath(company, run) + "/files?path=" + url.QueryEscape(path)
}

// companyPath is a page of a company.
func companyPath(company uuid.UUID, page string) string {
	return CompaniesPath + "/" + company.String() + "/" + page
}

// AgentsPath is the list of a company's agents.
func AgentsPath(company uuid.UUID) string { return companyPath(company, "agents") }

// AgentPath is the page of an agent.
func AgentPath(company, agent uuid.UUID) string { return AgentsPath(company) + "/" + agent.String() }

// SecretsPath is the list of a company's secrets.
func SecretsPath(company uuid.UUID) string { return companyPath(company, "secrets") }

// AccessPath is the people of a company.
func AccessPath(company uuid.UUID) string { return companyPath(company, "access") }

// CompanyActivityPath is what was done in a company.
func CompanyActivityPath(company uuid.UUID) string { return companyPath(company, "activity") }

// LinkPath is a one-time link. Its token is the one secret that may stand in an
// address.
func LinkPath(token string) string { return "/link/" + url.PathEscape(token) }

// PersonPath is the page of a person.
func PersonPath(id uuid.UUID) string { return PeoplePath + "/" + id.String() }
