package handlers

import (
	"cmp"
	"encoding/json"
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

func supportWord(is bool) string {
	if is {
		return supported
	}
	return unsupported
}

// capabilitiesShape is the matrix: which drivers and providers are there, and on
// which of them the agents of an adapter can work. There are sandboxes when one
// provider of them is supported.
func capabilitiesShape(all []environment.Capabilities) api.Capabilities {
	answer := api.Capabilities{
		Adapters:         []api.AdapterSupport{},
		Drivers:          map[string]string{},
		SandboxProviders: map[string]api.SandboxProvider{},
		DriverAbilities:  map[string]environment.Capabilities{},
	}
	works := map[string]string{} // where the work of an adapter can be done
	for _, name := range []string{environment.DriverLocal, environment.DriverSSH, environment.DriverSandbox, environment.DriverPlugin} {
		answer.Drivers[name], works[name] = unsupported, unsupported
	}
	for _, one := range all {
		answer.DriverAbilities[one.Key().String()] = one
		if one.Unsupported == "" {
			answer.Drivers[one.Driver] = supported
			if one.Exec {
				works[one.Driver] = supported
			}
		}
		if one.Driver == environment.DriverSandbox {
			answer.SandboxProviders[one.Provider] = sandboxProviderShape(one)
		}
	}
	for _, adapter := range environment.RemoteAdapters() {
		row := api.AdapterSupport{AdapterType: adapter, Drivers: works, SandboxProviders: map[string]string{}}
		for key, provider := range answer.SandboxProviders {
			row.SandboxProviders[key] = supportWord(provider.Status == supported && provider.SupportsRunExecution)
		}
		answer.Adapters = append(answer.Adapters, row)
	}
	return answer
}

// sandboxProviderShape is what a provider says of itself.
func sandboxProviderShape(one environment.Capabilities) api.SandboxProvider {
	shape := api.SandboxProvider{
		Status:             supportWord(one.Unsupported == ""),
		SupportsSavedProbe: one.Exec, SupportsUnsavedProbe: one.Probe, SupportsRunExecution: one.Exec, SupportsReusableLeases: one.Resume,
		SupportsInteractiveSetup: one.InteractiveSetup, InteractiveSetupConnectionTypes: []string{},
		SupportsTemplateCapture: one.TemplateCapture, SupportsTemplateDelete: one.DeleteImage,
		DisplayName: one.DisplayName, Description: descriptionOf(one.Schema), Source: "builtin", ConfigSchema: json.RawMessage("null"),
		SupportsImageIdentity: one.Identify, SupportsListing: one.List, StartupBudgetMs: one.StartupBudgetMs,
	}
	if one.InteractiveSetup {
		shape.InteractiveSetupConnectionTypes = append(shape.InteractiveSetupConnectionTypes, "browser_terminal")
	}
	if one.TemplateCapture {
		shape.TemplateRefKind = new("image")
	}
	if one.Schema != "" {
		shape.ConfigSchema = json.RawMessage(one.Schema)
	}
	if one.Unsupported != "" {
		shape.Reason = &one.Unsupported
	}
	return shape
}

// descriptionOf is what a schema says that it is of.
func descriptionOf(schema string) string {
	var about struct {
		Title       string `json:"title"`
		Description string `json:"description"`
	}
	_ = json.Unmarshal([]byte(schema), &about) // what cannot be read says nothing
	return cmp.Or(about.Description, about.Title)
}
