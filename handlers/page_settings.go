package handlers

import (
	"net/http"
	"strconv"
	"strings"

	"berth/environment"
	"berth/views"

	"github.com/labstack/echo/v4"
)

// generalPage shows the default environment and the limits.
func (s *server) generalPage(c echo.Context) error {
	settings, err := s.Catalogue.Settings(c.Request().Context(), s.actor(c))
	if err != nil {
		return err
	}
	return s.showGeneral(c, http.StatusOK, views.GeneralValuesOf(settings), nil)
}

// generalSave saves them.
func (s *server) generalSave(c echo.Context) error {
	f, err := form(c)
	if err != nil {
		return err
	}
	values := views.GeneralValues{DefaultEnvironmentID: f.Get("defaultEnvironmentId"), MaxRunTimeoutSec: f.Get("maxRunTimeoutSec")}
	patch, err := generalPatch(values)
	if err == nil {
		_, err = s.Catalogue.UpdateSettings(c.Request().Context(), s.actor(c), patch)
	}
	if err == nil {
		return redirect(c, done(views.GeneralPath, views.NoticeSettings))
	}
	if !isRefusedForm(err) {
		return err
	}
	return s.showGeneral(c, http.StatusUnprocessableEntity, values, environment.AsError(err))
}

func generalPatch(v views.GeneralValues) (environment.SettingsPatch, error) {
	patch := environment.SettingsPatch{ClearDefault: v.DefaultEnvironmentID == ""}
	if !patch.ClearDefault {
		id, err := idOf("environment", v.DefaultEnvironmentID)
		if err != nil {
			return patch, err
		}
		patch.DefaultEnvironmentID = &id
	}
	seconds, err := strconv.Atoi(strings.TrimSpace(v.MaxRunTimeoutSec))
	if err != nil {
		return patch, environment.InvalidFields([]environment.FieldError{{Field: "maxRunTimeoutSec", Message: "Enter a whole number of seconds."}})
	}
	patch.MaxRunTimeout = &seconds
	return patch, nil
}

// isRefusedForm reports whether an error is about what was typed.
func isRefusedForm(err error) bool {
	kind := environment.KindOf(err)
	return (kind == environment.KindInvalid || kind == environment.KindConflict) && !isOff(err)
}

// isOff reports whether environments are turned off: no other input helps, so a
// form answers as the API does.
func isOff(err error) bool { return environment.CodeOf(err) == environment.CodeEnvironmentsDisabled }

func (s *server) showGeneral(c echo.Context, status int, values views.GeneralValues, failed *environment.Error) error {
	ctx, actor := c.Request().Context(), s.actor(c)
	all, err := s.Catalogue.List(ctx, actor, environment.ListFilter{NotArchived: true, Sort: "name"})
	if err != nil {
		return err
	}
	page := views.NewGeneralSettings(values, all.Items, failed)
	return s.show(c, status, "General", views.SectionGeneral, views.GeneralSettings(page))
}

// experimentalPage shows the flags.
func (s *server) experimentalPage(c echo.Context) error {
	settings, err := s.Catalogue.Settings(c.Request().Context(), s.actor(c))
	if err != nil {
		return err
	}
	return s.showExperimental(c, http.StatusOK, settings, nil)
}

func (s *server) showExperimental(c echo.Context, status int, settings environment.Settings, failed *environment.Error) error {
	page := views.NewExperimentalSettings(settings, failed)
	return s.show(c, status, "Experimental", views.SectionExperimental, views.ExperimentalSettings(page))
}

// experimentalSave saves them. The switch of a page that says that environments
// are off changes only that, and names the page to go back to.
func (s *server) experimentalSave(c echo.Context) error {
	f, err := form(c)
	if err != nil {
		return err
	}
	on, only := f.Has("enableEnvironments"), f.Has("enableManagedSandboxOnly")
	patch, to := environment.SettingsPatch{EnableEnvironments: &on, EnableManagedSandboxOnly: &only}, done(views.ExperimentalPath, views.NoticeSettings)
	if f.Has("back") {
		patch.EnableManagedSandboxOnly, to = nil, localPath(f.Get("back"))
	}
	_, err = s.Catalogue.UpdateSettings(c.Request().Context(), s.actor(c), patch)
	switch {
	case err == nil:
		return redirect(c, to)
	case isRefusedForm(err):
		typed := environment.Settings{EnableEnvironments: on, EnableManagedSandboxOnly: only}
		return s.showExperimental(c, http.StatusUnprocessableEntity, typed, environment.AsError(err))
	}
	return err
}
