package handlers

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"berth/environment"
	"berth/environment/secrets"
	"berth/views"
)

// secret makes a secret of the front's company and returns its id.
func (f *front) secret(name, value string) string {
	f.t.Helper()
	s, err := f.server.Secrets.Create(f.t.Context(), environment.LocalOperator(), f.company, secrets.New{Name: name, Value: environment.NewSecret(value)})
	if err != nil {
		f.t.Fatal(err)
	}
	return s.ID.String()
}

// saved posts the form of a new environment and returns what was saved.
func (f *front) saved(form url.Values) environment.EnvironmentView {
	f.t.Helper()
	to := f.want(f.post(views.Environments, form, byHTMX), 204, nil).Header.Get("HX-Redirect")
	path, _, _ := strings.Cut(to, "?")
	id, err := environment.ParseID("environment", path[strings.LastIndex(path, "/")+1:])
	if err != nil {
		f.t.Fatal(err)
	}
	v, err := f.server.Catalogue.Get(f.t.Context(), environment.LocalOperator(), id)
	if err != nil {
		f.t.Fatal(err)
	}
	return v
}

func refOf(t *testing.T, v environment.EnvironmentView, key string) environment.SecretRef {
	t.Helper()
	var config map[string]json.RawMessage
	var ref environment.SecretRef
	if err := json.Unmarshal(v.Config, &config); err != nil {
		t.Fatal(err)
	}
	if len(config[key]) > 0 {
		if err := json.Unmarshal(config[key], &ref); err != nil {
			t.Fatal(err)
		}
	}
	return ref
}

func TestFormChoosesACompanysSecret(t *testing.T) {
	f := newFront(t)
	id := f.secret("deploy-key", "canary-key")
	form := sshForm("box")
	form.Set("config.password.source", "choose")
	form.Set("config.password.secret", id)
	form.Set("env.0.name", "TOKEN_OF_BOX")
	form.Set("env.0.type", "choose")
	form.Set("env.0.secret", id)
	form.Set("env.0.version", "1")
	v := f.saved(form)
	if ref := refOf(t, v, "passwordSecretRef"); ref.SecretID.String() != id || ref.Version != "latest" {
		t.Errorf("the password is %+v", ref)
	}
	if ref := v.EnvVars["TOKEN_OF_BOX"].Ref; ref == nil || ref.SecretID.String() != id || ref.Version != "1" {
		t.Errorf("the variable is %+v", ref)
	}
	doc := f.page(f.want(f.call("GET", views.EditPath(v.ID), ""), 200, nil))
	if got := state(doc, "#pick-config-password"); got != "shared" {
		t.Errorf("the picker is %q", got)
	}
	if text := doc.Find("#pick-config-password .held").Text(); !strings.Contains(text, "Acme · deploy-key · latest, version 1") {
		t.Errorf("the picker says %q", text)
	}
	if chosen, _ := doc.Find("#f-env-0-secret option[selected]").Attr("value"); chosen != id {
		t.Errorf("the row has %q chosen", chosen)
	}

	again := sshForm("box")
	again.Set("revision", "1")
	again.Set("config.password.source", "choose")
	again.Set("config.password.secret", id)
	again.Set("config.password.version", "1")
	f.want(f.post(views.EnvironmentPath(v.ID), again, byHTMX), 204, nil)
	if doc := f.page(f.call("GET", views.EditPath(v.ID), "")); state(doc, "#pick-config-password") != "pinned" {
		t.Errorf("pinned, the picker is %q", state(doc, "#pick-config-password"))
	}
	again.Set("config.password.version", "7")
	again.Set("revision", "2")
	doc = f.page(f.want(f.post(views.EnvironmentPath(v.ID), again, byHTMX), 422, nil))
	if doc.Find("#f-config-password-err").Text() == "" {
		t.Error("a version that is not there is not said at its field")
	}
}

