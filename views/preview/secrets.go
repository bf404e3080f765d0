package preview

import (
	"berth/environment"
	"berth/environment/example"
	"berth/views"

	"github.com/a-h/templ"
)

// shelf are both companies' secrets; Acme is worked in.
func shelf() views.Shelf {
	working := example.Acme().ID
	return views.Shelf{Working: &working, Companies: []views.CompanySecrets{
		{Company: example.Acme(), Secrets: example.Secrets()},
		{Company: example.Globex(), Secrets: []environment.StoredSecret{example.GlobexSecret()}}}}
}

func picker(stored *environment.SecretReference, choice views.SecretChoice, s views.Shelf, problem string) templ.Component {
	return views.SecretPicker(views.NewSecretPicker(views.SecretField{Name: "config.password", Label: "Password", Choice: choice, Stored: stored, Error: problem}, s))
}

// broken are build-box's references to a company's secret that is gone and to one
// that is disabled.
func broken() map[string]environment.SecretReference {
	return map[string]environment.SecretReference{
		"config.privateKey": {Ref: environment.RefTo(example.StoredSecret().ID)},
		"envVars.NPM_TOKEN": example.SharedReference(example.Secrets()[2], "latest"),
	}
}

// sharing are its references to companies' secrets: a pinned version, the latest.
func sharing() map[string]environment.SecretReference {
	return map[string]environment.SecretReference{
		"config.privateKey": example.SharedReference(example.Secrets()[0], "2"),
		"envVars.NPM_TOKEN": example.SharedReference(example.Secrets()[1], "latest"),
	}
}

func pickers() []Preview {
	owned := example.SecretReferences()["config.privateKey"]
	latest, pinned := example.SharedReference(example.Secrets()[0], "latest"), example.SharedReference(example.Secrets()[0], "2")
	missing := environment.SecretReference{Ref: latest.Ref}
	disabled, foreign := example.SharedReference(example.Secrets()[2], "latest"), example.SharedReference(example.GlobexSecret(), "latest")
	nothing := views.Shelf{Working: shelf().Working, Companies: []views.CompanySecrets{{Company: example.Acme()}}}
	plain := views.SecretChoice{}
	return []Preview{
		{"secret-picker.none", Secrets, picker(nil, plain, shelf(), "")},
		{"secret-picker.none.typed", Secrets, picker(nil, views.SecretChoice{Source: views.SourcePaste, Sealed: "c2VhbGVk"}, shelf(), "")},
		{"secret-picker.none.choose", Secrets, picker(nil, views.SecretChoice{Source: views.SourceChoose}, shelf(), "Choose a secret.")},
		{"secret-picker.none.create", Secrets, picker(nil, views.SecretChoice{Source: views.SourceCreate, Title: "deploy-key"}, shelf(), "This name is taken.")},
		{"secret-picker.owned", Secrets, picker(&owned, plain, shelf(), "")},
		{"secret-picker.shared", Secrets, picker(&latest, plain, shelf(), "")},
		{"secret-picker.pinned", Secrets, picker(&pinned, views.SecretChoice{Source: views.SourceChoose}, shelf(), "")},
		{"secret-picker.missing", Secrets, picker(&missing, plain, shelf(), "")},
		{"secret-picker.disabled", Secrets, picker(&disabled, plain, shelf(), "")},
		{"secret-picker.other-company", Secrets, picker(&foreign, plain, shelf(), "")},
		{"secret-picker.empty", Secrets, picker(nil, plain, nothing, "")},
		{"secret-picker.restricted", Secrets, picker(&owned, plain, views.Shelf{}, "")},
	}
}

// dotEnv is a text as people paste it, with three lines that need another look.
func dotEnv() (views.FormValues, views.DotEnvResult) {
	vars, problems := environment.ParseDotEnv("# build\nNODE_ENV=test\nexport CACHE=\"/var/cache\"\nNPM_TOKEN=npm_x\nBERTH_RUN_ID=1\nno assignment\n")
	values, result := views.FormValuesOf(example.ReadySSH().Environment).TakeDotEnv(vars, problems)
	values.Seal(func(environment.Secret) string { return "c2VhbGVk" })
	return values, result
}

