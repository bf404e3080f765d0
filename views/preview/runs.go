package preview

import (
	"berth/environment"
	"berth/environment/example"
	"berth/views"

	"github.com/a-h/templ"
)

func runPage(r environment.Run, log environment.LogPage) templ.Component {
	var lease *environment.Lease
	if r.LeaseID != nil {
		status := environment.LeaseActive
		if r.Status.Ended() {
			status = environment.LeaseReleased
		}
		l := example.Lease(status)
		lease = &l
	}
	return views.RunPage(views.NewRunPage(views.NewRunSummary(r, lease, true, example.Now()), views.NewRunOutput(r, log), 13))
}

func runForm(v views.RunValues, settings environment.Settings, failed *environment.Error) templ.Component {
	return views.RunForm(views.NewRunForm(example.Acme(), v, example.Environments(), true, settings, failed))
}

// runVariables are values with rows that are wrong, look secret, or are empty.
func runVariables() views.RunValues {
	v := views.NewRunValues()
	v.Command, v.EnvironmentID, v.Stdin = "make deploy", example.ReadySSH().ID.String(), environment.NewSecret("yes\n")
	v.Vars = []views.VarValue{{Name: "STAGE", Value: environment.NewSecret("test")}, {Name: "2ND", Value: environment.NewSecret("x")},
		{Name: "DEPLOY_TOKEN", Sealed: "sealed"}}
	return v
}

func runs() []Preview {
	var all []Preview
	for _, s := range environment.RunStatuses() {
		log := example.Log()
		if s == environment.RunQueued || s == environment.RunAcquiring || s == environment.RunPreparing {
			log = environment.LogPage{}
		}
		all = append(all, Preview{"run-page." + string(s), Runs, runPage(example.Run(s), log)})
	}
	failed := environment.AsError(environment.InvalidFields([]environment.FieldError{{Field: "command", Message: "Enter a command."}}))
	running, binary := example.Run(environment.RunSucceeded), environment.WorkspaceEntry{Path: "logo.png", Content: []byte{0x89, 'P', 'N', 'G', 0xff}, Size: 5}
	wrong := environment.AsError(environment.InvalidFields([]environment.FieldError{{Field: "env.2ND", Message: environment.EnvNameProblem("2ND")}}))
	files := func(e environment.WorkspaceEntry, failed *environment.Error) templ.Component {
		return views.RunFiles(views.NewRunFiles(running, e, failed))
	}
	escapes := environment.NewError(environment.KindForbidden, "path_escapes", "That leads out of the workspace, so it is not shown.")
	form := runForm(views.NewRunValues(), example.Settings(), nil)
	member := views.NewRunForm(example.Acme(), views.NewRunValues(), reduced(example.Environments()...), false, example.Settings(), nil)
	lease := example.Lease(environment.LeaseReleased).Reduced()
	seen := views.NewRunPage(views.NewRunSummary(running.Reduced(), &lease, true, example.Now()), views.NewRunOutput(running, example.Log()), 13)
	return append(all, []Preview{
		{"run-page.failed.unreached", Runs, runPage(example.UnreachedRun(), environment.LogPage{})},
		{"run-page.succeeded.cut", Runs, runPage(example.CutRun(), example.LogWithCut())},
		{"run-page.succeeded.environment-deleted", Runs, runPage(example.OrphanedRun(), example.Log())},
		{"run-output.none", Runs, views.RunOutput(views.NewRunOutput(running, environment.LogPage{}), false)},
		{"run-output.shown", Runs, views.RunOutput(views.NewRunOutput(running, example.Log()), false)},
		{"run-output.cut", Runs, views.RunOutput(views.NewRunOutput(running, example.LogWithCut()), false)},
		{"run-form.ready", Runs, form},
		{"run-form.ready.restricted", Runs, views.RunForm(member)},
		{"run-page.succeeded.restricted", Runs, views.RunPage(seen)},
		{"run-form.invalid", Runs, runForm(views.NewRunValues(), example.Settings(), failed)},
		{"run-form.invalid.variables", Runs, runForm(runVariables(), example.Settings(), wrong)},
		{"run-form.blocked", Runs, runForm(views.NewRunValues(), example.SettingsOff(), nil)},
		{"run-list.filled", Runs, views.RunList(views.NewRunList(example.Runs(), example.Now()))},
		{"run-list.none", Runs, views.RunList(views.NewRunList(nil, example.Now()))},
		{"run-files.idle", Runs, views.RunFiles(views.NewRunFilesIdle(running))},
		{"run-files.folder", Runs, files(example.Workspace(), nil)},
		{"run-files.empty", Runs, files(environment.WorkspaceEntry{Path: "docs", IsDir: true}, nil)},
		{"run-files.text", Runs, files(example.WorkspaceFile(), nil)},
		{"run-files.binary", Runs, files(binary, nil)},
		{"run-files.failed", Runs, files(environment.WorkspaceEntry{Path: "latest"}, escapes)},
	}...)
}

func instance() []Preview {
	general := func(failed *environment.Error) templ.Component {
		return views.GeneralSettings(views.NewGeneralSettings(views.GeneralValuesOf(example.Settings()), example.Environments(), failed))
	}
	experimental := func(failed *environment.Error) templ.Component {
		return views.ExperimentalSettings(views.NewExperimentalSettings(example.Settings(), failed))
	}
	wrong := environment.AsError(environment.InvalidFields([]environment.FieldError{{Field: "maxRunTimeoutSec", Message: "This is a number from 1 to 86400."}}))
	taken := environment.Conflict(environment.CodeNameTaken, "There is a company of that name already.")
	failure := func(e *environment.Error) templ.Component {
		return views.ErrorPage(views.NewErrorPage(e, "0199453c-10ff").For("", true))
	}
	return []Preview{
		{"general-settings.shown", Instance, general(nil)},
		{"general-settings.invalid", Instance, general(wrong)},
		{"experimental-settings.shown", Instance, experimental(nil)},
		{"experimental-settings.invalid", Instance, experimental(environment.Conflict("settings_changed", "The settings were changed in between. Load the page again."))},
		{"companies-page.shown", Instance, views.CompaniesPage(views.NewCompaniesPage(example.Companies(), true, "", nil))},
		{"companies-page.read-only", Instance, views.CompaniesPage(views.NewCompaniesPage(example.Companies()[:1], false, "", nil))},
		{"companies-page.none", Instance, views.CompaniesPage(views.NewCompaniesPage(nil, true, "", nil))},
		{"companies-page.invalid", Instance, views.CompaniesPage(views.NewCompaniesPage(example.Companies(), true, "Globex", taken))},
		{"error-page.not-found", Instance, failure(environment.NotFound("environment"))},
		{"error-page.forbidden", Instance, views.ErrorPage(views.NewErrorPage(environment.Forbidden("You may not do this. Ask an instance admin."), "").For(example.Ben().Name, true))},
		{"error-page.forbidden.outside", Instance, views.ErrorPage(views.NewErrorPage(environment.Forbidden("This server does not answer under that name."), "").For("", false))},
		{"error-page.refused", Instance, failure(environment.Conflict("environment_in_use", "Work is under way in this environment."))},
		{"error-page.database-away", Instance, failure(environment.Unavailable("database_away", "The database does not answer."))},
		{"error-page.server-error", Instance, failure(environment.AsError(errInside{}))},
	}
}

// errInside is a failure that nobody foresaw.
type errInside struct{}

func (errInside) Error() string { return "inside" }
