package handlers

import (
	"net/http"
	"strconv"
	"strings"

	"berth/environment"
	"berth/environment/access"
	"berth/views"

	"github.com/labstack/echo/v4"
)

// generalPage shows the default environment and the limits.
func (s *server) generalPage(c echo.Context) error { return s.showGeneral(c, http.StatusOK, "", nil) }

// generalSave saves them.
func (s *server) generalSave(c echo.Context) error {
	f, err := form(c)
	if err != nil {
		return err
	}
	var patch environment.SettingsPatch
	if text := f.Get("defaultEnvironmentId"); text == "" {
		patch.ClearDefault = true
	} else if id, err := idOf("environment", text); err != nil {
		return err
	} else {
		patch.DefaultEnvironmentID = &id
	}
	seconds, err := strconv.Atoi(strings.TrimSpace(f.Get("maxRunTimeoutSec")))
	if err != nil {
		err = environment.InvalidFields([]environment.FieldError{{Field: "maxRunTimeoutSec", Message: "Enter a whole number of seconds."}})
		return s.showGeneral(c, http.StatusUnprocessableEntity, f.Get("maxRunTimeoutSec"), environment.AsError(err))
	}
	patch.MaxRunTimeout = &seconds
	if _, err := s.Catalogue.UpdateSettings(c.Request().Context(), s.actor(c), patch); err != nil {
		if !isRefusedForm(err) {
			return err
		}
		return s.showGeneral(c, http.StatusUnprocessableEntity, f.Get("maxRunTimeoutSec"), environment.AsError(err))
	}
	return redirect(c, done(views.GeneralPath, views.NoticeSettings))
}

// isRefusedForm reports whether an error is about what was typed.
func isRefusedForm(err error) bool {
	kind := environment.KindOf(err)
	return kind == environment.KindInvalid || kind == environment.KindConflict
}

func (s *server) showGeneral(c echo.Context, status int, maxRun string, failed *environment.Error) error {
	ctx, actor := c.Request().Context(), s.actor(c)
	settings, err := s.Catalogue.Settings(ctx, actor)
	if err != nil {
		return err
	}
	all, err := s.Catalogue.List(ctx, actor, environment.ListFilter{NotArchived: true, Sort: "name"})
	if err != nil {
		return err
	}
	page := views.NewGeneralSettings(settings, all.Items, maxRun, mayManageSettings(actor), failed)
	return s.show(c, status, "General", views.SectionGeneral, views.GeneralSettings(page))
}

func mayManageSettings(actor environment.Actor) bool {
	return access.May(actor, access.ManageSettings, access.Instance) == nil
}

// experimentalPage shows the flags.
func (s *server) experimentalPage(c echo.Context) error {
	settings, err := s.Catalogue.Settings(c.Request().Context(), s.actor(c))
	if err != nil {
		return err
	}
	page := views.NewExperimentalSettings(settings, mayManageSettings(s.actor(c)), nil)
	return s.show(c, http.StatusOK, "Experimental", views.SectionExperimental, views.ExperimentalSettings(page))
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
	if _, err := s.Catalogue.UpdateSettings(c.Request().Context(), s.actor(c), patch); err != nil {
		return err
	}
	return redirect(c, to)
}
