package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// sweepers is how many tabs look at the previews at once.
const sweepers = 2

// finding is one thing that axe-core holds against a page.
type finding struct {
	ID     string
	Impact string
	Help   string
	Nodes  []struct{ HTML, FailureSummary string }
}

// TestPreviews looks at every state of every component, at both widths, light
// and dark: nothing on the console, nothing for axe-core, nothing that scrolls
// sideways. The pictures stay in e2e/shots.
func TestPreviews(t *testing.T) {
	if err := os.MkdirAll("shots", 0o755); err != nil {
		t.Fatal(err)
	}
	s := site(t)
	axe := axeSource(t)
	names := previewNames(t, s)
	if len(names) < 20 {
		t.Fatalf("there are %d previews only: %q", len(names), names)
	}
	for worker := range sweepers {
		t.Run(fmt.Sprintf("part %d", worker+1), func(t *testing.T) {
			t.Parallel()
			b := open(t, s.url, look{width: 1280, height: 900, previews: true})
			b.must(b.page.AddInitScript(playwright.Script{Content: playwright.String(axe)}), "add axe-core")
			for i := worker; i < len(names); i += sweepers {
				b.sweep(names[i])
			}
		})
	}
}

// previewNames are the links of the index.
func previewNames(t *testing.T, s *server) []string {
	t.Helper()
	b := open(t, s.url, look{width: 1280, height: 900, previews: true})
	b.visit("/dev/preview")
	links, err := b.find("a[href^='/dev/preview/']").All()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, l := range links {
		href, err := l.GetAttribute("href")
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, strings.TrimPrefix(href, "/dev/preview/"))
	}
	return names
}

func axeSource(t *testing.T) string {
	t.Helper()
	cache, err := cacheFolder()
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(filepath.Join(cache, "axe-4.10.3", "package", "axe.min.js"))
	if err != nil {
		t.Fatalf("%v: go tool task setup", err)
	}
	return string(source)
}

// sweep looks at one preview in every way.
func (b *tab) sweep(name string) {
	b.t.Helper()
	b.mu.Lock()
	before := len(b.problems)
	b.mu.Unlock()
	b.visit("/dev/preview/" + name)
	root := b.find("main [data-state]").First()
	id, err := root.GetAttribute("id")
	b.must(err, "the id of %s", name)
	state, err := root.GetAttribute("data-state")
	b.must(err, "the state of %s", name)
	shared.states.preview(name, id, state)
	for _, l := range []look{{width: 390, height: 844}, {width: 390, height: 844, dark: true}, {width: 1280, height: 900, dark: true}, desktop} {
		b.lookAt(name, l)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.problems[before:] {
		b.t.Errorf("preview %s: the browser says: %s", name, p)
	}
	b.problems = b.problems[:before]
}

func (b *tab) lookAt(name string, l look) {
	b.t.Helper()
	scheme, word := playwright.ColorSchemeLight, "light"
	if l.dark {
		scheme, word = playwright.ColorSchemeDark, "dark"
	}
	b.must(b.page.SetViewportSize(l.width, l.height), "resize")
	b.must(b.page.EmulateMedia(playwright.PageEmulateMediaOptions{ColorScheme: scheme}), "be %s", word)
	title := fmt.Sprintf("%s-%d-%s", name, l.width, word)
	if over, ok := b.eval(`() => document.documentElement.scrollWidth - document.documentElement.clientWidth`).(int); !ok || over > 0 {
		b.t.Errorf("%s is %d px too wide", title, over)
	}
	for _, f := range b.violations(l.asked()...) {
		for _, n := range f.Nodes {
			b.t.Errorf("%s: axe-core: %s (%s): %s\n%s\n%s", title, f.ID, f.Impact, f.Help, n.HTML, n.FailureSummary)
		}
	}
	file := filepath.Join("shots", strings.ReplaceAll(title, "/", "_")+".png")
	if _, err := b.page.Screenshot(playwright.PageScreenshotOptions{Path: playwright.String(file), FullPage: playwright.Bool(true)}); err != nil {
		b.t.Errorf("picture of %s: %v", title, err)
	}
}

// asked are the rules of axe-core to be asked in a look, all when there are none:
// light and dark differ in colours alone, so each width is asked for the rest once.
func (l look) asked() []string {
	if l.dark == (l.width > 390) {
		return nil
	}
	return []string{"color-contrast"}
}

// violations are what axe-core holds against the page as it is, by some of its
// rules or by all.
func (b *tab) violations(rules ...string) []finding {
	b.t.Helper()
	only := append([]string{}, rules...)
	out, ok := b.eval(`async rules => JSON.stringify((await axe.run(document, {resultTypes: ['violations'], ...(rules.length && {runOnly: {type: 'rule', values: rules}})})).violations.map(v =>
		({ID: v.id, Impact: v.impact, Help: v.help, Nodes: v.nodes.slice(0, 3).map(n => ({HTML: n.html, FailureSummary: n.failureSummary}))})))`, only).(string)
	var found []finding
	if !ok || json.Unmarshal([]byte(out), &found) != nil {
		b.t.Fatalf("axe-core says %v", out)
	}
	return found
}

// TestPreviews_CanFail shows a bad page to axe-core.
func TestPreviews_CanFail(t *testing.T) {
	b := open(t, "", look{width: 390, height: 844, previews: true})
	b.must(b.page.AddInitScript(playwright.Script{Content: playwright.String(axeSource(t))}), "add axe-core")
	b.visit("data:text/html,<title>x</title><img src='data:,'><p style='color:%23aaa;background:%23fff'>pale</p><input>")
	found := map[string]bool{}
	for _, f := range b.violations() {
		found[f.ID] = true
	}
	for _, want := range []string{"image-alt", "color-contrast", "label", "html-has-lang"} {
		if !found[want] {
			t.Errorf("axe-core does not find %s; it finds %v", want, found)
		}
	}
	if pale := b.violations("color-contrast"); len(pale) != 1 || pale[0].ID != "color-contrast" {
		t.Errorf("asked for colours alone axe-core finds %v", pale)
	}
}
