package handlers

import "strings"

// This file is the one place that says who may use which route. A new route needs
// a row here, and docs/access.md to be written again:
//
//	BERTH_WRITE_ACCESS=1 go test ./handlers -run TestEveryRouteForEveryActor
//
// What a row wants is written by hand: it is not derived from the code that it
// judges.

// audience are the actors, in the order of the columns. Agents, members, admins and
// owners are Acme's, whose rows every address names; the foreign ones are
// Globex's, and one is a member of Acme and an owner of Globex. The agent is the one
// whose run it is.
func audience() []string {
	return []string{"nobody", "agent", "foreign agent", "member", "foreign member", "foreign owner", "member, owner elsewhere", "company admin", "owner",
		"instance admin", "local operator"}
}

// What an actor meets. On a page, 401 is the way to sign in. "may" is any answer
// to the request itself, be it that its empty body is wrong.
const (
	open             = "may may may may may may may may may may may"
	signedIn         = "401 may may may may may may may may may may"
	accountOwner     = "401 403 403 may may may may may may may 403"
	instanceAdmins   = "401 403 403 403 403 403 403 403 403 may may"
	readsCatalogue   = "401 403 403 may may may may may may may may"
	knowsCompany     = "401 may 404 may 404 404 may may may may may"
	readsCatalogueOf = "401 403 403 may 404 404 may may may may may"
	worksInCompany   = "401 may 404 may 404 404 may may may may may"
	readsCompanys    = "401 403 403 may 404 404 may may may may may"
	keepsCompany     = "401 403 403 403 403 404 403 may may may may"
	keepsCompanys    = "401 403 403 403 403 404 404 may may may may" // found by its id alone
)

type ruling struct {
	route string // method and pattern, as in routes.go
	want  string
}

// wants are the outcomes by actor.
func (r ruling) wants() map[string]string {
	by := map[string]string{}
	for i, word := range strings.Fields(r.want) {
		by[audience()[i]] = word
	}
	return by
}

func rulings() []ruling {
	return append(pageRulings(), apiRulings()...)
}

