package handlers

import (
	"net/http"

	"berth/environment"
	"berth/handlers/api"

	"github.com/labstack/echo/v4"
)

// capabilities answers GET /api/companies/:c/environments/capabilities. Nothing
// is reached: it is what the installed drivers say of themselves.
func (s *server) capabilities(c echo.Context) error {
	if _, err := s.company(c); err != nil {
		return err
	}
	all, err := s.Catalogue.Capabilities(c.Request().Context(), s.actor(c))
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, capabilitiesShape(all))
}

// capabilitiesShape is the matrix. There is no agent adapter yet, so it has no
// row of one.
func capabilitiesShape(all []environment.Capabilities) api.Capabilities {
	answer := api.Capabilities{
		Adapters:         []api.AdapterSupport{},
		Drivers:          map[string]string{},
		SandboxProviders: map[string]map[string]any{},
		DriverAbilities:  map[string]environment.Capabilities{},
	}
	for _, name := range []string{environment.DriverLocal, environment.DriverSSH, environment.DriverSandbox, environment.DriverPlugin} {
		answer.Drivers[name] = "unsupported"
	}
	for _, one := range all {
		answer.Drivers[one.Driver] = "supported"
		answer.DriverAbilities[one.Driver] = one
	}
	return answer
}
