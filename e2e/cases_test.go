package e2e

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/playwright-community/playwright-go"
)

// TestC75_InvalidFormShowsEachMessage: a refused save is swapped in, with the
// typed values, the focus at the first bad field, and no page within the page.
func TestC75_InvalidFormShowsEachMessage(t *testing.T) {
	s := site(t)
	b := open(t, s.url, desktop)
	b.expect("422")
	b.visit(pages + "/new")
	b.fill("#f-config-port", "0")
	b.fill("#f-config-password", "canary-password")
	b.fill("#f-description", "kept")
	saved := b.answerOf(pages, func() { b.press("Save environment") })
	if saved.Status() != 422 {
		t.Errorf("the save is answered with %d, want 422", saved.Status())
	}
	b.inState("#environment-form", "invalid")
	b.reads("#f-name-err", "name")
	b.reads("#f-config-port-err", "65535")
	b.reads("#f-config-host-err", "Enter a host")
	b.holds("#f-config-port", "0")
	b.holds("#f-description", "kept")
	b.holds("#f-config-password", "")
	b.counts("header.nav", 1)
	b.counts("#environment-form", 1)
	b.must(assertion().Locator(b.find("#f-name")).ToBeFocused(), "focus at the first bad field")
	if html, err := b.page.Content(); err != nil || strings.Contains(html, "canary-password") {
		t.Errorf("the page holds the secret (%v)", err)
	}
}

// TestC75_ServerErrorIsNotSilence answers a save with 500 on its way.
func TestC75_ServerErrorIsNotSilence(t *testing.T) {
	s := site(t)
	b := open(t, s.url, desktop)
	b.expect("500")
	b.visit(pages + "/new")
	b.fill("#f-name", "Never saved")
	b.must(b.page.Route("**"+pages, func(r playwright.Route) {
		if r.Request().Method() != "POST" {
			b.note(fmt.Sprint(r.Continue()))
			return
		}
		if err := r.Fulfill(playwright.RouteFulfillOptions{Status: playwright.Int(500), Body: "boom"}); err != nil {
			b.note(err.Error())
		}
	}), "break the save")
	b.press("Save environment")
	b.inState("#environment-form", "save-error")
	b.sees("#save-error")
	b.holds("#f-name", "Never saved")
}

// answerOf is the server's answer to the request that act makes to a path.
func (b *tab) answerOf(path string, act func()) playwright.Response {
	b.t.Helper()
	res, err := b.page.ExpectResponse(func(url string) bool {
		return strings.HasSuffix(strings.SplitN(url, "?", 2)[0], path)
	}, func() error { act(); return nil })
	b.must(err, "the answer to %s", path)
	return res
}

// TestC77_BackShowsWholePages filters, opens a page, leaves the site, and comes
// back twice.
func TestC77_BackShowsWholePages(t *testing.T) {
	s, host := site(t), newHost(t)
	name := unique("History")
	s.remove(t, name)
	host.save(t, s, name)
	b := open(t, s.url, desktop)
	b.visit(pages)
	b.fill("input[name=q]", name)
	b.at(`[?&]q=History`)
	b.counts("#rows > li", 1)
	b.follow(name)
	b.inState("#environment", "active")
	elsewhere := otherSite(t)
	_, err := b.page.Goto(elsewhere)
	b.must(err, "leave")
	for _, want := range []string{"#environment", "#environments"} {
		_, err := b.page.GoBack()
		b.must(err, "go back")
		b.sees(want)
		b.sees("header.nav")
		b.counts("main", 1)
	}
	b.holds("input[name=q]", name)
	b.counts("#rows > li", 1)
	if kept := b.eval(`() => JSON.stringify(Object.entries(localStorage)) + JSON.stringify(Object.entries(sessionStorage))`); strings.Contains(fmt.Sprint(kept), "history-cache") || strings.Contains(fmt.Sprint(kept), "<") {
		t.Errorf("pages are kept in storage: %v", kept)
	}
}

// otherSite serves one word at an address of another site.
func otherSite(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if _, err := w.Write([]byte("<!doctype html><link rel=icon href=data:,><title>elsewhere</title><p>elsewhere")); err != nil {
			t.Log(err)
		}
	})}
	go func() { _ = server.Serve(l) }() // it ends with Close
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return "http://" + l.Addr().String()
}

