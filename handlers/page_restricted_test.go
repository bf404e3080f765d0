package handlers

import (
	"strings"
	"testing"

	"berth/views"

	"github.com/PuerkitoBio/goquery"
)

// TestC73_MembersPagesHoldNothingHidden: what a member's pages leave out is not in
// their source either, and nothing on them looks as if it could be pressed.
func TestC73_MembersPagesHoldNothingHidden(t *testing.T) {
	h := newHouse(t, "member")
	env := views.Environments + "/" + h.ids["environment"]
	runs := "/companies/" + h.ids[":c"] + "/runs"
	for _, path := range []string{views.Environments, views.Environments + "?q=box", env, env + "?tab=leases", env + "?tab=runs",
		runs, runs + "/" + h.ids["run"]} {
		a := h.ask("member", "GET", path, "")
		if a.Status != 200 {
			t.Errorf("%s: %d %.200s", path, a.Status, a.Body)
			continue
		}
		if i := strings.Index(a.Body, "hidden.example"); i >= 0 {
			t.Errorf("%s: …%s…", path, a.Body[max(0, i-120):i+20])
		}
		doc, err := goquery.NewDocumentFromReader(strings.NewReader(a.Body))
		if err != nil {
			t.Fatal(err)
		}
		doc.Find("main form[method=post], main a[href$='/edit'], main a[href$='/delete'], main a[data-dialog]").Each(func(_ int, s *goquery.Selection) {
			if id, _ := s.Attr("id"); id != "run-form" {
				html, _ := goquery.OuterHtml(s)
				t.Errorf("%s offers %.200s", path, html)
			}
		})
		if strings.HasPrefix(path, env) || path == views.Environments {
			if !strings.Contains(doc.Find("main").Text(), "An instance admin can change environments") {
				t.Errorf("%s does not say who can change environments", path)
			}
		}
	}
	for _, path := range []string{env + "?tab=configuration", env + "?tab=activity", env + "/edit", views.NewPath} {
		if a := h.ask("member", "GET", path, ""); a.Status != 403 || !strings.Contains(a.Body, `id="error" data-state="forbidden"`) {
			t.Errorf("%s: %d %.200s", path, a.Status, a.Body)
		}
	}
}

// A member starts runs, but not on the machine that Berth runs on.
func TestRunFormOfAMemberRefusesLocal(t *testing.T) {
	for actor, refused := range map[string]int{"member": 1, "instance admin": 0} {
		h := newHouse(t, actor)
		a := h.ask(actor, "GET", "/companies/"+h.ids[":c"]+"/runs", "")
		doc, err := goquery.NewDocumentFromReader(strings.NewReader(a.Body))
		if err != nil {
			t.Fatal(err)
		}
		if got := state(doc, "#run-form"); got != "ready" {
			t.Errorf("%s: the form is %q", actor, got)
		}
		options := doc.Find("#f-environmentId option[disabled]")
		if options.Length() != refused || refused == 1 && !strings.Contains(options.Text(), "only instance admins") {
			t.Errorf("%s: %d choices are refused: %q", actor, options.Length(), options.Text())
		}
	}
}

func TestActivityPages(t *testing.T) {
	f := newFront(t)
	f.create("box")
	path := views.InstanceActivityPath
	for query, want := range map[string]string{"": "shown", "?action=environment.&actor=OPERATOR": "shown", "?actor=nobody-at-all": "no-match",
		"?since=2020-01-01&until=2020-01-02": "no-match"} {
		if doc := f.page(f.want(f.call("GET", path+query, ""), 200, nil)); state(doc, "#record") != want {
			t.Errorf("%s: the page is %q, want %q", query, state(doc, "#record"), want)
		}
	}
	bad := f.page(f.want(f.call("GET", path+"?since=soon", ""), 400, nil))
	if state(bad, "#record") != "error" || !strings.Contains(bad.Find("#record").Text(), "A day is written as") {
		t.Errorf("a day that is none: %q", state(bad, "#record"))
	}
	doc := f.page(f.call("GET", path+"?action=environment.&since=2026-01-02", ""))
	if csv, _ := doc.Find("a[download]").First().Attr("href"); csv != "/api/activity?action=environment.&format=csv&since=2026-01-02T00%3A00%3A00Z" {
		t.Errorf("the export is %q", csv)
	}
	if doc := f.page(f.want(f.call("GET", views.CompanyActivityPath(f.company), ""), 200, nil)); doc.Find("h1").Text() != "Activity" {
		t.Error("there is no page of the company's activity")
	}
}
