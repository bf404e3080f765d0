package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// tab is a page of the browser whose every assertion is checked: the library's
// own return an error that is easily forgotten.
type tab struct {
	t    *testing.T
	page playwright.Page
	base string

	mu       sync.Mutex
	problems []string // console errors and uncaught exceptions
	expected []*regexp.Regexp
}

// look is how a tab looks at pages.
type look struct {
	width, height int
	dark          bool
	noScript      bool
	previews      bool // what it sees was reached by no journey
}

var desktop = look{width: 1280, height: 900}

// open makes a tab in a browser context of its own.
func open(t *testing.T, base string, l look) *tab {
	t.Helper()
	browser, err := shared.browser()
	if err != nil {
		t.Fatal(err)
	}
	scheme := playwright.ColorSchemeLight
	if l.dark {
		scheme = playwright.ColorSchemeDark
	}
	context, err := browser.NewContext(playwright.BrowserNewContextOptions{
		Viewport:          &playwright.Size{Width: l.width, Height: l.height},
		ColorScheme:       scheme,
		ReducedMotion:     playwright.ReducedMotionReduce,
		JavaScriptEnabled: playwright.Bool(!l.noScript),
	})
	if err != nil {
		t.Fatal(err)
	}
	context.SetDefaultTimeout(20_000)
	if !l.noScript && !l.previews {
		if err := shared.states.watch(context, t.Name()); err != nil {
			t.Fatal(err)
		}
	}
	tab := newTab(t, context, base)
	t.Cleanup(func() {
		tab.conclude()
		if err := context.Close(); err != nil {
			t.Error(err)
		}
	})
	return tab
}

// another opens a second tab beside b, with the same cookies.
func (b *tab) another() *tab {
	b.t.Helper()
	second := newTab(b.t, b.page.Context(), b.base)
	b.t.Cleanup(second.conclude)
	return second
}

func newTab(t *testing.T, context playwright.BrowserContext, base string) *tab {
	t.Helper()
	page, err := context.NewPage()
	if err != nil {
		t.Fatal(err)
	}
	b := &tab{t: t, page: page, base: base}
	page.OnConsole(func(m playwright.ConsoleMessage) {
		if m.Type() == "error" {
			b.note("console: " + m.Text() + " " + m.Location().URL)
		}
	})
	page.OnPageError(func(err error) { b.note("exception: " + err.Error()) })
	return b
}

func (b *tab) note(problem string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.problems = append(b.problems, problem)
}

// expect says that a console error which matches is part of the journey: a
// refused request is one.
func (b *tab) expect(pattern string) { b.expected = append(b.expected, regexp.MustCompile(pattern)) }

// conclude keeps a picture of a failed journey and reports what the console had.
func (b *tab) conclude() {
	b.mu.Lock()
	problems := slices.Clone(b.problems)
	b.mu.Unlock()
	for _, p := range problems {
		if !slices.ContainsFunc(b.expected, func(r *regexp.Regexp) bool { return r.MatchString(p) }) {
			b.t.Errorf("the browser says: %s", p)
		}
	}
	if b.t.Failed() && !b.page.IsClosed() {
		name := strings.ReplaceAll(b.t.Name(), "/", "_")
		path := filepath.Join("shots", "failed", name+".png")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.t.Logf("no folder for a picture: %v", err)
		}
		if _, err := b.page.Screenshot(playwright.PageScreenshotOptions{Path: playwright.String(path), FullPage: playwright.Bool(true)}); err != nil {
			b.t.Logf("no picture: %v", err)
		}
		html, err := b.page.Content()
		if err == nil {
			err = os.WriteFile(strings.TrimSuffix(path, ".png")+".html", []byte(html), 0o600)
		}
		b.t.Logf("at %s; picture in e2e/%s (%v)", b.page.URL(), path, err)
	}
}

func (b *tab) must(err error, format string, args ...any) {
	b.t.Helper()
	if err != nil {
		b.t.Fatalf("%s: %v", fmt.Sprintf(format, args...), err)
	}
}

// visit goes to an address of the server and wants an answer below 400.
func (b *tab) visit(path string) {
	b.t.Helper()
	if status := b.visitStatus(path); status >= 400 {
		b.t.Fatalf("visit %s: %d", path, status)
	}
}

func (b *tab) visitStatus(path string) int {
	b.t.Helper()
	res, err := b.page.Goto(b.base + path)
	b.must(err, "visit %s", path)
	if res == nil {
		return 0 // not over HTTP
	}
	return res.Status()
}

func (b *tab) find(selector string) playwright.Locator { return b.page.Locator(selector) }

func assertion() playwright.PlaywrightAssertions { return playwright.NewPlaywrightAssertions(20_000) }

// sees waits until exactly one element of a selector is there to be seen.
func (b *tab) sees(selector string) {
	b.t.Helper()
	b.must(assertion().Locator(b.find(selector)).ToBeVisible(), "see %s at %s", selector, b.page.URL())
}

// misses waits until no element of a selector can be seen.
func (b *tab) misses(selector string) {
	b.t.Helper()
	b.must(assertion().Locator(b.find(selector)).ToBeHidden(), "not see %s at %s", selector, b.page.URL())
}

// reads waits until an element holds a text.
func (b *tab) reads(selector, text string) {
	b.t.Helper()
	b.must(assertion().Locator(b.find(selector)).ToContainText(text), "read %q in %s", text, selector)
}

// holds waits until a field has a value.
func (b *tab) holds(selector, value string) {
	b.t.Helper()
	b.must(assertion().Locator(b.find(selector)).ToHaveValue(value), "find %q in field %s", value, selector)
}

// counts waits until a selector has n elements.
func (b *tab) counts(selector string, n int) {
	b.t.Helper()
	b.must(assertion().Locator(b.find(selector)).ToHaveCount(n), "count %s", selector)
}

// at waits until the address matches.
func (b *tab) at(pattern string) {
	b.t.Helper()
	b.must(assertion().Page(b.page).ToHaveURL(regexp.MustCompile(pattern)), "be at %s", pattern)
}

// inState waits until an element is in a state.
func (b *tab) inState(selector, state string) {
	b.t.Helper()
	b.must(assertion().Locator(b.find(selector)).ToHaveAttribute("data-state", state), "%s in state %s", selector, state)
}

func (b *tab) click(selector string) {
	b.t.Helper()
	b.must(b.find(selector).Click(), "click %s", selector)
}

func (b *tab) fill(selector, value string) {
	b.t.Helper()
	b.must(b.find(selector).Fill(value), "fill %s", selector)
}

// press clicks the button of a name.
func (b *tab) press(name string) {
	b.t.Helper()
	b.must(b.button(name).Click(), "press %q", name)
}

func (b *tab) button(name string) playwright.Locator {
	return b.page.GetByRole("button", playwright.PageGetByRoleOptions{Name: name, Exact: playwright.Bool(true)})
}

// follow clicks the link of a name.
func (b *tab) follow(name string) {
	b.t.Helper()
	b.must(b.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: name, Exact: playwright.Bool(true)}).First().Click(), "follow %q", name)
}

// eval runs a script in the page.
func (b *tab) eval(script string, arg ...any) any {
	b.t.Helper()
	v, err := b.page.Evaluate(script, arg...)
	b.must(err, "run %s", script)
	return v
}
