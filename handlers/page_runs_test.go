package handlers

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"berth/environment"
)

// TestRunFormKeepsVariablesAndInput refuses a form and sends what came back: the
// run gets what was typed at first, and no page has shown what looks secret.
func TestRunFormKeepsVariablesAndInput(t *testing.T) {
	f := newFront(t)
	runs := "/companies/" + f.company.String() + "/runs"
	typed := url.Values{"command": {"cat"}, "shell": {"on"}, "timeoutSec": {"60"}, "environmentId": {f.create("build-box")},
		"env.0.name": {"STAGE"}, "env.0.value": {"two\r\nlines"}, "env.1.name": {"DEPLOY_TOKEN"}, "env.1.value": {"canary-1"},
		"env.2.name": {"2ND"}, "env.2.value": {"x"}, "env.3.name": {""}, "env.3.value": {""},
		"stdin": {"-----BEGIN OPENSSH PRIVATE KEY-----\r\ncanary-2\r\n-----END OPENSSH PRIVATE KEY-----\r\n"}}
	a := f.want(f.post(runs, typed), 422, nil)
	if strings.Contains(a.Body, "canary") {
		t.Error("the refused form shows a secret")
	}
	doc := f.page(a)
	if _, open := doc.Find("#run-more").Attr("open"); !open || doc.Find("#vars .var").Length() != 5 {
		t.Errorf("%d rows, open: %t; want three and two spare ones in sight", doc.Find("#vars .var").Length(), open)
	}
	if said := strings.TrimSpace(doc.Find("#vars .err").Text()); said != environment.EnvNameProblem("2ND") {
		t.Errorf("of the wrong row it says %q", said)
	}
	again := url.Values{"command": typed["command"], "shell": {"on"}, "timeoutSec": {"60"}, "environmentId": typed["environmentId"]}
	for _, e := range doc.Find("#run-more input, #run-more textarea").EachIter() {
		name, _ := e.Attr("name")
		value, _ := e.Attr("value")
		if kind, _ := e.Attr("type"); kind != "checkbox" {
			again.Set(name, value)
		}
	}
	again.Set("env.2.name", "SECOND")
	f.want(f.post(runs, again, byHTMX), 204, nil)
	eventually(t, "the command starts", func() bool { return f.driver.order.Load() != nil })
	order, got := f.driver.order.Load(), map[string]string{}
	for _, v := range order.Env {
		got[v.Name] = v.Value.Reveal()
		if v.Masked != (v.Name == "DEPLOY_TOKEN") {
			t.Errorf("%s is masked: %t", v.Name, v.Masked)
		}
	}
	if want := map[string]string{"STAGE": "two\nlines", "DEPLOY_TOKEN": "canary-1", "SECOND": "x"}; !maps.Equal(got, want) {
		t.Errorf("variables %v, want %v", got, want)
	}
	if want := strings.ReplaceAll(typed.Get("stdin"), "\r\n", "\n"); string(order.Stdin) != want {
		t.Errorf("input %q, want %q", order.Stdin, want)
	}
}

func TestRunFormRefusesOfVariablesAndInput(t *testing.T) {
	f := newFront(t)
	for name, c := range map[string]struct {
		change url.Values
		want   string
		status int
	}{
		"twice":    {url.Values{"env.0.name": {"A"}, "env.0.value": {"1"}, "env.1.name": {"A"}, "env.1.value": {"2"}}, "There are two variables of this name.", 422},
		"no name":  {url.Values{"env.0.name": {""}, "env.0.value": {"1"}}, environment.EnvNameProblem(""), 422},
		"of ours":  {url.Values{"env.0.name": {"BERTH_X"}, "env.0.value": {"1"}}, environment.EnvNameProblem("BERTH_X"), 422},
		"too long": {url.Values{"stdin": {strings.Repeat("x", environment.MaxStdin+1)}}, "Standard input has at most 512 KiB.", 422},
		"removed":  {url.Values{"env.0.name": {"2ND"}, "env.0.value": {"1"}, "env.0.remove": {"on"}}, "", 204},
		"longest":  {url.Values{"stdin": {strings.Repeat("x", environment.MaxStdin)}}, "", 204},
	} {
		t.Run(name, func(t *testing.T) {
			form := url.Values{"command": {"true"}, "environmentId": {f.create("box " + name)}}
			maps.Copy(form, c.change)
			doc := f.page(f.want(f.post("/companies/"+f.company.String()+"/runs", form, byHTMX), c.status, nil))
			said := doc.Find("#run-more .err").EachIter()
			var all []string
			for _, e := range said {
				all = append(all, strings.TrimSpace(e.Text()))
			}
			if c.want != "" && !slices.Contains(all, c.want) {
				t.Errorf("it says %q, want %q", all, c.want)
			}
		})
	}
}
