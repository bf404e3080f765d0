package handlers

import "github.com/labstack/echo/v4"

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
}

// apiRoutes lists the JSON API.
func (s *server) apiRoutes(e *echo.Echo) {
	e.GET("/api/health", s.health)

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
