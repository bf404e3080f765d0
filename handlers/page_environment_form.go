package handlers

import (
	"context"
	"net/http"

	"berth/environment"
	"berth/views"

	"github.com/labstack/echo/v4"
)

// environmentNew shows the form of a new environment.
func (s *server) environmentNew(c echo.Context) error {
	return s.showForm(c, http.StatusOK, views.Form{Values: views.NewFormValues()})
}

// environmentEdit shows the form of a saved one.
func (s *server) environmentEdit(c echo.Context) error {
	id, err := pathID(c, "id", "environment")
	if err != nil {
		return err
	}
	saved, err := s.Catalogue.Get(c.Request().Context(), s.actor(c), id)
	if err != nil {
		return err
	}
	values, err := s.savedValues(c, saved)
	if err != nil {
		return err
	}
	return s.showForm(c, http.StatusOK, views.Form{Values: values, Saved: &saved})
}

// savedValues are those of a saved environment, by the fields of its driver.
func (s *server) savedValues(c echo.Context, saved environment.EnvironmentView) (views.FormValues, error) {
	values := views.FormValuesOf(saved.Environment)
	capabilities, err := s.Catalogue.Capabilities(c.Request().Context(), s.actor(c))
	if err != nil {
		return values, err
	}
	fields, err := fieldsOf(installed(capabilities, saved.Key()))
	return values.WithFields(fields, saved.Config), err
}

// environmentFormFor shows the form again for another driver or provider, with what
// was typed; nothing is saved.
func (s *server) environmentFormFor(c echo.Context) error {
	values, err := s.formValues(c)
	if err != nil {
		return err
	}
	f := views.Form{Values: values, Switched: true}
	if f.Saved, err = s.savedOf(c.Request().Context(), s.actor(c), values); err != nil {
		if environment.CodeOf(err) == environment.CodeEnvironmentNotFound {
			return s.refuseDeleted(c, values, err)
		}
		return err
	}
	if f.Saved != nil && f.Saved.Key() == environment.KeyOf(values.Driver, values.Provider) {
		saved, err := s.savedValues(c, *f.Saved) // back to what is stored
		if err != nil {
			return err
		}
		f.Values = values.BackTo(saved)
	}
	return s.showForm(c, http.StatusOK, f)
}

// environmentFormCreate saves a new environment.
func (s *server) environmentFormCreate(c echo.Context) error {
	values, err := s.formValues(c)
	if err == nil {
		err = values.Problem()
	}
	if err != nil {
		return s.refuseForm(c, values, err)
	}
	env, err := s.Catalogue.Create(c.Request().Context(), s.actor(c), values.Draft())
	if err != nil {
		return s.refuseForm(c, values, err)
	}
	return redirect(c, done(views.EnvironmentPath(env.ID), views.NoticeCreated))
}

// environmentSave saves an edit, unless somebody saved another in between.
func (s *server) environmentSave(c echo.Context) error {
	id, err := pathID(c, "id", "environment")
	if err != nil {
		return err
	}
	values, err := s.formValues(c)
	values.ID = &id
	if err == nil {
		err = values.Problem()
	}
	if err != nil {
		return s.refuseForm(c, values, err)
	}
	if _, err := s.Catalogue.Update(c.Request().Context(), s.actor(c), id, &values.Revision, values.Patch()); err != nil {
		return s.refuseForm(c, values, err)
	}
	return redirect(c, done(views.EnvironmentPath(id), views.NoticeSaved))
}

// refuseForm shows the form again with what was typed and why it was refused.
// What is no answer to the form is an ordinary refusal.
func (s *server) refuseForm(c echo.Context, values views.FormValues, err error) error {
	if isOff(err) {
		return err
	}
	if environment.CodeOf(err) == environment.CodeEnvironmentNotFound && values.ID != nil {
		return s.refuseDeleted(c, values, err)
	}
	r := refusalOf(err)
	switch r.err.Kind {
	case environment.KindNotFound, environment.KindForbidden, environment.KindUnauthenticated, environment.KindUnreadable:
		return err
	case environment.KindInvalid, environment.KindConflict:
		r.status = http.StatusUnprocessableEntity
	case environment.KindStale:
	default:
		if isFragment(c) {
			return err // the form stands on the page, untouched
		}
	}
	f := views.Form{Values: values, Failed: r.err}
	if values.ID != nil {
		saved, getErr := s.Catalogue.Get(c.Request().Context(), s.actor(c), *values.ID)
		switch {
		case environment.CodeOf(getErr) == environment.CodeEnvironmentNotFound:
			return s.refuseDeleted(c, values, getErr)
		case getErr != nil:
			return err
		}
		f.Saved = &saved
	}
	s.logRefusal(c, r)
	return s.showForm(c, r.status, f)
}

