package handlers

import (
	"net/http"

	"berth/environment"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
)

// settingsPatchBody changes what it names.
type settingsPatchBody struct {
	DefaultEnvironmentID nullable[uuid.UUID] `json:"defaultEnvironmentId"`
	MaxRunTimeoutSec     optional[int]       `json:"maxRunTimeoutSec"`
}

// experimentalPatchBody changes what it names.
type experimentalPatchBody struct {
	EnableEnvironments       optional[bool] `json:"enableEnvironments"`
	EnableManagedSandboxOnly optional[bool] `json:"enableManagedSandboxOnly"`
}

// settingsPatch answers PATCH /api/instance/settings. null clears the default.
func (s *server) settingsPatch(c echo.Context) error {
	var body settingsPatchBody
	if err := decodeBody(c, &body); err != nil {
		return err
	}
	settings, err := s.Catalogue.UpdateSettings(c.Request().Context(), s.actor(c), environment.SettingsPatch{
		DefaultEnvironmentID: body.DefaultEnvironmentID.Value,
		ClearDefault:         body.DefaultEnvironmentID.Set && body.DefaultEnvironmentID.Value == nil,
		MaxRunTimeout:        body.MaxRunTimeoutSec.pointer(),
	})
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, settingsShape(settings))
}

// experimentalPatch answers PATCH /api/instance/settings/experimental.
func (s *server) experimentalPatch(c echo.Context) error {
	var body experimentalPatchBody
	if err := decodeBody(c, &body); err != nil {
		return err
	}
	settings, err := s.Catalogue.UpdateSettings(c.Request().Context(), s.actor(c), environment.SettingsPatch{
		EnableEnvironments:       body.EnableEnvironments.pointer(),
		EnableManagedSandboxOnly: body.EnableManagedSandboxOnly.pointer(),
	})
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, experimentalShape(settings))
}