func pageRulings() []ruling {
	const environments = "/company/settings/instance/environments"
	const people = "/company/settings/instance/people"
	const leases = "/company/settings/instance/leases"
	return []ruling{
		{"GET /", signedIn},
		{"GET /company/settings/environments", signedIn},
		{"GET /readyz", open},
		{"GET /metrics", instanceAdmins},
		{"GET /static/*", open},
		{"GET /dev/preview", open},
		{"GET /dev/preview/:name", open},

		{"GET " + environments, readsCatalogue},
		{"POST " + environments, instanceAdmins},
		{"POST " + environments + "/test-all", instanceAdmins},
		{"GET " + environments + "/new", instanceAdmins},
		{"POST " + environments + "/drafts/probe", instanceAdmins},
		{"POST " + environments + "/drafts/form", instanceAdmins},
		{"POST " + environments + "/drafts/check", instanceAdmins},
		{"POST " + environments + "/drafts/scan", instanceAdmins},
		{"POST " + environments + "/drafts/key", instanceAdmins},
		{"POST " + environments + "/drafts/generate-key", instanceAdmins},
		{"POST " + environments + "/drafts/ssh-config", instanceAdmins},
		{"POST " + environments + "/drafts/dotenv", instanceAdmins},
		{"GET " + environments + "/probes/:pid", readsCompanys},
		{"GET " + environments + "/probes/:pid/stream", readsCompanys},
		{"POST " + environments + "/probes/:pid/cancel", instanceAdmins},
		{"GET " + environments + "/:id", readsCatalogue},
		{"POST " + environments + "/:id", instanceAdmins},
		{"GET " + environments + "/:id/edit", instanceAdmins},
		{"POST " + environments + "/:id/archive", instanceAdmins},
		{"POST " + environments + "/:id/restore", instanceAdmins},
		{"GET " + environments + "/:id/delete", instanceAdmins},
		{"POST " + environments + "/:id/delete", instanceAdmins},
		{"GET " + environments + "/:id/trust", instanceAdmins},
		{"POST " + environments + "/:id/trust", instanceAdmins},
		{"POST " + environments + "/:id/probes", instanceAdmins},

		{"POST " + environments + "/:id/pin-image", instanceAdmins},
		{"GET " + leases, readsCatalogue},
		{"POST " + leases + "/:id/release", instanceAdmins},
		{"POST " + leases + "/:id/retry-cleanup", instanceAdmins},
		{"GET " + leases + "/:id/destroy", instanceAdmins},
		{"POST " + leases + "/:id/destroy", instanceAdmins},
		{"GET /company/settings/instance/general", instanceAdmins},
		{"POST /company/settings/instance/general", instanceAdmins},
		{"GET /company/settings/instance/experimental", instanceAdmins},
		{"POST /company/settings/instance/experimental", instanceAdmins},
		{"GET /company/settings/instance/activity", instanceAdmins},

		{"GET /companies", signedIn},
		{"POST /companies", instanceAdmins},
		{"GET /companies/:c/runs", worksInCompany},
		{"POST /companies/:c/runs", worksInCompany},
		{"GET /companies/:c/runs/:id", worksInCompany},
		{"GET /companies/:c/runs/:id/stream", worksInCompany},
		{"GET /companies/:c/runs/:id/files", worksInCompany},
		{"POST /companies/:c/runs/:id/cancel", worksInCompany},
		{"GET /companies/:c/secrets", keepsCompany},
		{"POST /companies/:c/secrets", keepsCompany},
		{"GET /companies/:c/secrets/:id", keepsCompany},
		{"POST /companies/:c/secrets/:id", keepsCompany},
		{"POST /companies/:c/secrets/:id/rotate", keepsCompany},
		{"GET /companies/:c/secrets/:id/delete", keepsCompany},
		{"POST /companies/:c/secrets/:id/delete", keepsCompany},
		{"GET /companies/:c/activity", keepsCompany},
		{"GET /companies/:c/access", instanceAdmins},
		{"POST /companies/:c/access", instanceAdmins},
		{"GET /companies/:c/agents", keepsCompany},
		{"POST /companies/:c/agents", keepsCompany},
		{"GET /companies/:c/agents/:id", keepsCompany},
		{"POST /companies/:c/agents/:id", keepsCompany},
		{"POST /companies/:c/agents/:id/keys", keepsCompany},
		{"POST /companies/:c/agents/:id/keys/:kid/revoke", keepsCompany},

		{"GET /signin", open},
		{"POST /signin", open},
		{"POST /signout", accountOwner},
		{"GET /link/:token", open},
		{"POST /link/:token", open},
		{"GET /account", accountOwner},
		{"POST /account", accountOwner},
		{"POST /account/password", accountOwner},
		{"POST /account/sessions/end", accountOwner},
		{"POST /account/tokens", accountOwner},
		{"POST /account/tokens/:id/revoke", accountOwner},
		{"GET /account/rights", accountOwner},
		{"GET " + people, instanceAdmins},
		{"POST " + people + "/invitations", instanceAdmins},
		{"POST " + people + "/invitations/:id/revoke", instanceAdmins},
		{"GET " + people + "/:id", instanceAdmins},
		{"POST " + people + "/:id", instanceAdmins},
		{"POST " + people + "/:id/sign-out", instanceAdmins},
		{"POST " + people + "/:id/password-link", instanceAdmins},
	}
}

