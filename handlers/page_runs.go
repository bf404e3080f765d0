package handlers

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"berth/environment"
	"berth/environment/access"
	"berth/environment/running"
	"berth/views"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
)

// runsLimit is how many runs the list shows.
const runsLimit = 100

// runsPage shows a company's runs and the form of a new one.
func (s *server) runsPage(c echo.Context) error {
	return s.showRuns(c, http.StatusOK, views.NewRunValues(), nil)
}

// runsPost starts a run.
func (s *server) runsPost(c echo.Context) error {
	company, err := pathID(c, "c", "company")
	if err != nil {
		return err
	}
	f, err := form(c)
	if err != nil {
		return err
	}
	values, err := s.runValues(f)
	var in running.Input
	if err == nil {
		in, err = runInput(company, values)
	}
	if err == nil {
		var run environment.Run
		if run, err = s.Running.Start(c.Request().Context(), s.actor(c), in); err == nil {
			return redirect(c, views.RunPath(company, run.ID))
		}
	}
	if !isRefusedForm(err) {
		return err
	}
	values.Seal(s.newKeys.seal)
	return s.showRuns(c, http.StatusUnprocessableEntity, values, environment.AsError(err))
}

// runValues reads the form. What stands for something typed before is opened; an
// error says at which field that did not work, after everything was read.
func (s *server) runValues(f url.Values) (views.RunValues, error) {
	var lost lostSecrets
	v := views.RunValues{EnvironmentID: f.Get("environmentId"), Command: lines(f.Get("command")), Shell: f.Has("shell"), Title: f.Get("title"),
		Cwd: f.Get("cwd"), TimeoutSec: f.Get("timeoutSec"), Stdin: environment.NewSecret(lines(f.Get("stdin"))), Native: f.Has("native")}
	if sealed := f.Get("stdin.held"); sealed != "" && v.Stdin.Empty() {
		v.Stdin = s.reopen(sealed, "stdin", &lost)
	}
	v.Vars = s.formVars(f, "env.", &lost)
	return v, lost.err()
}

// runInput is what the form asks for. An empty command and a missing environment
// are for running to refuse.
func runInput(company uuid.UUID, v views.RunValues) (running.Input, error) {
	in := running.Input{CompanyID: company, Command: v.Argv(), Title: given(v.Title), Cwd: given(v.Cwd), Native: v.Native}
	if !v.Stdin.Empty() {
		in.Stdin = []byte(v.Stdin.Reveal())
	}
	var wrong []environment.FieldError
	if in.Env, wrong = v.Env(); len(wrong) > 0 {
		return in, environment.InvalidFields(wrong)
	}
	if v.EnvironmentID != "" {
		id, err := idOf("environment", v.EnvironmentID)
		if err != nil {
			return in, err
		}
		in.EnvironmentID = &id
	}
	if text := strings.TrimSpace(v.TimeoutSec); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			return in, environment.InvalidFields([]environment.FieldError{{Field: "timeoutSec", Message: "Enter a whole number of seconds."}})
		}
		in.TimeoutSec = &n
	}
	return in, nil
}

func given(text string) *string {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return &text
}

func (s *server) showRuns(c echo.Context, status int, values views.RunValues, failed *environment.Error) error {
	id, err := pathID(c, "c", "company")
	if err != nil {
		return err
	}
	ctx, actor := c.Request().Context(), s.actor(c)
	company, err := s.Catalogue.Company(ctx, actor, id)
	if err != nil {
		return err
	}
	settings, err := s.Catalogue.Flags(ctx)
	if err != nil {
		return err
	}
	usable, err := s.usable(ctx, actor)
	if err != nil {
		return err
	}
	runs, err := s.Running.List(ctx, actor, running.Filter{CompanyID: &id, Limit: runsLimit})
	if err != nil {
		return err
	}
	targets, err := s.runTargets(ctx, actor, usable, company.ID)
	if err != nil {
		return err
	}
	runForm := views.NewRunForm(company, values, usable, mayLocal(actor), settings, failed).WithTargets(targets)
	page := views.NewRunsPage(company, runForm, views.NewRunList(runs.Items, s.Now()))
	return s.show(c, status, "Runs", views.SectionRuns, views.RunsPage(page))
}

// usable are the environments that the actor may know of.
func (s *server) usable(ctx context.Context, actor environment.Actor) ([]environment.EnvironmentView, error) {
	if access.May(actor, access.ReadEnvironments, access.Instance) != nil {
		return nil, nil
	}
	page, err := s.Catalogue.List(ctx, actor, environment.ListFilter{Status: environment.StatusActive, Sort: "name"})
	return page.Items, err
}

// maxTargets bounds of how many sandbox environments the form of a run says more.
const maxTargets = 50

// runTargets are what is known of the sandboxes before something runs there. Who
// sees environments reduced is not told how native work stands.
func (s *server) runTargets(ctx context.Context, actor environment.Actor, usable []environment.EnvironmentView, company uuid.UUID) ([]views.RunTarget, error) {
	var targets []views.RunTarget
	whole := access.May(actor, access.SeeWhole, access.Instance) == nil
	for _, v := range usable {
		if v.Driver != environment.DriverSandbox || len(targets) == maxTargets {
			continue
		}
		t := views.RunTarget{View: v}
		if whole {
			var err error
			if t.Usage, err = s.usageOf(ctx, actor, v.Environment); err != nil {
				return nil, err
			}
			admission, err := s.Catalogue.Admission(ctx, v.Environment, company)
			if err != nil {
				return nil, err
			}
			t.Admission = &admission
		}
		targets = append(targets, t)
	}
	return targets, nil
}

// mayLocal tells whether an actor may run work on the Berth host.
func mayLocal(actor environment.Actor) bool {
	return access.May(actor, access.RunOnLocal, access.Instance) == nil
}
