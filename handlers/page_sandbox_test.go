package handlers

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"berth/environment"
	"berth/environment/catalogue"
	"berth/handlers/api"
	"berth/views"

	"github.com/PuerkitoBio/goquery"
)

// sandboxForm is what the form of a new sandbox sends.
func sandboxForm(name, image string) url.Values {
	return url.Values{"name": {name}, "driver": {"sandbox"}, "config.provider": {"docker"}, "shown": {"sandbox/docker"}, "config.image": {image},
		"budget.accountLabel": {""}}
}

// saved reads an environment that a form has made.
func (f *front) savedAt(to string) api.Environment {
	f.t.Helper()
	id, _, _ := strings.Cut(strings.TrimPrefix(to, views.Environments+"/"), "?")
	var env api.Environment
	f.want(f.call("GET", "/api/environments/"+id, ""), 200, &env)
	return env
}

// TestSandboxFormSaves: each kind of field arrives as what it is, and what is left
// empty is not stored.
func TestSandboxFormSaves(t *testing.T) {
	f := newFront(t)
	f.stays = true
	form := sandboxForm("box", "zebra.example/app:1")
	for name, value := range map[string]string{"config.memoryMiB": " 64 ", "config.reuseLease": "on", "config.requiredTools": "git\r\n\r\npython3\r\n",
		"config.labels.0.key": "team", "config.labels.0.value": "a", "config.labels.1.key": "", "config.labels.1.value": "",
		"config.registryPassword": "canary-password", "config.registryPassword.source": "paste", "config.engine": "",
		"budget.accountLabel": "team-a", "budget.maxLeases": "2"} {
		form.Set(name, value)
	}
	env := f.savedAt(f.want(f.post(views.Environments, form, byHTMX), 204, nil).Header.Get("HX-Redirect"))
	var config map[string]any
	if err := json.Unmarshal(env.Config, &config); err != nil {
		t.Fatal(err)
	}
	if config["memoryMiB"] != 64.0 || config["reuseLease"] != true || config["registryPasswordSecretRef"] == nil || config["engine"] != nil {
		t.Errorf("stored: %s", env.Config)
	}
	if got, _ := json.Marshal([]any{config["requiredTools"], config["labels"]}); string(got) != `[["git","python3"],{"team":"a"}]` {
		t.Errorf("list and map: %s", got)
	}
	if env.Budget == nil || env.Budget.AccountLabel != "team-a" || env.Budget.MaxLeases != 2 || env.Budget.LeaseMinutesPerDay != 0 {
		t.Errorf("budget: %+v", env.Budget)
	}
	// The form shows them again, and a secret never.
	path := views.EditPath(env.ID)
	a := f.want(f.call("GET", path, ""), 200, nil)
	doc := f.page(a)
	if v, _ := doc.Find("#f-config-memoryMiB").Attr("value"); v != "64" || doc.Find("[name='config.labels.0.key'][value=team]").Length() != 1 {
		t.Errorf("the form of %s shows memory %q", path, v)
	}
	if doc.Find("#f-config-reuseLease[checked]").Length() != 1 || doc.Find("#config-main .unit").Text() != "MiB" || strings.Contains(a.Body, "canary") {
		t.Error("the switch is off, the unit is not there, or a secret is")
	}
	// Emptied is unset again.
	again := sandboxForm("box", "zebra.example/app:1")
	again.Set("revision", "1")
	f.want(f.post(views.EnvironmentPath(env.ID), again), 303, nil)
	if env = f.savedAt(views.EnvironmentPath(env.ID)); strings.Contains(string(env.Config), "memoryMiB") || strings.Contains(string(env.Config), "labels") || env.Budget != nil {
		t.Errorf("after it was emptied: %s, %+v", env.Config, env.Budget)
	}
	if !strings.Contains(string(env.Config), "registryPasswordSecretRef") {
		t.Errorf("an empty field lost the stored secret: %s", env.Config)
	}
}

// TestC39_DigestSurvivesTheForm: shown, saved without a change, it is the same
// text, and its parts are shown.
func TestC39_DigestSurvivesTheForm(t *testing.T) {
	f := newFront(t)
	f.stays = true
	image := "registry.test:5000/team/app@" + scriptedDigest
	env := f.savedAt(f.want(f.post(views.Environments, sandboxForm("box", image), byHTMX), 204, nil).Header.Get("HX-Redirect"))
	for range 2 {
		a := f.want(f.call("GET", views.EditPath(env.ID), ""), 200, nil)
		doc := f.page(a)
		shown, _ := doc.Find("#f-config-image").Attr("value")
		parts := strings.Join(doc.Find("#image-parts dd").Map(func(_ int, s *goquery.Selection) string { return s.Text() }), " ")
		if shown != image || strings.Contains(a.Body, ":sha256:") || parts != "registry.test:5000 team/app none "+scriptedDigest {
			t.Errorf("it shows %q and %q", shown, parts)
		}
		form := sandboxForm("box", shown)
		form.Set("revision", "1")
		f.want(f.post(views.EnvironmentPath(env.ID), form), 303, nil)
		if env = f.savedAt(views.EnvironmentPath(env.ID)); !strings.Contains(string(env.Config), `"image":"`+image+`"`) || env.Revision != 1 {
			t.Errorf("saved as it was it is %s of revision %d", env.Config, env.Revision)
		}
	}
}