func apiRulings() []ruling {
	return []ruling{
		{"GET /api/health", open},
		{"GET /api/openapi.json", open},

		{"GET /api/companies", signedIn},
		{"POST /api/companies", instanceAdmins},
		{"GET /api/companies/:c", knowsCompany},

		{"GET /api/companies/:c/environments", readsCatalogueOf},
		{"POST /api/companies/:c/environments", instanceAdmins},
		{"GET /api/companies/:c/environments/capabilities", readsCatalogueOf},
		{"POST /api/companies/:c/environments/probe-config", instanceAdmins},
		{"POST /api/environments/check", instanceAdmins},
		{"POST /api/environments/scan-host-key", instanceAdmins},
		{"GET /api/environments", readsCatalogue},
		{"GET /api/environments/capabilities", readsCatalogue},
		{"GET /api/environments/:id", readsCatalogue},
		{"PATCH /api/environments/:id", instanceAdmins},
		{"DELETE /api/environments/:id", instanceAdmins},
		{"GET /api/environments/:id/delete-blast-radius", instanceAdmins},
		{"GET /api/environments/:id/secret-refs", instanceAdmins},
		{"POST /api/environments/:id/trust-host-key", instanceAdmins},
		{"GET /api/environments/:id/leases", readsCatalogue},
		{"GET /api/environments/:id/probes", readsCatalogue},
		{"POST /api/environments/:id/probe", instanceAdmins},
		{"POST /api/environments/:id/pin-image", instanceAdmins},
		{"GET /api/environments/:id/usage", readsCatalogue},

		{"GET /api/probes/:id", readsCompanys},
		{"POST /api/probes/:id/cancel", instanceAdmins},
		{"GET /api/probes/:id/events", readsCompanys},

		{"GET /api/environment-leases", readsCatalogue},
		{"GET /api/environment-leases/:id", readsCompanys},
		{"POST /api/environment-leases/:id/release", instanceAdmins},
		{"POST /api/environment-leases/:id/destroy", instanceAdmins},
		{"POST /api/environment-leases/:id/retry-cleanup", instanceAdmins},

		{"GET /api/companies/:c/runs", worksInCompany},
		{"POST /api/companies/:c/runs", worksInCompany},
		{"GET /api/runs/:id", worksInCompany},
		{"GET /api/runs/:id/log", worksInCompany},
		{"GET /api/runs/:id/events", worksInCompany},
		{"POST /api/runs/:id/cancel", worksInCompany},
		{"GET /api/runs/:id/workspace", worksInCompany},

		{"GET /api/companies/:c/secrets", keepsCompany},
		{"POST /api/companies/:c/secrets", keepsCompany},
		{"GET /api/secrets/:id", keepsCompanys},
		{"PATCH /api/secrets/:id", keepsCompanys},
		{"DELETE /api/secrets/:id", keepsCompanys},
		{"POST /api/secrets/:id/rotate", keepsCompanys},
		{"GET /api/secrets/:id/accesses", keepsCompanys},
		{"POST /api/instance/rotate-key", instanceAdmins},

		{"GET /api/instance/settings", instanceAdmins},
		{"PATCH /api/instance/settings", instanceAdmins},
		{"GET /api/instance/settings/experimental", instanceAdmins},
		{"PATCH /api/instance/settings/experimental", instanceAdmins},
		{"GET /api/activity", instanceAdmins},
		{"GET /api/companies/:c/activity", keepsCompany},

		{"POST /api/ssh-keys/generate", instanceAdmins},
		{"POST /api/ssh-keys/inspect", instanceAdmins},
		{"POST /api/ssh-config/read", instanceAdmins},

		{"POST /api/auth/sign-in", open},
		{"POST /api/auth/sign-out", accountOwner},
		{"POST /api/auth/token", open},
		{"GET /api/cli-auth/me", signedIn},
		{"GET /api/account", accountOwner},
		{"PATCH /api/account", accountOwner},
		{"POST /api/account/password", accountOwner},
		{"DELETE /api/account/sessions", accountOwner},
		{"DELETE /api/account/sessions/:id", accountOwner},
		{"POST /api/account/tokens", accountOwner},
		{"DELETE /api/account/tokens/:id", accountOwner},

		{"GET /api/people", instanceAdmins},
		{"GET /api/people/:id", instanceAdmins},
		{"PATCH /api/people/:id", instanceAdmins},
		{"POST /api/people/:id/sign-out", instanceAdmins},
		{"POST /api/people/:id/password-link", instanceAdmins},
		{"GET /api/invitations", instanceAdmins},
		{"POST /api/invitations", instanceAdmins},
		{"DELETE /api/invitations/:id", instanceAdmins},
		{"GET /api/companies/:c/members", instanceAdmins},
		{"PUT /api/companies/:c/members/:id", instanceAdmins},
		{"DELETE /api/companies/:c/members/:id", instanceAdmins},

		{"GET /api/companies/:c/agents", keepsCompany},
		{"POST /api/companies/:c/agents", keepsCompany},
		{"GET /api/agents/:id", keepsCompanys},
		{"PATCH /api/agents/:id", keepsCompanys},
		{"POST /api/agents/:id/keys", keepsCompanys},
		{"DELETE /api/agents/:id/keys/:kid", keepsCompanys},
	}
}