func (s *server) showForm(c echo.Context, status int, f views.Form) error {
	if err := s.fillForm(c, &f); err != nil {
		return err
	}
	title := "Add environment"
	if f.Saved != nil {
		title = "Edit " + f.Saved.Name
	}
	return s.show(c, status, title, views.SectionEnvironments, views.EnvironmentForm(views.NewEnvironmentForm(f, s.Now())))
}

// fillForm reads what a form shows beside its values, and seals the secrets
// among these.
func (s *server) fillForm(c echo.Context, f *views.Form) error {
	ctx, actor := c.Request().Context(), s.actor(c)
	var err error
	if f.Capabilities, err = s.Catalogue.Capabilities(ctx, actor); err != nil {
		return err
	}
	f.MayManage = mayManage(actor)
	if err := s.fillSaved(ctx, actor, f); err != nil {
		return err
	}
	if f.Shelf, err = s.shelf(c); err != nil {
		return err
	}
	f.Values.Seal(s.newKeys.seal)
	return nil
}

// fillSaved reads what a form shows of the row that it edits.
func (s *server) fillSaved(ctx context.Context, actor environment.Actor, f *views.Form) error {
	if f.Saved == nil || !f.MayManage {
		return nil
	}
	var err error
	if f.References, err = s.Catalogue.References(ctx, actor, f.Saved.Environment); err != nil {
		return err
	}
	if f.Saved.Managed { // what is locked was not sent
		vars := f.Values.Vars
		f.Values = views.FormValuesOf(f.Saved.Environment)
		f.Values.Vars = vars
	}
	f.Usage, err = s.usageOf(ctx, actor, f.Saved.Environment)
	return err
}

// usageOf is what of a budget is used; nil where nothing can be.
func (s *server) usageOf(ctx context.Context, actor environment.Actor, env environment.Environment) (*environment.Usage, error) {
	if env.Driver != environment.DriverSandbox && env.Budget == nil {
		return nil, nil
	}
	usage, err := s.Leasing.Usage(ctx, actor, env.ID)
	if err != nil {
		return nil, err
	}
	return &usage, nil
}

// probeForm tests the form's values. Without htmx the answer is the form with
// the whole result, when the test has ended.
func (s *server) probeForm(c echo.Context) error {
	values, err := s.formValues(c)
	if err == nil {
		err = values.Problem()
	}
	if err != nil {
		return s.refuseProbe(c, values, err)
	}
	company, err := s.pickedID(c)
	if err != nil {
		return err
	}
	ctx, actor := c.Request().Context(), s.actor(c)
	probe, err := s.Probing.StartDraft(ctx, actor, company, values.ID, values.Draft())
	if err != nil {
		return s.refuseProbe(c, values, err)
	}
	if isFragment(c) {
		return render(c, http.StatusOK, views.ProbePanel(views.NewProbePanel(probe, 0, true, s.Now())))
	}
	return s.showProbedForm(c, values, probe)
}

func (s *server) showProbedForm(c echo.Context, values views.FormValues, probe environment.Probe) error {
	ended, err := s.endOf(c, probe.ID)
	if err != nil {
		return err
	}
	f := views.Form{Values: values, Probe: &ended}
	if f.Saved, err = s.savedOf(c.Request().Context(), s.actor(c), values); err != nil {
		return err
	}
	return s.showForm(c, http.StatusOK, f)
}

// savedOf is the row that a form edits; nil for a new one.
func (s *server) savedOf(ctx context.Context, actor environment.Actor, values views.FormValues) (*environment.EnvironmentView, error) {
	if values.ID == nil {
		return nil, nil
	}
	saved, err := s.Catalogue.Get(ctx, actor, *values.ID)
	return &saved, err
}

// refuseProbe shows the whole form where its fields are wrong; a test of it was
// asked for, but htmx waits for a panel.
func (s *server) refuseProbe(c echo.Context, values views.FormValues, err error) error {
	if e := environment.AsError(err); len(e.Fields) == 0 && e.Code != environment.CodeEnvironmentNotFound {
		return err
	}
	c.Response().Header().Set("HX-Retarget", "#environment-form")
	c.Response().Header().Set("HX-Reswap", "outerHTML show:none")
	return s.refuseForm(c, values, err)
}