// TestSandboxFormRefused: 422, the message at each field, what was typed kept, the
// secret out of sight, the group of a wrong field open and the first one in focus.
func TestSandboxFormRefused(t *testing.T) {
	f := newFront(t)
	form := sandboxForm("box", "Zebra/App")
	form.Set("config.memoryMiB", "lots")
	form.Set("config.registryPassword", "canary-password")
	form.Set("config.labels.0.key", "a")
	form.Set("config.labels.1.key", "a")
	form.Set("budget.maxLeases", "many")
	doc := f.page(f.want(f.post(views.Environments, form, byHTMX), 422, nil))
	if state(doc, "#environment-form") != "invalid" || doc.Find("#f-config-labels-err").Text() == "" || doc.Find("#f-budget-maxLeases-err").Text() == "" {
		t.Errorf("the form is %s", state(doc, "#environment-form"))
	}
	if doc.Find("#budget[open]").Length() != 1 {
		t.Error("the budget, which is wrong, is folded away")
	}
	form.Del("config.labels.1.key")
	form.Set("budget.maxLeases", "")
	a := f.want(f.post(views.Environments, form, byHTMX), 422, nil)
	doc = f.page(a)
	if doc.Find("#f-config-memoryMiB-err").Text() == "" || doc.Find("#f-config-memoryMiB[value=lots]").Length() != 1 || strings.Contains(a.Body, "canary") {
		t.Errorf("memory: %q", doc.Find("#f-config-memoryMiB-err").Text())
	}
	if held, _ := doc.Find("[name='config.registryPassword.held']").Attr("value"); held == "" {
		t.Error("the typed secret is lost")
	}
	if doc.Find("[autofocus]").Length() != 1 {
		t.Errorf("%d fields have the focus", doc.Find("[autofocus]").Length())
	}
}

// TestFormSwitchesDrivers: what was typed stays, the fields are the other one's, and
// nothing is saved; for htmx and without scripts.
func TestFormSwitchesDrivers(t *testing.T) {
	f := newFront(t)
	path := views.Environments + "/drafts/form"
	for name, headers := range map[string][]string{"htmx": {byHTMX}, "a browser": nil} {
		doc := f.page(f.want(f.post(path, url.Values{"name": {"kept"}, "driver": {"sandbox"}, "shown": {"ssh"}, "env.0.name": {"A"}, "env.0.value": {"b"}}, headers...), 200, nil))
		form := doc.Find("#environment-form")
		if state(doc, "#environment-form") != "new" || form.Find("#f-config-image").Length() != 1 || form.Find("#f-config-host").Length() != 0 {
			t.Errorf("%s: the form is not Docker's", name)
		}
		if form.Find("#f-name[value=kept]").Length() != 1 || form.Find("[name='env.0.value'][value=b]").Length() != 1 || form.Find("form[data-dirty]").Length() != 1 {
			t.Errorf("%s: what was typed is lost, or not guarded", name)
		}
	}
	host := f.create("host")
	doc := f.page(f.want(f.post(path, url.Values{"id": {host}, "revision": {"1"}, "name": {"host"}, "driver": {"sandbox"}}), 200, nil))
	if doc.Find("#f-config-image").Length() != 1 || doc.Find("input[name=id]").AttrOr("value", "") != host {
		t.Error("a saved one is not switched")
	}
	doc = f.page(f.want(f.post(path, url.Values{"id": {host}, "revision": {"1"}, "name": {"renamed"}, "driver": {"ssh"}, "shown": {"sandbox/docker"}}), 200, nil))
	if doc.Find("#f-config-host").AttrOr("value", "") != "box.test" || doc.Find("#f-name").AttrOr("value", "") != "renamed" {
		t.Error("back again, what is stored is not there")
	}
	var all []api.Environment
	if f.want(f.call("GET", "/api/environments", ""), 200, &all); len(all) != 2 || all[0].Name != "host" || all[0].Driver != "ssh" {
		t.Errorf("something was saved: %+v", all)
	}
}

// TestFieldCheckShowsTheImage: leaving the field brings its error and its parts.
func TestFieldCheckShowsTheImage(t *testing.T) {
	f := newFront(t)
	path := views.Environments + "/drafts/check?field=config."
	doc := f.page(f.want(f.post(path+"image", sandboxForm("box", "registry.test:5000/team/app:1.2@"+scriptedDigest), byHTMX), 200, nil))
	if state(doc, "#image-parts") != "pinned" || !strings.Contains(doc.Find("#image-parts").Text(), "1.2") || doc.Find("#f-config-image-err").Text() != "" {
		t.Errorf("parts are %s: %s", state(doc, "#image-parts"), doc.Find("#image-parts").Text())
	}
	form := sandboxForm("box", "a")
	form.Set("config.memoryMiB", "1")
	if doc = f.page(f.want(f.post(path+"memoryMiB", form, byHTMX), 200, nil)); doc.Find("#f-config-memoryMiB-err").Text() == "" || doc.Find("#image-parts").Length() != 0 {
		t.Error("there is no message, or parts of no image")
	}
	f.want(f.post(path+"nothing", form, byHTMX), 400, nil)
}

