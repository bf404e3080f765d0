package handlers

import (
	"net/http"

	"berth/environment/access"
	"berth/views"

	"github.com/labstack/echo/v4"
)

// routes is the one list of routes. A route that is not open to everybody names
// the question that it asks before its request is read; see needs. Each has a
// row in the table of authority_test.go.
func (s *server) routes(e *echo.Echo) {
	s.pageRoutes(e)
	s.apiRoutes(e)

	e.GET("/readyz", s.ready)
	e.GET("/metrics", s.showMetrics, s.needs(access.ReadMetrics))
	e.GET("/static/*", s.static)
}

// pageRoutes lists the pages, their fragments and their streams.
func (s *server) pageRoutes(e *echo.Echo) {
	toList := func(c echo.Context) error { return c.Redirect(http.StatusSeeOther, views.Environments) }
	e.GET("/", toList)
	e.GET("/company/settings/environments", toList) // its address of old

	s.environmentPages(e)
	s.leasePages(e)

	e.GET("/company/settings/instance/general", s.generalPage, s.needs(access.ReadSettings))
	e.POST("/company/settings/instance/general", s.generalSave, s.needs(access.ManageSettings))
	e.GET("/company/settings/instance/experimental", s.experimentalPage, s.needs(access.ReadSettings))
	e.POST("/company/settings/instance/experimental", s.experimentalSave, s.needs(access.ManageSettings))

	e.GET("/companies", s.companiesPage, s.needs(access.ReadCompanies))
	e.POST("/companies", s.companiesPost, s.needs(access.ReadCompanies))
	e.GET("/companies/:c/runs", s.runsPage, s.needs(access.ReadRuns))
	e.POST("/companies/:c/runs", s.runsPost, s.needs(access.StartRun))
	e.GET("/companies/:c/runs/:id", s.runPage, s.needs(access.ReadRuns))
	e.GET("/companies/:c/runs/:id/stream", s.runFollow, s.needs(access.ReadRuns))
	e.GET("/companies/:c/runs/:id/files", s.runFiles, s.needs(access.ReadRuns))
	e.POST("/companies/:c/runs/:id/cancel", s.runStop, s.needs(access.CancelRun))

	e.GET("/companies/:c/secrets", s.secretsPage, s.needs(access.ManageSecrets))
	e.POST("/companies/:c/secrets", s.secretsPost, s.needs(access.ManageSecrets))
	e.GET("/companies/:c/secrets/:id", s.secretPage, s.needs(access.ManageSecrets))
	e.POST("/companies/:c/secrets/:id", s.secretPost, s.needs(access.ManageSecrets))
	e.POST("/companies/:c/secrets/:id/rotate", s.secretRotatePost, s.needs(access.ManageSecrets))
	e.GET("/companies/:c/secrets/:id/delete", s.secretDeleteDialog, s.needs(access.ManageSecrets))
	e.POST("/companies/:c/secrets/:id/delete", s.secretDeletePost, s.needs(access.ManageSecrets))
	e.GET("/company/settings/instance/activity", s.instanceActivityPage, s.needsOfInstance(access.ReadActivity))
	e.GET("/companies/:c/activity", s.companyActivityPage, s.needs(access.ReadActivity))

	s.peopleRoutes(e)

	if s.Dev {
		e.GET("/dev/preview", s.previewIndex)
		e.GET("/dev/preview/:name", s.previewPage)
	}
}