func TestFormMakesACompanysSecret(t *testing.T) {
	f := newFront(t)
	form := sshForm("box")
	form.Set("config.password.source", "create")
	form.Set("config.password.company", f.company.String())
	doc := f.page(f.want(f.post(views.Environments, form, byHTMX), 422, nil))
	if text := doc.Find("#f-config-password-err").Text(); text != "Give the new secret a name." {
		t.Errorf("without a name: %q", text)
	}
	form.Set("config.password.title", "made here")
	form.Set("config.password.new", "canary-new")
	form.Set("env.0.name", "B")
	form.Set("env.0.type", "create")
	form.Set("env.0.company", f.company.String())
	form.Set("env.0.title", "of a variable")
	form.Set("env.0.value", "canary-var")
	v := f.saved(form)
	page, err := f.server.Secrets.List(t.Context(), environment.LocalOperator(), f.company, "", 10, "")
	if err != nil || len(page.Items) != 2 {
		t.Fatalf("%d secrets, %v", len(page.Items), err)
	}
	if ref := refOf(t, v, "passwordSecretRef"); ref.SecretID != page.Items[0].ID {
		t.Errorf("the password is %+v, want %s", ref, page.Items[0].ID)
	}
	if ref := v.EnvVars["B"].Ref; ref == nil || ref.SecretID != page.Items[1].ID {
		t.Errorf("the variable is %+v", ref)
	}
	form.Set("name", "another")
	doc = f.page(f.want(f.post(views.Environments, form, byHTMX), 422, nil))
	if text := doc.Find("#f-config-password-err").Text(); text == "" {
		t.Errorf("a name that is taken is not said at its field: %s", doc.Find(".note").Text())
	}
}

// TestC75_RefusedFormKeepsSecrets: what was typed is kept without being shown,
// and saved by the next try without being typed again.
func TestC75_RefusedFormKeepsSecrets(t *testing.T) {
	f := newFront(t)
	form := sshForm("")
	form.Set("config.password", "canary-password")
	form.Set("config.passphrase.source", "create")
	form.Set("config.passphrase.new", "canary-phrase")
	form.Set("config.passphrase.title", "phrase")
	form.Set("config.passphrase.company", f.company.String())
	form.Set("env.0.name", "SERVICE_TOKEN")
	form.Set("env.0.value", "canary-token")
	a := f.want(f.post(views.Environments, form), 422, nil)
	if strings.Contains(a.Body, "canary") {
		t.Fatal("a secret is sent back")
	}
	doc := f.page(a)
	for _, field := range []string{"config.password", "config.passphrase", "env.0"} {
		sealed, there := doc.Find("input[name='" + field + ".held']").Attr("value")
		if !there {
			t.Errorf("%s is lost", field)
		}
		form.Set(field+".held", sealed)
	}
	form.Set("name", "box")
	form.Set("config.password", "")
	form.Set("config.passphrase.new", "")
	form.Set("env.0.value", "")
	v := f.saved(form)
	spec, vars, err := f.server.Catalogue.Spec(t.Context(), v.Environment, environment.SecretUse{Purpose: environment.ForRun})
	if err != nil || spec.Secrets["password"].Reveal() != "canary-password" || spec.Secrets["passphrase"].Reveal() != "canary-phrase" {
		t.Errorf("saved %d secrets, %v", len(spec.Secrets), err)
	}
	if len(vars) != 1 || vars[0].Value.Reveal() != "canary-token" {
		t.Errorf("saved %d variables", len(vars))
	}
	form.Set("config.password.held", newNewKeys(nil).seal(environment.NewSecret("x")))
	form.Set("name", "other")
	doc = f.page(f.want(f.post(views.Environments, form), 422, nil))
	if text := doc.Find("#f-config-password-err").Text(); !strings.Contains(text, "server was restarted") {
		t.Errorf("what another process sealed: %q", text)
	}
}

// TestC70_DotEnvLandsInTheForm: with htmx the rows, without the whole form; what
// looks secret is kept out of sight and is saved all the same.
func TestC70_DotEnvLandsInTheForm(t *testing.T) {
	f := newFront(t)
	form := sshForm("box")
	form.Set("env.0.name", "A")
	form.Set("env.0.value", "1")
	form.Set("dotenv", "# x\r\nB=\"two\r\nlines\"\r\nMY_TOKEN=canary-token\r\nA=2\r\nBERTH_X=3\r\nnonsense\r\n")
	for name, headers := range map[string][]string{"a browser": nil, "htmx": {byHTMX}} {
		t.Run(name, func(t *testing.T) {
			a := f.want(f.post(views.Environments+"/drafts/dotenv", form, headers...), 200, nil)
			doc := f.page(a)
			if strings.Contains(a.Body, "canary") {
				t.Error("a secret is sent back")
			}
			if whole := doc.Find("#environment-form").Length() == 1; whole != (headers == nil) {
				t.Errorf("the whole form: %v", whole)
			}
			if got := state(doc, "#dotenv-read"); got != "problems" {
				t.Errorf("the text is %q", got)
			}
			if n := doc.Find("#vars .var").Length(); n != 7 { // A, four pasted, two spare
				t.Errorf("%d rows", n)
			}
			if n := doc.Find("#vars .err").Length(); n != 2 {
				t.Errorf("%d rows are wrong, want A and BERTH_X: %s", n, doc.Find("#vars .err").Text())
			}
			if kind, _ := doc.Find("#f-env-2-type option[selected]").Attr("value"); kind != "secret" {
				t.Errorf("MY_TOKEN is %q", kind)
			}
			sealed, _ := doc.Find("input[name='env.2.held']").Attr("value")
			save := sshForm("box of " + name)
			save.Set("env.0.name", "MY_TOKEN")
			save.Set("env.0.type", "secret")
			save.Set("env.0.held", sealed)
			if v := f.saved(save); v.EnvVars["MY_TOKEN"].Ref == nil {
				t.Errorf("saved %+v", v.EnvVars)
			}
		})
	}
}

