package handlers

import (
	"net/http"

	"berth/environment"
	"berth/handlers/api"

	"github.com/labstack/echo/v4"
)

// settingsGet answers GET /api/instance/settings.
func (s *server) settingsGet(c echo.Context) error {
	settings, err := s.Catalogue.Settings(c.Request().Context(), s.actor(c))
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, settingsShape(settings))
}

// experimentalGet answers GET /api/instance/settings/experimental.
func (s *server) experimentalGet(c echo.Context) error {
	settings, err := s.Catalogue.Settings(c.Request().Context(), s.actor(c))
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, experimentalShape(settings))
}

func settingsShape(s environment.Settings) api.Settings {
	return api.Settings{DefaultEnvironmentID: s.DefaultEnvironmentID, MaxRunTimeoutSec: s.MaxRunTimeout}
}

func experimentalShape(s environment.Settings) api.Experimental {
	return api.Experimental{EnableEnvironments: s.EnableEnvironments, EnableManagedSandboxOnly: s.EnableManagedSandboxOnly}
}