// environmentPages lists the pages of environments, their tests and drafts.
func (s *server) environmentPages(e *echo.Echo) {
	const base = views.Environments
	e.GET(base, s.environmentsPage, s.needs(access.ReadEnvironments))
	e.POST(base, s.environmentFormCreate, s.needs(access.ManageEnvironment))
	e.POST(base+"/test-all", s.testAll, s.needs(access.ManageEnvironment))
	e.GET(base+"/new", s.environmentNew, s.needs(access.ManageEnvironment))
	e.POST(base+"/drafts/probe", s.probeForm, s.needs(access.ManageEnvironment))
	e.POST(base+"/drafts/form", s.environmentFormFor, s.needs(access.ManageEnvironment))
	e.POST(base+"/drafts/check", s.draftCheck, s.needs(access.ManageEnvironment))
	e.POST(base+"/drafts/scan", s.draftScan, s.needs(access.ManageEnvironment))
	e.POST(base+"/drafts/key", s.draftKey, s.needs(access.ManageEnvironment))
	e.POST(base+"/drafts/generate-key", s.draftGenerateKey, s.needs(access.ManageEnvironment))
	e.POST(base+"/drafts/ssh-config", s.draftSSHConfig, s.needs(access.ManageEnvironment))
	e.POST(base+"/drafts/dotenv", s.draftDotEnv, s.needs(access.ManageEnvironment))
	e.GET(base+"/probes/:pid", s.probeFragment, s.needs(access.ReadProbes))
	e.GET(base+"/probes/:pid/stream", s.probeFollow, s.needs(access.ReadProbes))
	e.POST(base+"/probes/:pid/cancel", s.probeStop, s.needs(access.ManageEnvironment))
	e.GET(base+"/:id", s.environmentPage, s.needs(access.ReadEnvironments))
	e.POST(base+"/:id", s.environmentSave, s.needs(access.ManageEnvironment))
	e.GET(base+"/:id/edit", s.environmentEdit, s.needs(access.ManageEnvironment))
	e.POST(base+"/:id/archive", s.environmentArchive, s.needs(access.ManageEnvironment))
	e.POST(base+"/:id/restore", s.environmentRestore, s.needs(access.ManageEnvironment))
	e.GET(base+"/:id/delete", s.deleteDialog, s.needs(access.ManageEnvironment))
	e.POST(base+"/:id/delete", s.environmentRemove, s.needs(access.ManageEnvironment))
	e.GET(base+"/:id/trust", s.trustDialog, s.needs(access.ManageEnvironment))
	e.POST(base+"/:id/trust", s.trustKey, s.needs(access.ManageEnvironment))
	e.POST(base+"/:id/probes", s.environmentTest, s.needs(access.ManageEnvironment))
	e.POST(base+"/:id/pin-image", s.imagePin, s.needs(access.ManageEnvironment))
}

// leasePages lists the page of leases, and what is done with one.
func (s *server) leasePages(e *echo.Echo) {
	e.GET(views.LeasesPath, s.leasesPage, s.needs(access.ReadLeases))
	e.POST(views.LeasesPath+"/:id/release", s.leaseLetGo, s.needs(access.ManageLeases))
	e.POST(views.LeasesPath+"/:id/retry-cleanup", s.leaseCleanAgain, s.needs(access.ManageLeases))
	e.GET(views.LeasesPath+"/:id/destroy", s.leaseDestroyDialog, s.needs(access.ManageLeases))
	e.POST(views.LeasesPath+"/:id/destroy", s.leaseDestroyed, s.needs(access.ManageLeases))
}

// apiRoutes lists the JSON API.
func (s *server) apiRoutes(e *echo.Echo) {
	e.GET("/api/health", s.health)
	e.GET("/api/openapi.json", s.openapiGet())

	e.GET("/api/companies", s.companyList, s.needs(access.ReadCompanies))
	e.POST("/api/companies", s.companyCreate, s.needs(access.ManageCompanies))
	e.GET("/api/companies/:c", s.companyGet, s.needs(access.ReadCompanies))

	s.environmentRoutes(e)

	e.GET("/api/companies/:c/runs", s.runList, s.needs(access.ReadRuns))
	e.POST("/api/companies/:c/runs", s.runStart, s.needs(access.StartRun))
	e.GET("/api/runs/:id", s.runGet, s.needs(access.ReadRuns))
	e.GET("/api/runs/:id/log", s.runLog, s.needs(access.ReadRuns))
	e.GET("/api/runs/:id/events", s.runEvents, s.needs(access.ReadRuns))
	e.POST("/api/runs/:id/cancel", s.runCancel, s.needs(access.CancelRun))
	e.GET("/api/runs/:id/workspace", s.runWorkspace, s.needs(access.ReadRuns))

	e.GET("/api/companies/:c/secrets", s.secretList, s.needs(access.ManageSecrets))
	e.POST("/api/companies/:c/secrets", s.secretCreate, s.needs(access.ManageSecrets))
	e.GET("/api/secrets/:id", s.secretGet, s.needs(access.ManageSecrets))
	e.PATCH("/api/secrets/:id", s.secretPatch, s.needs(access.ManageSecrets))
	e.DELETE("/api/secrets/:id", s.secretDelete, s.needs(access.ManageSecrets))
	e.POST("/api/secrets/:id/rotate", s.secretRotate, s.needs(access.ManageSecrets))
	e.GET("/api/secrets/:id/accesses", s.secretAccesses, s.needs(access.ManageSecrets))
	e.GET("/api/environments/:id/secret-refs", s.secretRefs, s.needs(access.SeeWhole))
	e.POST("/api/instance/rotate-key", s.keysetRotate, s.needs(access.RotateKey))

	e.GET("/api/instance/settings", s.settingsGet, s.needs(access.ReadSettings))
	e.PATCH("/api/instance/settings", s.settingsPatch, s.needs(access.ManageSettings))
	e.GET("/api/instance/settings/experimental", s.experimentalGet, s.needs(access.ReadSettings))
	e.PATCH("/api/instance/settings/experimental", s.experimentalPatch, s.needs(access.ManageSettings))
	e.GET("/api/activity", s.activityList, s.needsOfInstance(access.ReadActivity))
	e.GET("/api/companies/:c/activity", s.companyActivityList, s.needs(access.ReadActivity))

	e.POST("/api/ssh-keys/generate", s.keyGenerate, s.needs(access.ManageEnvironment))
	e.POST("/api/ssh-keys/inspect", s.keyInspect, s.needs(access.ManageEnvironment))
	e.POST("/api/ssh-config/read", s.sshConfigRead, s.needs(access.ManageEnvironment))

	s.identityRoutes(e)
}

