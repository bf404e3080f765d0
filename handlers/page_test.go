package handlers

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"berth/environment"
	"berth/views"
	"berth/views/preview"

	"github.com/PuerkitoBio/goquery"
)

const (
	byHTMX = "HX-Request: true"
	asForm = "Content-Type: application/x-www-form-urlencoded"
)

// post sends a form.
func (f *front) post(path string, form url.Values, headers ...string) answer {
	f.t.Helper()
	return f.call("POST", path, form.Encode(), append([]string{asForm}, headers...)...)
}

// page reads an answer as HTML.
func (f *front) page(a answer) *goquery.Document {
	f.t.Helper()
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(a.Body))
	if err != nil {
		f.t.Fatal(err)
	}
	return doc
}

func state(doc *goquery.Document, selector string) string {
	s, _ := doc.Find(selector).Attr("data-state")
	return s
}

func sshForm(name string) url.Values {
	return url.Values{"name": {name}, "driver": {"ssh"}, "config.host": {"box.test"}, "config.port": {"22"}, "config.username": {"runner"},
		"config.remoteWorkspacePath": {"/work"}}
}

// TestC77_FragmentOnlyForHTMX asks for the list in the three ways.
func TestC77_FragmentOnlyForHTMX(t *testing.T) {
	f := newFront(t)
	f.create("build-box")
	for name, c := range map[string]struct {
		headers []string
		whole   bool
	}{
		"a browser":            {nil, true},
		"htmx":                 {[]string{byHTMX}, false},
		"htmx restores a page": {[]string{byHTMX, "HX-History-Restore-Request: true"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			a := f.want(f.call("GET", views.Environments+"?q=build", "", c.headers...), 200, nil)
			if whole := strings.HasPrefix(strings.ToLower(a.Body), "<!doctype html>"); whole != c.whole {
				t.Errorf("whole document %v, want %v", whole, c.whole)
			}
			if vary := strings.Join(a.Header.Values("Vary"), ","); !strings.Contains(vary, "HX-Request") {
				t.Errorf("Vary: %q, want HX-Request in it", vary)
			}
			if n := f.page(a).Find("#rows > li").Length(); n != 1 {
				t.Errorf("%d rows, want 1", n)
			}
		})
	}
}

// TestC75_RefusedFormKeepsWhatWasTyped: 422, a message at each field, typed
// values kept, secrets not sent back, no page within the form.
func TestC75_RefusedFormKeepsWhatWasTyped(t *testing.T) {
	f := newFront(t)
	form := sshForm("")
	form.Del("config.host")
	form.Set("config.username", "kept")
	form.Set("config.password", "canary-password")
	form.Set("config.privateKey", "canary-key")
	form.Set("env.0.name", "SERVICE_TOKEN")
	form.Set("env.0.value", "canary-token")
	for name, headers := range map[string][]string{"a browser": nil, "htmx": {byHTMX}} {
		t.Run(name, func(t *testing.T) {
			a := f.want(f.post(views.Environments, form, headers...), 422, nil)
			doc := f.page(a)
			if got := state(doc, "#environment-form"); got != "invalid" {
				t.Errorf("the form is %q, want invalid", got)
			}
			if got := doc.Find("#f-name-err").Text(); got == "" {
				t.Error("there is no message at the name")
			}
			if got, _ := doc.Find("#f-config-username").Attr("value"); got != "kept" {
				t.Errorf("the user is %q, want kept", got)
			}
			if strings.Contains(a.Body, "canary") {
				t.Error("a secret is sent back")
			}
			if n := doc.Find("main").Length(); n != map[bool]int{true: 0, false: 1}[headers != nil] {
				t.Errorf("%d <main>", n)
			}
			if _, focused := doc.Find("#f-name").Attr("autofocus"); !focused {
				t.Error("the first bad field does not get the focus")
			}
		})
	}
}

func TestFormSavesAndSendsOn(t *testing.T) {
	f := newFront(t)
	created := f.want(f.post(views.Environments, sshForm("build-box"), byHTMX), 204, nil)
	to := created.Header.Get("HX-Redirect")
	if !strings.HasPrefix(to, views.Environments+"/") || !strings.HasSuffix(to, "?done=created") {
		t.Fatalf("htmx is sent to %q", to)
	}
	path, _, _ := strings.Cut(to, "?")
	if doc := f.page(f.want(f.call("GET", to, ""), 200, nil)); state(doc, "#environment") != "active" || doc.Find("#toasts .toast").Length() != 1 {
		t.Errorf("the page is %q with %d notices", state(doc, "#environment"), doc.Find("#toasts .toast").Length())
	}
	form := sshForm("build-box 2")
	form.Set("revision", "1")
	plain := f.want(f.post(path, form), 200, nil) // 303, followed
	if got := f.page(plain).Find("h1").Text(); got != "build-box 2" {
		t.Errorf("after the save the page is of %q", got)
	}
}