// TestC77_FragmentOnlyWhereAsked reads the list by hand.
func TestC77_FragmentOnlyWhereAsked(t *testing.T) {
	s := site(t)
	for name, test := range map[string]struct {
		headers map[string]string
		whole   bool
	}{
		"htmx":                 {map[string]string{"HX-Request": "true"}, false},
		"htmx restores a page": {map[string]string{"HX-Request": "true", "HX-History-Restore-Request": "true"}, true},
		"a browser":            {nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			req, err := http.NewRequest("GET", s.url+pages, nil)
			if err != nil {
				t.Fatal(err)
			}
			for k, v := range test.headers {
				req.Header.Set(k, v)
			}
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			body := readAll(t, res)
			if whole := strings.Contains(strings.ToLower(body), "<!doctype html>"); whole != test.whole || res.StatusCode != 200 {
				t.Errorf("%d, whole document %v, want %v", res.StatusCode, whole, test.whole)
			}
			if vary := strings.Join(res.Header.Values("Vary"), ","); !strings.Contains(vary, "HX-Request") {
				t.Errorf("Vary is %q, want HX-Request in it", vary)
			}
		})
	}
}

// TestC79_TypingSurvivesWhatHappens types into the form while a test of the same
// row runs and ends; afterwards nothing asks any more.
func TestC79_TypingSurvivesWhatHappens(t *testing.T) {
	s, host := site(t), newHost(t)
	name := unique("Typing")
	s.remove(t, name)
	g := newGate(t, host.Addr())
	id := host.save(t, s, name)
	s.change(t, id, map[string]any{"port": g.port, "knownHosts": nil})
	s.call(t, "POST", "/api/environments/"+id+"/trust-host-key", map[string]any{"fingerprint": host.fingerprint()}, nil, 200)
	g.shut()
	b := open(t, s.url, desktop)
	b.visit(pages + "/" + id + "/edit")
	b.press("Test")
	b.inState("#test-stages", "running")
	b.fill("#f-description", "")
	b.click("#f-description")
	b.must(b.find("#f-description").PressSequentially("typed while it ", playwright.LocatorPressSequentiallyOptions{Delay: playwright.Float(40)}), "type")
	g.reopen()
	b.must(b.find("#f-description").PressSequentially("changed", playwright.LocatorPressSequentiallyOptions{Delay: playwright.Float(40)}), "type on")
	b.inState("#test", "ready")
	b.holds("#f-description", "typed while it changed")
	b.must(assertion().Locator(b.find("#f-description")).ToBeFocused(), "keep the focus")
	caret := b.eval(`() => document.activeElement.selectionStart`)
	if fmt.Sprint(caret) != strconv.Itoa(len("typed while it changed")) {
		t.Errorf("the caret is at %v", caret)
	}
}

// requests notes what a page asks for.
type requests struct {
	mu   sync.Mutex
	urls []string
}

func (r *requests) note(request playwright.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.urls = append(r.urls, request.Method()+" "+request.URL())
}

func (r *requests) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.urls = nil
}

func (r *requests) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.urls)
}

// TestC79_NothingAsksAfterTheEnd counts requests once a test has ended, in the
// list and on the page.
func TestC79_NothingAsksAfterTheEnd(t *testing.T) {
	s, host := site(t), newHost(t)
	name := unique("Quiet")
	s.remove(t, name)
	id := host.save(t, s, name)
	b := open(t, s.url, desktop)
	var asked requests
	b.page.OnRequest(asked.note)
	for _, path := range []string{pages + "/" + id, pages + "?q=" + strings.ReplaceAll(name, " ", "+")} {
		b.visit(path)
		if strings.Contains(path, "?q=") {
			b.press("Test " + name)
			b.inState("#env-"+id, "testing")
			b.inState("#env-"+id, "ready")
		} else {
			b.press("Test")
			b.inState("#test", "ready")
		}
		// Whatever was on its way when it ended may still arrive.
		b.must(b.page.WaitForLoadState(playwright.PageWaitForLoadStateOptions{State: playwright.LoadStateNetworkidle}), "be quiet")
		asked.forget()
		b.eval(`() => new Promise(done => setTimeout(done, 4000))`)
		if got := asked.all(); len(got) != 0 {
			t.Errorf("after the end at %s there are the requests %q", path, got)
		}
	}
}
