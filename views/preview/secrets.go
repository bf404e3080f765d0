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