// TestStaleSaveShowsBothVersions saves from a form that somebody came before.
func TestStaleSaveShowsBothVersions(t *testing.T) {
	f := newFront(t)
	path := views.Environments + "/" + f.create("build-box")
	first, second := sshForm("build-box"), sshForm("build-box")
	first.Set("revision", "1")
	first.Set("description", "from the first")
	second.Set("revision", "1")
	second.Set("description", "from the second")
	f.want(f.post(path, first, byHTMX), 204, nil)
	doc := f.page(f.want(f.post(path, second, byHTMX), 412, nil))
	if state(doc, "#environment-form") != "stale" {
		t.Errorf("the form is %q", state(doc, "#environment-form"))
	}
	for _, want := range []string{"from the first", "from the second", "local operator"} {
		if !strings.Contains(doc.Text(), want) && !strings.Contains(doc.Find(".versions").Text(), want) {
			t.Errorf("%q is not shown", want)
		}
	}
	revision, _ := doc.Find("input[name=revision]").Attr("value")
	second.Set("revision", revision)
	f.want(f.post(path, second, byHTMX), 204, nil)
}

// TestFragmentIsTheComponent: what htmx gets of a test is, byte for byte, the
// component that previews show, made from the same row.
func TestFragmentIsTheComponent(t *testing.T) {
	f := newFront(t)
	f.driver.open()
	id := f.create("build-box")
	f.want(f.call("POST", "/api/environments/"+id+"/probe", "{}"), 200, nil)
	var probes []struct {
		Details struct{ ProbeID string }
	}
	f.want(f.call("GET", "/api/environments/"+id+"/probes", ""), 200, &probes)
	probeID, err := environment.ParseID("probe", probes[0].Details.ProbeID)
	if err != nil {
		t.Fatal(err)
	}
	probe, err := f.server.Probing.Get(t.Context(), environment.LocalOperator(), probeID)
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	if err := views.ProbePanel(views.NewProbePanel(probe, probe.ConfigRevision, true, f.server.Now())).Render(t.Context(), &want); err != nil {
		t.Fatal(err)
	}
	got := f.want(f.call("GET", views.ProbePath(probeID), "", byHTMX), 200, nil).Body
	if got != want.String() {
		t.Errorf("the fragment is\n%s\nwant\n%s", got, want.String())
	}
}

// TestPreviewIsTheComponent: a preview's page holds the component's own bytes,
// and there is none without --dev.
func TestPreviewIsTheComponent(t *testing.T) {
	f := newFront(t)
	f.want(f.call("GET", views.PreviewPath, ""), 404, nil)
	f.server.Dev = true
	h := f.server.handler()
	for _, p := range preview.All() {
		var want strings.Builder
		if err := p.Body.Render(t.Context(), &want); err != nil {
			t.Fatal(err)
		}
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, httptest.NewRequest("GET", "http://127.0.0.1"+views.PreviewPath+"/"+p.Name, nil))
		if rec.Code != http.StatusOK || !strings.Contains(rec.Body.String(), want.String()) {
			t.Errorf("%s: %d, holds the component %v", p.Name, rec.Code, strings.Contains(rec.Body.String(), want.String()))
		}
	}
}

// TestTestOfARowComesBackAsARow: the list's Test button gets its row, the
// page's button the panel, a browser without scripts the page.
func TestTestOfARowComesBackAsARow(t *testing.T) {
	f := newFront(t)
	id := f.create("build-box")
	path := views.Environments + "/" + id + "/probes"
	row := f.page(f.want(f.post(path, nil, byHTMX, "HX-Target: env-"+id), 200, nil))
	if got := state(row, "#env-"+id); got != "testing" {
		t.Errorf("the row is %q, want testing", got)
	}
	panel := f.page(f.want(f.post(path, nil, byHTMX, "HX-Target: test"), 200, nil))
	if got := state(panel, "#test"); got != "running" && got != "pending" {
		t.Errorf("the panel is %q", got)
	}
	page := f.want(f.post(path, nil), 200, nil)
	if doc := f.page(page); doc.Find("#environment").Length() != 1 || !strings.Contains(page.Body, `http-equiv="refresh"`) {
		t.Error("without htmx there is no page that loads itself again")
	}
	watched := f.page(f.want(f.call("GET", views.Environments+"?watch="+id, "", byHTMX), 200, nil))
	if oob, _ := watched.Find("#env-" + id).Attr("hx-swap-oob"); oob != "true" {
		t.Error("a watched row does not take its place")
	}
	f.driver.open()
	eventually(t, "the test ends", func() bool {
		doc := f.page(f.call("GET", views.Environments+"?watch="+id, "", byHTMX))
		return state(doc, "#env-"+id) == "ready"
	})
}

// TestProbeStreamEndsWithThePanelAndTheList reads what a page hears of a test.
func TestProbeStreamEndsWithThePanelAndTheList(t *testing.T) {
	f := newFront(t)
	id := f.create("build-box")
	doc := f.page(f.want(f.post(views.Environments+"/"+id+"/probes", nil, byHTMX), 200, nil))
	stream, _ := doc.Find("#test").Attr("sse-connect")
	time.AfterFunc(50*time.Millisecond, f.driver.open)
	body := f.want(f.call("GET", stream, ""), 200, nil).Body
	for _, want := range []string{"event: stage", "event: end", `id="test" data-state="ready"`, `id="probe-history"`, `id="environment-head"`} {
		if !strings.Contains(body, want) {
			t.Errorf("%s is not in the stream: %s", want, body)
		}
	}
}