// environmentRoutes lists the JSON API of environments, their probes and leases.
func (s *server) environmentRoutes(e *echo.Echo) {
	e.GET("/api/companies/:c/environments", s.environmentList, s.needs(access.ReadEnvironments))
	e.POST("/api/companies/:c/environments", s.environmentCreate, s.needs(access.ManageEnvironment))
	e.GET("/api/companies/:c/environments/capabilities", s.capabilities, s.needs(access.ReadEnvironments))
	e.POST("/api/companies/:c/environments/probe-config", s.probeDraft, s.needs(access.ManageEnvironment))
	e.GET("/api/environments", s.environmentList, s.needs(access.ReadEnvironments))
	e.GET("/api/environments/capabilities", s.capabilities, s.needs(access.ReadEnvironments))
	e.POST("/api/environments/check", s.environmentCheck, s.needs(access.ManageEnvironment))
	e.POST("/api/environments/scan-host-key", s.hostKeyScan, s.needs(access.ManageEnvironment))
	e.GET("/api/environments/:id", s.environmentGet, s.needs(access.ReadEnvironments))
	e.PATCH("/api/environments/:id", s.environmentPatch, s.needs(access.ManageEnvironment))
	e.DELETE("/api/environments/:id", s.environmentDelete, s.needs(access.ManageEnvironment))
	e.GET("/api/environments/:id/delete-blast-radius", s.environmentImpact, s.needs(access.ManageEnvironment))
	e.POST("/api/environments/:id/trust-host-key", s.hostKeyTrust, s.needs(access.ManageEnvironment))
	e.GET("/api/environments/:id/leases", s.leaseList, s.needs(access.ReadLeases))
	e.GET("/api/environments/:id/probes", s.probeList, s.needs(access.ReadProbes))
	e.POST("/api/environments/:id/probe", s.probeStart, s.needs(access.ManageEnvironment))
	e.POST("/api/environments/:id/pin-image", s.environmentPinImage, s.needs(access.ManageEnvironment))
	e.GET("/api/environments/:id/usage", s.environmentUsage, s.needs(access.ReadEnvironments))

	e.GET("/api/probes/:id", s.probeGet, s.needs(access.ReadProbes))
	e.POST("/api/probes/:id/cancel", s.probeCancel, s.needs(access.ManageEnvironment))
	e.GET("/api/probes/:id/events", s.probeEvents, s.needs(access.ReadProbes))

	e.GET("/api/environment-leases", s.leaseListAll, s.needs(access.ReadLeases))
	e.GET("/api/environment-leases/:id", s.leaseGet, s.needs(access.ReadLeases))
	e.POST("/api/environment-leases/:id/release", s.leaseRelease, s.needs(access.ManageLeases))
	e.POST("/api/environment-leases/:id/destroy", s.leaseDestroy, s.needs(access.ManageLeases))
	e.POST("/api/environment-leases/:id/retry-cleanup", s.leaseRetryCleanup, s.needs(access.ManageLeases))
}

