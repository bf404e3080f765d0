package handlers

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"berth/environment"
	"berth/views"

	"github.com/labstack/echo/v4"
)

// The form's helpers answer with fragments, and with 200 also where the answer
// is that something is wrong: that is what was asked.

// draftCheck says what is wrong with one field.
func (s *server) draftCheck(c echo.Context) error {
	values, err := s.formValues(c)
	if err != nil {
		return err
	}
	field := c.QueryParam("field")
	if !slices.Contains(views.CheckedFields(), field) && !values.Has(field) {
		return unreadableField("invalid_query", "field", "There is no such field.")
	}
	_, err = s.Catalogue.Check(c.Request().Context(), s.actor(c), values.ID, values.Draft())
	if values.ID != nil && environment.CodeOf(err) == environment.CodeEnvironmentNotFound {
		// It was deleted meanwhile, which a save will say; a field is as good as before.
		values, _ = values.AsNew()
		_, err = s.Catalogue.Check(c.Request().Context(), s.actor(c), nil, values.Draft())
	}
	if err != nil && environment.KindOf(err) != environment.KindInvalid && environment.KindOf(err) != environment.KindConflict {
		return err
	}
	return render(c, http.StatusOK, views.FieldCheck(field, environment.AsError(err), values.ImageAt(field)))
}

// draftScan asks the form's host for its keys.
func (s *server) draftScan(c echo.Context) error {
	values, err := s.formValues(c)
	if err != nil {
		return err
	}
	port, err := strconv.Atoi(strings.TrimSpace(values.Port))
	if strings.TrimSpace(values.Port) == "" {
		port, err = 22, nil
	}
	if err != nil {
		port = 0 // refused, with the words that belong to it
	}
	keys, err := s.Catalogue.ScanHostKeys(c.Request().Context(), s.actor(c), values.ID, values.Host, port, values.ProxyJump)
	if kind := environment.KindOf(err); err != nil && (isOff(err) || kind == environment.KindForbidden || kind == environment.KindInternal) {
		return err
	}
	return render(c, http.StatusOK, views.ScanResult(views.NewScanResult(keys, environment.AsError(err))))
}

// draftKey says what a pasted key is.
func (s *server) draftKey(c echo.Context) error {
	f, err := form(c)
	if err != nil {
		return err
	}
	facts, err := s.Catalogue.InspectKey(c.Request().Context(), s.actor(c), secretOf(f, "config.privateKey"), secretOf(f, "config.passphrase"))
	if err != nil && environment.KindOf(err) != environment.KindInvalid {
		return err
	}
	return render(c, http.StatusOK, views.KeyFacts(views.NewKeyFacts(facts, environment.AsError(err))))
}

// draftGenerateKey makes a pair; the private half stays sealed.
func (s *server) draftGenerateKey(c echo.Context) error {
	private, facts, err := s.Catalogue.GenerateKey(c.Request().Context(), s.actor(c), "berth")
	if err != nil {
		return err
	}
	return render(c, http.StatusOK, views.KeyFacts(views.NewGeneratedKey(facts, s.newKeys.seal(private))))
}

// draftSSHConfig reads a pasted block of an ssh client's config.
func (s *server) draftSSHConfig(c echo.Context) error {
	f, err := form(c)
	if err != nil {
		return err
	}
	config, ignored, err := s.Catalogue.ReadSSHConfig(c.Request().Context(), s.actor(c), lines(f.Get("sshConfig")))
	if err != nil && environment.KindOf(err) != environment.KindInvalid {
		return err
	}
	return render(c, http.StatusOK, views.ClientConfig(views.NewClientConfig(config, ignored, environment.AsError(err))))
}

// draftDotEnv reads a pasted .env text into rows of variables. Without htmx the
// answer is the whole form with them.
func (s *server) draftDotEnv(c echo.Context) error {
	values, err := s.formValues(c)
	if err != nil {
		return s.refuseForm(c, values, err)
	}
	vars, problems := environment.ParseDotEnv(c.Request().PostForm.Get("dotenv"))
	values, result := values.TakeDotEnv(vars, problems)
	f := views.Form{Values: values, DotEnv: &result}
	if f.Saved, err = s.savedOf(c.Request().Context(), s.actor(c), values); err != nil {
		return err
	}
	if !isFragment(c) {
		return s.showForm(c, http.StatusOK, f)
	}
	if err := s.fillForm(c, &f); err != nil {
		return err
	}
	return render(c, http.StatusOK, views.VariablesSection(views.NewEnvironmentForm(f, s.Now())))
}