func TestSecretPages(t *testing.T) {
	f := newFront(t)
	list := views.SecretsPath(f.company)
	if doc := f.page(f.want(f.call("GET", list, ""), 200, nil)); state(doc, "#secrets") != "none" {
		t.Errorf("without secrets the page is %q", state(doc, "#secrets"))
	}
	wrong := f.want(f.post(list, url.Values{"value": {"canary-1"}}), 422, nil)
	doc := f.page(wrong)
	sealed, there := doc.Find("input[name='value.held']").Attr("value")
	if doc.Find("#f-name-err").Text() == "" || !there || strings.Contains(wrong.Body, "canary") {
		t.Errorf("a nameless one: %q, kept %v", doc.Find("#f-name-err").Text(), there)
	}
	f.want(f.post(list, url.Values{"name": {"key"}, "value.held": {sealed}}, byHTMX), 204, nil)
	if doc := f.page(f.want(f.post(list, url.Values{"name": {"KEY"}, "value": {"x"}}), 422, nil)); doc.Find("#f-name-err").Text() == "" {
		t.Error("a name that is taken is not said at its field")
	}
	page, err := f.server.Secrets.List(t.Context(), environment.LocalOperator(), f.company, "", 10, "")
	if err != nil || len(page.Items) != 1 {
		t.Fatalf("%d secrets, %v", len(page.Items), err)
	}
	path := views.SecretPath(f.company, page.Items[0].ID)
	f.want(f.post(path+"/rotate", url.Values{"value": {"canary-2"}}, byHTMX), 204, nil)
	f.want(f.post(path, url.Values{"name": {"renamed"}, "description": {"for tests"}}, byHTMX), 204, nil)
	f.want(f.post(path, url.Values{"disabled": {"yes"}}, byHTMX), 204, nil)
	a := f.want(f.call("GET", path, ""), 200, nil)
	doc = f.page(a)
	if state(doc, "#secret") != "disabled" || doc.Find("h1").Text() != "renamed" || doc.Find("#secret-versions tbody tr").Length() != 2 {
		t.Errorf("the page is %q of %q", state(doc, "#secret"), doc.Find("h1").Text())
	}
	if strings.Contains(a.Body, "canary") {
		t.Error("a value is shown")
	}
	f.want(f.post(path, url.Values{"disabled": {"no"}}, byHTMX), 204, nil)
	if doc := f.page(f.want(f.post(path+"/rotate", url.Values{"value": {""}}), 422, nil)); doc.Find("#f-value-err").Text() == "" {
		t.Error("an empty value is not refused at its field")
	}

	form := sshForm("box")
	form.Set("config.password.source", "choose")
	form.Set("config.password.secret", page.Items[0].ID.String())
	v := f.saved(form)
	if doc := f.page(f.want(f.call("GET", path+"/delete", ""), 200, nil)); state(doc, "#secret-delete") != "in-use" || !strings.Contains(doc.Text(), "box") {
		t.Errorf("in use, the question is %q", state(doc, "#secret-delete"))
	}
	f.want(f.post(path+"/delete", nil, byHTMX), 422, nil)
	if _, err := f.server.Catalogue.Delete(t.Context(), environment.LocalOperator(), v.ID, environment.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	f.want(f.post(path+"/delete", nil, byHTMX), 204, nil)
	f.want(f.call("GET", path, ""), 404, nil)
}

func TestSecretOfAnotherCompanyIsNotFound(t *testing.T) {
	f := newFront(t)
	id := f.secret("key", "x")
	other, err := f.server.Catalogue.CreateCompany(t.Context(), environment.LocalOperator(), "Other")
	if err != nil {
		t.Fatal(err)
	}
	f.want(f.call("GET", views.SecretsPath(other.ID)+"/"+id, ""), 404, nil)
	f.want(f.post(views.SecretsPath(other.ID)+"/"+id+"/rotate", url.Values{"value": {"x"}}), 404, nil)
	f.want(f.post(views.SecretsPath(other.ID)+"/"+id+"/delete", nil), 404, nil)
}
