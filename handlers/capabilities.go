package handlers

import (
	"net/http"

	"berth/environment"
	"berth/handlers/api"

	"github.com/labstack/echo/v4"
)

// capabilities answers GET /api/companies/:c/environments/capabilities, and
// GET /api/environments/capabilities. Nothing is reached: it is what the installed
// drivers say of themselves.
func (s *server) capabilities(c echo.Context) error {
	if c.Param("c") != "" {
		if _, err := s.company(c); err != nil {
			return err
		}
	}
	all, err := s.Catalogue.Capabilities(c.Request().Context(), s.actor(c))
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, capabilitiesShape(all))
}

// The words of the matrix.
const (
	supported   = "supported"
	unsupported = "unsupported"
)

// capabilitiesShape is the matrix: which drivers are there, and on which of them
// the agents of an adapter can work.
func capabilitiesShape(all []environment.Capabilities) api.Capabilities {
	answer := api.Capabilities{
		Adapters:         []api.AdapterSupport{},
		Drivers:          map[string]string{},
		SandboxProviders: map[string]map[string]any{},
		DriverAbilities:  map[string]environment.Capabilities{},
	}
	drivers := []string{environment.DriverLocal, environment.DriverSSH, environment.DriverSandbox, environment.DriverPlugin}
	for _, name := range drivers {
		answer.Drivers[name] = unsupported
	}
	for _, one := range all {
		answer.Drivers[one.Driver] = supported
		answer.DriverAbilities[one.Driver] = one
	}
	for _, adapter := range environment.RemoteAdapters() {
		row := api.AdapterSupport{AdapterType: adapter, Drivers: map[string]string{}, SandboxProviders: map[string]string{}}
		for _, name := range drivers {
			row.Drivers[name] = unsupported
			if answer.DriverAbilities[name].Exec {
				row.Drivers[name] = supported
			}
		}
		answer.Adapters = append(answer.Adapters, row)
	}
	return answer
}