func dotEnvs() []Preview {
	read := func(text string) templ.Component {
		vars, problems := environment.ParseDotEnv(text)
		_, result := views.NewFormValues().TakeDotEnv(vars, problems)
		return views.DotEnvRead(result)
	}
	return []Preview{
		{"dot-env-read.taken", Secrets, read("A=1\nNPM_TOKEN=x\n")},
		{"dot-env-read.problems", Secrets, read("A=1\nA=2\nBERTH_X=1\nnonsense\nB='x\n")},
		{"dot-env-read.nothing", Secrets, read("# nothing\n")},
	}
}

// secretPage is the page of the first of Acme's secrets.
func secretPage(change func(*views.SecretDetail)) templ.Component {
	d := views.SecretDetail{Company: example.Acme(), Secret: example.Secrets()[0], Versions: example.SecretVersions(),
		Bindings: example.SecretBindings(), Accesses: example.SecretAccesses()}
	change(&d)
	return views.SecretPage(views.NewSecretPage(d, example.Now()))
}

func secretPages() []Preview {
	list := func(all []environment.StoredSecret, v views.SecretValues, failed *environment.Error) templ.Component {
		return views.SecretsPage(views.NewSecretsPage(example.Acme(), all, v, failed, example.Now()))
	}
	remove := func(uses []environment.SecretBinding, failed *environment.Error) templ.Component {
		return views.SecretDelete(views.NewSecretDelete(example.Secrets()[0], uses, failed))
	}
	taken := environment.AsError(environment.InvalidFields([]environment.FieldError{{Field: "name", Message: "There is a secret of this name already."}}))
	empty := environment.AsError(environment.InvalidFields([]environment.FieldError{{Field: "value", Message: "Enter a value."}}))
	changed := environment.Conflict("secret_changed", "Somebody else stored a new value in between.").Remedy("Look at its versions and try again.")
	return []Preview{
		{"secrets-page.shown", Secrets, list(example.Secrets(), views.SecretValues{}, nil)},
		{"secrets-page.none", Secrets, list(nil, views.SecretValues{}, nil)},
		{"secrets-page.invalid", Secrets, list(example.Secrets(), views.SecretValues{Name: "Deploy-Key", Sealed: "c2VhbGVk"}, taken)},
		{"secret-page.active", Secrets, secretPage(func(*views.SecretDetail) {})},
		{"secret-page.active.unused", Secrets, secretPage(func(d *views.SecretDetail) { d.Bindings, d.Accesses = nil, nil })},
		{"secret-page.disabled", Secrets, secretPage(func(d *views.SecretDetail) { d.Secret.Disabled = true })},
		{"secret-page.invalid", Secrets, secretPage(func(d *views.SecretDetail) { d.Failed = empty })},
		{"secret-page.invalid.changed", Secrets, secretPage(func(d *views.SecretDetail) { d.Failed = changed })},
		{"secret-delete.ready", Secrets, remove(nil, nil)},
		{"secret-delete.ready.refused", Secrets, remove(nil, environment.Unavailable("database_away", "The database does not answer."))},
		{"secret-delete.in-use", Secrets, remove(example.SecretBindings(), nil)},
	}
}

func records() []Preview {
	page := func(change func(*views.Record)) templ.Component {
		company := example.Acme()
		r := views.Record{Company: &company, Page: environment.Page[environment.Activity]{Items: example.Activity()}}
		change(&r)
		return views.ActivityPage(views.NewActivityPage(r, example.Now()))
	}
	unreadable := environment.NewError(environment.KindUnreadable, "invalid_query", "A day is written as 2026-09-14.")
	unreadable.Fields = []environment.FieldError{{Field: "since", Message: unreadable.Message}}
	query := views.ActivityQuery{Action: "environment.", Actor: "dana", Since: "2026-09-01"}
	return []Preview{
		{"activity-page.shown", Record, page(func(r *views.Record) { r.Page.Next = "next" })},
		{"activity-page.shown.instance", Record, page(func(r *views.Record) { r.Company = nil })},
		{"activity-page.shown.filtered", Record, page(func(r *views.Record) { r.Query = query })},
		{"activity-page.none", Record, page(func(r *views.Record) { r.Page.Items = nil })},
		{"activity-page.no-match", Record, page(func(r *views.Record) { r.Page.Items, r.Query = nil, query })},
		{"activity-page.error", Record, page(func(r *views.Record) { r.Query.Since, r.Failed = "soon", unreadable })},
	}
}