// TestGeneratedKeyNeverReachesThePage: only the process that made it can open
// what the form carries.
func TestGeneratedKeyNeverReachesThePage(t *testing.T) {
	f := newFront(t)
	a := f.want(f.post(views.Environments+"/drafts/generate-key", nil, byHTMX), 200, nil)
	sealed, _ := f.page(a).Find("input[name='config.generatedKey']").Attr("value")
	if strings.Contains(a.Body, "PRIVATE") || sealed == "" {
		t.Fatalf("the fragment is %s", a.Body)
	}
	if key, err := f.server.newKeys.open(sealed, "config.privateKey"); err != nil || key.Reveal() != "PRIVATE" {
		t.Errorf("opened %v", err)
	}
	if _, err := newNewKeys(nil).open(sealed, "config.privateKey"); environment.CodeOf(err) != "generated_key_gone" {
		t.Errorf("another process opens it: %v", err)
	}
	form := sshForm("with a key")
	form.Set("config.generatedKey", sealed)
	f.want(f.post(views.Environments, form, byHTMX), 204, nil)
	form = sshForm("with a lost key")
	form.Set("config.generatedKey", newNewKeys(nil).seal(environment.NewSecret("other")))
	refused := f.page(f.want(f.post(views.Environments, form, byHTMX), 422, nil))
	if text := refused.Find("#f-config-privateKey-err").Text(); !strings.Contains(text, "generate it again") {
		t.Errorf("at the key stands %q", text)
	}
}

func TestRefusalsGoToTheCornerForHTMX(t *testing.T) {
	f := newFront(t)
	a := f.want(f.post(views.Environments+"/"+environment.NewID().String()+"/probes", nil, byHTMX), 404, nil)
	if a.Header.Get("HX-Retarget") != "#toasts" || strings.Contains(a.Body, "<main") {
		t.Errorf("target %q, body %s", a.Header.Get("HX-Retarget"), a.Body)
	}
	page := f.page(f.want(f.call("GET", "/nothing", ""), 404, nil))
	if got := state(page, "#error"); got != "not-found" || page.Find("header.nav").Length() != 1 {
		t.Errorf("the page is %q", got)
	}
}

func TestRunPageOfAnotherCompanyIsNotFound(t *testing.T) {
	f := newFront(t)
	form := url.Values{"command": {"uname -a"}, "shell": {"on"}, "environmentId": {f.create("build-box")}, "timeoutSec": {"60"}}
	a := f.want(f.post("/companies/"+f.company.String()+"/runs", form, byHTMX), 204, nil)
	path := a.Header.Get("HX-Redirect")
	f.driver.open()
	eventually(t, "the run ends", func() bool { return state(f.page(f.call("GET", path, "")), "#run") == "failed" })
	other, err := f.server.Catalogue.CreateCompany(t.Context(), environment.LocalOperator(), "Other")
	if err != nil {
		t.Fatal(err)
	}
	f.want(f.call("GET", strings.Replace(path, f.company.String(), other.ID.String(), 1), ""), 404, nil)
	files := f.page(f.want(f.call("GET", path+"/files?path=", "", byHTMX), 200, nil))
	if got := state(files, "#run-files"); got != "folder" {
		t.Errorf("the files are %q", got)
	}
	empty := f.page(f.want(f.post("/companies/"+f.company.String()+"/runs", url.Values{}), 422, nil))
	if got := state(empty, "#run-form"); got != "invalid" {
		t.Errorf("an empty form is %q", got)
	}
}

func TestFlagOffOffersTheSwitchAndComesBack(t *testing.T) {
	f := newFront(t)
	f.want(f.post(views.ExperimentalPath, url.Values{"enableManagedSandboxOnly": {"on"}}), 200, nil)
	if doc := f.page(f.call("GET", views.Environments, "")); state(doc, "#environments") != "flag-off" {
		t.Fatalf("the page is %q", state(doc, "#environments"))
	}
	back := f.page(f.want(f.post(views.ExperimentalPath, url.Values{"enableEnvironments": {"on"}, "back": {views.Environments}}), 200, nil))
	if got := state(back, "#environments"); got != "on" {
		t.Errorf("after the switch the page is %q", got)
	}
	settings, err := f.server.Catalogue.Settings(t.Context(), environment.LocalOperator())
	if err != nil || !settings.EnableManagedSandboxOnly {
		t.Errorf("the switch changed another flag: %+v, %v", settings, err)
	}
	for _, foreign := range []string{"https://evil.test/", "//evil.test/", `/\evil.test`} {
		if got := localPath(foreign); got != views.Environments {
			t.Errorf("%s leads to %s", foreign, got)
		}
	}
}