// TestC63_ADriverThatIsGoneBreaksNoPage: list, detail, edit and delete answer, say
// so, and keep the settings.
func TestC63_ADriverThatIsGoneBreaksNoPage(t *testing.T) {
	f := newFront(t)
	f.stays = true
	for name, e := range map[string]environment.Environment{
		"gone":  {Driver: "acme", Config: json.RawMessage(`{"host":"x"}`)},
		"other": {Driver: environment.DriverSandbox, Config: json.RawMessage(`{"provider":"acme","image":"a:1"}`)},
	} {
		e.ID, e.Name, e.Status, e.Revision, e.ConfigRevision = environment.NewID(), name, environment.StatusActive, 1, 1
		if _, err := f.store.CreateEnvironment(t.Context(), catalogue.Write{Environment: e, ConfigChanged: true}); err != nil {
			t.Fatal(err)
		}
		path := views.EnvironmentPath(e.ID)
		list := f.page(f.want(f.call("GET", views.Environments, ""), 200, nil))
		row := list.Find("#env-" + e.ID.String())
		if row.AttrOr("data-state", "") != "driver-missing" || !strings.Contains(row.Text(), "not installed") || row.Find("button:contains(Test)").Length() != 0 {
			t.Errorf("%s: the row says %q", name, row.Text())
		}
		for _, at := range []string{"", "?tab=configuration", "?tab=leases", "?tab=runs", "?tab=activity", "/edit", "/delete"} {
			f.want(f.call("GET", path+at, ""), 200, nil)
		}
		if doc := f.page(f.call("GET", path, "")); state(doc, "#environment") != "driver-missing" || !strings.Contains(doc.Find("#capability").Text(), "acme") {
			t.Errorf("%s: the page is %s", name, state(doc, "#environment"))
		}
		if doc := f.page(f.call("GET", path+"/edit", "")); state(doc, "#environment-form") != "driver-missing" || doc.Find("#save[disabled]").Length() != 1 {
			t.Errorf("%s: the form is %s", name, state(doc, "#environment-form"))
		}
		f.want(f.post(path+"/delete", nil), 303, nil)
	}
}

// TestManagedFormSavesItsVariables, and nothing else, whatever is sent.
func TestManagedFormSavesItsVariables(t *testing.T) {
	f := newFront(t)
	f.stays = true
	managed := &environment.ManagedSandbox{Name: "managed", Provider: "docker", Config: map[string]json.RawMessage{"image": json.RawMessage(`"` + pinned + `"`)}}
	if err := f.server.Catalogue.ProvisionManaged(t.Context(), managed); err != nil {
		t.Fatal(err)
	}
	var all []api.Environment
	f.want(f.call("GET", "/api/environments?driver=sandbox", ""), 200, &all)
	if len(all) != 1 {
		t.Fatalf("environments: %+v", all)
	}
	path := views.EnvironmentPath(all[0].ID)
	doc := f.page(f.want(f.call("GET", path+"/edit", ""), 200, nil))
	if state(doc, "#environment-form") != "managed" || doc.Find("#f-name, #f-config-image").Length() != 0 || !strings.Contains(doc.Find("#locked").Text(), "registry.test:5000/team/app") {
		t.Errorf("the form is %s", state(doc, "#environment-form"))
	}
	form := url.Values{"id": {all[0].ID.String()}, "revision": {"1"}, "onlyVars": {"1"}, "driver": {"ssh"}, "name": {"mine"}, "env.0.name": {"STAGE"}, "env.0.value": {"test"}}
	f.want(f.post(path, form), 303, nil)
	if env := f.savedAt(path); env.Name != "managed" || env.Driver != "sandbox" || env.EnvVars["STAGE"].Value == nil {
		t.Errorf("saved: %+v", env)
	}
	form.Del("onlyVars")
	form.Set("revision", "2")
	if doc = f.page(f.want(f.post(path, form), 422, nil)); state(doc, "#environment-form") == "saved" || doc.Find("#locked").Length() != 1 {
		t.Errorf("unlocked by hand: %s", state(doc, "#environment-form"))
	}
	if doc = f.page(f.want(f.call("GET", path, ""), 200, nil)); doc.Find("#environment-head form[action$=archive], #environment-head a:contains(Delete)").Length() != 0 || state(doc, "#qualification-notice") != "not_required" {
		t.Errorf("the page: %s", doc.Find("#environment-head").Text())
	}
}