// identityRoutes lists the JSON API of people, agents and their credentials.
func (s *server) identityRoutes(e *echo.Echo) {
	e.POST("/api/auth/sign-in", s.authSignIn)
	e.POST("/api/auth/sign-out", s.authSignOut, s.needs(access.ManageAccount))
	e.POST("/api/auth/token", s.authToken)
	e.GET("/api/cli-auth/me", s.authMe)

	e.GET("/api/account", s.accountGet, s.needs(access.ManageAccount))
	e.PATCH("/api/account", s.accountPatch, s.needs(access.ManageAccount))
	e.POST("/api/account/password", s.accountPassword, s.needs(access.ManageAccount))
	e.DELETE("/api/account/sessions", s.accountSessionsEnd, s.needs(access.ManageAccount))
	e.DELETE("/api/account/sessions/:id", s.accountSessionEnd, s.needs(access.ManageAccount))
	e.POST("/api/account/tokens", s.accountTokenCreate, s.needs(access.ManageAccount))
	e.DELETE("/api/account/tokens/:id", s.accountTokenRevoke, s.needs(access.ManageAccount))

	e.GET("/api/people", s.peopleList, s.needs(access.ManagePeople))
	e.GET("/api/people/:id", s.personGet, s.needs(access.ManagePeople))
	e.PATCH("/api/people/:id", s.personPatch, s.needs(access.ManagePeople))
	e.POST("/api/people/:id/sign-out", s.personSignOut, s.needs(access.ManagePeople))
	e.POST("/api/people/:id/password-link", s.personPasswordLink, s.needs(access.ManagePeople))
	e.GET("/api/invitations", s.invitationList, s.needs(access.ManagePeople))
	e.POST("/api/invitations", s.invitationCreate, s.needs(access.ManagePeople))
	e.DELETE("/api/invitations/:id", s.invitationDelete, s.needs(access.ManagePeople))
	e.GET("/api/companies/:c/members", s.memberList, s.needs(access.ManagePeople))
	e.PUT("/api/companies/:c/members/:id", s.memberSet, s.needs(access.ManagePeople))
	e.DELETE("/api/companies/:c/members/:id", s.memberRemove, s.needs(access.ManagePeople))

	e.GET("/api/companies/:c/agents", s.agentList, s.needs(access.ManageAgents))
	e.POST("/api/companies/:c/agents", s.agentCreate, s.needs(access.ManageAgents))
	e.GET("/api/agents/:id", s.agentGet, s.needs(access.ManageAgents))
	e.PATCH("/api/agents/:id", s.agentPatch, s.needs(access.ManageAgents))
	e.POST("/api/agents/:id/keys", s.agentKeyCreate, s.needs(access.ManageAgents))
	e.DELETE("/api/agents/:id/keys/:kid", s.agentKeyDelete, s.needs(access.ManageAgents))
}

// peopleRoutes lists the pages of people: signing in, accounts, rights, agents.
func (s *server) peopleRoutes(e *echo.Echo) {
	e.GET(views.SignInPath, s.signInPage)
	e.POST(views.SignInPath, s.signIn)
	e.POST(views.SignOutPath, s.signOut, s.needs(access.ManageAccount))
	e.GET("/link/:token", s.linkPage)
	e.POST("/link/:token", s.linkUse)

	own := s.needs(access.ManageAccount)
	e.GET(views.AccountPath, s.accountPage, own)
	e.POST(views.AccountPath, s.accountSave, own)
	e.POST(views.AccountPath+"/password", s.accountPasswordSave, own)
	e.POST(views.AccountPath+"/sessions/end", s.accountEndSessions, own)
	e.POST(views.AccountPath+"/tokens", s.accountToken, own)
	e.POST(views.AccountPath+"/tokens/:id/revoke", s.accountRevoke, own)
	e.GET(views.RightsPath, s.accountRights, own)

	people := s.needs(access.ManagePeople)
	e.GET(views.PeoplePath, s.peoplePage, people)
	e.POST(views.PeoplePath+"/invitations", s.peopleInvite, people)
	e.POST(views.PeoplePath+"/invitations/:id/revoke", s.peopleUninvite, people)
	e.GET(views.PeoplePath+"/:id", s.personPage, people)
	e.POST(views.PeoplePath+"/:id", s.personSave, people)
	e.POST(views.PeoplePath+"/:id/sign-out", s.personEnd, people)
	e.POST(views.PeoplePath+"/:id/password-link", s.personLink, people)
	e.GET("/companies/:c/access", s.accessPage, people)
	e.POST("/companies/:c/access", s.accessSave, people)

	agents := s.needs(access.ManageAgents)
	e.GET("/companies/:c/agents", s.agentsPage, agents)
	e.POST("/companies/:c/agents", s.agentsPost, agents)
	e.GET("/companies/:c/agents/:id", s.agentPage, agents)
	e.POST("/companies/:c/agents/:id", s.agentSave, agents)
	e.POST("/companies/:c/agents/:id/keys", s.agentKeyMake, agents)
	e.POST("/companies/:c/agents/:id/keys/:kid/revoke", s.agentKeyRevoke, agents)
}
