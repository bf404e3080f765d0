package handlers

import (
	"net/http"

	"berth/views"

	"github.com/labstack/echo/v4"
)

// routes is the one list of routes.
func (s *server) routes(e *echo.Echo) {
	s.pageRoutes(e)
	s.apiRoutes(e)

	e.GET("/readyz", s.ready)
	e.GET("/metrics", s.showMetrics)
	e.GET("/static/*", s.static)
}

// pageRoutes lists the pages, their fragments and their streams.
func (s *server) pageRoutes(e *echo.Echo) {
	const base = views.Environments
	toList := func(c echo.Context) error { return c.Redirect(http.StatusSeeOther, base) }
	e.GET("/", toList)
	e.GET("/company/settings/environments", toList) // its address of old

	e.GET(base, s.environmentsPage)
	e.POST(base, s.environmentFormCreate)
	e.POST(base+"/test-all", s.testAll)
	e.GET(base+"/new", s.environmentNew)
	e.POST(base+"/drafts/probe", s.probeForm)
	e.POST(base+"/drafts/check", s.draftCheck)
	e.POST(base+"/drafts/scan", s.draftScan)
	e.POST(base+"/drafts/key", s.draftKey)
	e.POST(base+"/drafts/generate-key", s.draftGenerateKey)
	e.POST(base+"/drafts/ssh-config", s.draftSSHConfig)
	e.GET(base+"/probes/:pid", s.probeFragment)
	e.GET(base+"/probes/:pid/stream", s.probeFollow)
	e.POST(base+"/probes/:pid/cancel", s.probeStop)
	e.GET(base+"/:id", s.environmentPage)
	e.POST(base+"/:id", s.environmentSave)
	e.GET(base+"/:id/edit", s.environmentEdit)
	e.POST(base+"/:id/archive", s.environmentArchive)
	e.POST(base+"/:id/restore", s.environmentRestore)
	e.GET(base+"/:id/delete", s.deleteDialog)
	e.POST(base+"/:id/delete", s.environmentRemove)
	e.GET(base+"/:id/trust", s.trustDialog)
	e.POST(base+"/:id/trust", s.trustKey)
	e.POST(base+"/:id/probes", s.environmentTest)

	e.GET("/company/settings/instance/general", s.generalPage)
	e.POST("/company/settings/instance/general", s.generalSave)
	e.GET("/company/settings/instance/experimental", s.experimentalPage)
	e.POST("/company/settings/instance/experimental", s.experimentalSave)

	e.GET("/companies", s.companiesPage)
	e.POST("/companies", s.companiesPost)
	e.GET("/companies/:c/runs", s.runsPage)
	e.POST("/companies/:c/runs", s.runsPost)
	e.GET("/companies/:c/runs/:id", s.runPage)
	e.GET("/companies/:c/runs/:id/stream", s.runFollow)
	e.GET("/companies/:c/runs/:id/files", s.runFiles)
	e.POST("/companies/:c/runs/:id/cancel", s.runStop)

	s.peopleRoutes(e)

	if s.Dev {
		e.GET("/dev/preview", s.previewIndex)
		e.GET("/dev/preview/:name", s.previewPage)
	}
}

// apiRoutes lists the JSON API.
func (s *server) apiRoutes(e *echo.Echo) {
	e.GET("/api/health", s.health)
	e.GET("/api/openapi.json", s.openapiGet())

	e.GET("/api/companies", s.companyList)
	e.POST("/api/companies", s.companyCreate)
	e.GET("/api/companies/:c", s.companyGet)

	e.GET("/api/companies/:c/environments", s.environmentList)
	e.POST("/api/companies/:c/environments", s.environmentCreate)
	e.GET("/api/companies/:c/environments/capabilities", s.capabilities)
	e.POST("/api/companies/:c/environments/probe-config", s.probeDraft)
	e.POST("/api/environments/check", s.environmentCheck)
	e.POST("/api/environments/scan-host-key", s.hostKeyScan)
	e.GET("/api/environments/:id", s.environmentGet)
	e.PATCH("/api/environments/:id", s.environmentPatch)
	e.DELETE("/api/environments/:id", s.environmentDelete)
	e.GET("/api/environments/:id/delete-blast-radius", s.environmentImpact)
	e.POST("/api/environments/:id/trust-host-key", s.hostKeyTrust)
	e.GET("/api/environments/:id/leases", s.leaseList)
	e.GET("/api/environments/:id/probes", s.probeList)
	e.POST("/api/environments/:id/probe", s.probeStart)

	e.GET("/api/probes/:id", s.probeGet)
	e.POST("/api/probes/:id/cancel", s.probeCancel)
	e.GET("/api/probes/:id/events", s.probeEvents)

	e.GET("/api/environment-leases/:id", s.leaseGet)
	e.POST("/api/environment-leases/:id/release", s.leaseRelease)

	e.GET("/api/companies/:c/runs", s.runList)
	e.POST("/api/companies/:c/runs", s.runStart)
	e.GET("/api/runs/:id", s.runGet)
	e.GET("/api/runs/:id/log", s.runLog)
	e.GET("/api/runs/:id/events", s.runEvents)
	e.POST("/api/runs/:id/cancel", s.runCancel)
	e.GET("/api/runs/:id/workspace", s.runWorkspace)

	e.GET("/api/instance/settings", s.settingsGet)
	e.PATCH("/api/instance/settings", s.settingsPatch)
	e.GET("/api/instance/settings/experimental", s.experimentalGet)
	e.PATCH("/api/instance/settings/experimental", s.experimentalPatch)
	e.GET("/api/activity", s.activityList)

	e.POST("/api/ssh-keys/generate", s.keyGenerate)
	e.POST("/api/ssh-keys/inspect", s.keyInspect)
	e.POST("/api/ssh-config/read", s.sshConfigRead)
}

// peopleRoutes lists the pages of people: signing in, accounts, rights, agents.
func (s *server) peopleRoutes(e *echo.Echo) {
	e.GET(views.RightsPath, s.accountRights)
}
