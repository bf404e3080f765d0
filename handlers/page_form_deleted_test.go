package handlers

import (
	"net/url"
	"strings"
	"testing"

	"berth/environment"
	"berth/views"
)

// TestSaveOfADeletedEnvironment says that it was deleted and by whom, and what
// was typed can be saved as a new one; with and without scripts.
func TestSaveOfADeletedEnvironment(t *testing.T) {
	for name, headers := range map[string][]string{"with htmx": {byHTMX}, "without": nil} {
		t.Run(name, func(t *testing.T) {
			f := newFront(t)
			id := f.create("build-box")
			path := views.Environments + "/" + id
			form := sshForm("build-box")
			form.Set("revision", "1")
			form.Set("description", "typed for long")
			form.Set("config.privateKey.source", "keep")
			form.Set("config.password.source", "paste")
			form.Set("config.password", "canary-1")
			for i, v := range [][3]string{{"STAGE", "plain", "test"}, {"API_TOKEN", "secret", ""}} {
				form.Set(views.VarField(i, "name"), v[0])
				form.Set(views.VarField(i, "type"), v[1])
				form.Set(views.VarField(i, "value"), v[2])
			}
			form.Set(views.VarField(1, "stored"), "API_TOKEN")
			f.want(f.call("DELETE", "/api/environments/"+id, ""), 200, nil)
			a := f.want(f.post(path, form, headers...), 422, nil)
			doc := f.page(a)
			said := doc.Find("#environment-form .note").Text()
			if state(doc, "#environment-form") != "deleted" || !strings.Contains(said, "“build-box” was deleted by local operator") || !strings.Contains(said, "stored secrets went with it") {
				t.Fatalf("the form is %q and says %q", state(doc, "#environment-form"), said)
			}
			if strings.Contains(a.Body, "canary") || !strings.HasPrefix(strings.TrimSpace(doc.Find("#save").Text()), "Save as new") {
				t.Errorf("a secret is shown, or it offers %q", doc.Find("#save").Text())
			}
			again := url.Values{}
			for _, e := range doc.Find("#form input, #form textarea, #form select").EachIter() {
				name, _ := e.Attr("name")
				value, _ := e.Attr("value")
				kind, _ := e.Attr("type")
				switch _, checked := e.Attr("checked"); {
				case (kind == "radio" || kind == "checkbox") && !checked:
				case e.Is("select"):
					value, _ = e.Find("option[selected]").Attr("value")
					again.Set(name, value)
				case e.Is("textarea"):
					again.Set(name, e.Text())
				default:
					again.Set(name, value)
				}
			}
			again.Set(views.VarField(1, "value"), "canary-2")
			action, _ := doc.Find("#form").Attr("action")
			to := f.want(f.post(action, again, byHTMX), 204, nil).Header.Get("HX-Redirect")
			fresh, err := environment.ParseID("environment", strings.TrimPrefix(strings.Split(to, "?")[0], views.Environments+"/"))
			if err != nil || fresh.String() == id {
				t.Fatalf("saved as %s, %v", to, err)
			}
			v, err := f.server.Catalogue.Get(t.Context(), environment.LocalOperator(), fresh)
			if err != nil || *v.Description != "typed for long" || v.EnvVars["STAGE"].Value != "test" || v.EnvVars["API_TOKEN"].Ref == nil || !strings.Contains(string(v.Config), "password") {
				t.Errorf("saved %+v %s, %v", v.EnvVars, v.Config, err)
			}
		})
	}
}

// TestSaveOfWhatNeverWas stays a plain "not found".
func TestSaveOfWhatNeverWas(t *testing.T) {
	f := newFront(t)
	f.want(f.post(views.Environments+"/"+environment.NewID().String(), sshForm("x")), 404, nil)
}

// TestTestOfADeletedEnvironmentsForm: the button beside Save says it too.
func TestTestOfADeletedEnvironmentsForm(t *testing.T) {
	f := newFront(t)
	form := sshForm("build-box")
	form.Set("id", f.create("build-box"))
	f.want(f.call("DELETE", "/api/environments/"+form.Get("id"), ""), 200, nil)
	f.want(f.post(views.Environments+"/drafts/check?field=description", form, byHTMX), 200, nil)
	a := f.want(f.post(views.Environments+"/drafts/probe", form, byHTMX), 422, nil)
	if a.Header.Get("HX-Retarget") != "#environment-form" || state(f.page(a), "#environment-form") != "deleted" {
		t.Errorf("answered %s to %q", a.Body, a.Header.Get("HX-Retarget"))
	}
}
