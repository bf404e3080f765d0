package preview

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"berth/environment/example"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"
)

// rendered is a preview's markup, and the same read as a browser reads it.
func rendered(t *testing.T, p Preview) (string, *goquery.Selection) {
	t.Helper()
	var b strings.Builder
	if err := p.Body.Render(t.Context(), &b); err != nil {
		t.Fatalf("%s: %v", p.Name, err)
	}
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(b.String()))
	if err != nil {
		t.Fatalf("%s: %v", p.Name, err)
	}
	return b.String(), doc.Find("body")
}

func TestEachPreviewHasOneRootThatSaysItsState(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range All() {
		if seen[p.Name] {
			t.Errorf("%s is there twice", p.Name)
		}
		seen[p.Name] = true
		if !regexp.MustCompile(`^[a-z-]+\.[a-z_-]+(\.[a-z0-9_-]+)?$`).MatchString(p.Name) || !slices.Contains(Groups(), p.Group) {
			t.Errorf("%s in %s: not a name, or not a group", p.Name, p.Group)
		}
		_, body := rendered(t, p)
		root := body.Children()
		if root.Length() != 1 {
			t.Errorf("%s has %d roots, want 1", p.Name, root.Length())
			continue
		}
		if state, _ := root.Attr("data-state"); state != p.State() {
			t.Errorf("%s: data-state %q, want %q", p.Name, state, p.State())
		}
		if id, _ := root.Attr("id"); id == "" {
			t.Errorf("%s: its root has no id", p.Name)
		}
	}
}

func TestIDsAreUniqueAndNamesLeadToThem(t *testing.T) {
	for _, p := range All() {
		_, body := rendered(t, p)
		ids := map[string]bool{}
		body.Find("[id]").Each(func(_ int, s *goquery.Selection) {
			id, _ := s.Attr("id")
			if ids[id] {
				t.Errorf("%s: id %q is there twice", p.Name, id)
			}
			ids[id] = true
		})
		for _, attr := range []string{"for", "aria-labelledby", "aria-describedby"} {
			body.Find("[" + attr + "]").Each(func(_ int, s *goquery.Selection) {
				value, _ := s.Attr(attr)
				for id := range strings.FieldsSeq(value) {
					if !ids[id] && !strings.HasPrefix(id, "nav-") {
						t.Errorf("%s: %s names %q, which is not there", p.Name, attr, id)
					}
				}
			})
		}
	}
}

// What the policy of pages refuses must not be in them, and no secret may be.
func TestPreviewsHoldNothingInlineAndNoSecret(t *testing.T) {
	refused := regexp.MustCompile(`(?i)<script|<style|\sstyle=|\son[a-z]+=|javascript:|hx-on|hx-vals="js:`)
	secret := regexp.MustCompile(`PRIVATE KEY-----\s*\n|\[secret\]|canary`)
	for _, p := range All() {
		markup, _ := rendered(t, p)
		if found := refused.FindString(markup); found != "" {
			t.Errorf("%s holds %q", p.Name, found)
		}
		if found := secret.FindString(markup); found != "" {
			t.Errorf("%s holds %q", p.Name, found)
		}
	}
}

// components names the previews of a state type where the name of the type does
// not: a type may serve several components.
func components(typeName string) []string {
	switch typeName {
	case "ListState":
		return []string{"probe-history", "activity-list", "run-list"}
	case "QualificationShownState":
		return []string{"qualification-panel", "qualification-notice"}
	case "SettingsState":
		return []string{"general-settings", "experimental-settings"}
	}
	words := regexp.MustCompile(`[A-Z][a-z]+`).FindAllString(strings.TrimSuffix(typeName, "State"), -1)
	return []string{strings.ToLower(strings.Join(words, "-"))}
}

// stateConstants reads the constants of every type ...State out of the views.
func stateConstants(t *testing.T) map[string][]string {
	t.Helper()
	names, err := filepath.Glob("../*.go")
	if err != nil {
		t.Fatal(err)
	}
	states := map[string][]string{}
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || spec.Type == nil || len(spec.Values) != 1 {
				return true
			}
			name, ok := spec.Type.(*ast.Ident)
			literal, isLiteral := spec.Values[0].(*ast.BasicLit)
			if !ok || !isLiteral || !strings.HasSuffix(name.Name, "State") {
				return true
			}
			value, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			states[name.Name] = append(states[name.Name], value)
			return true
		})
	}
	return states
}

func TestEachStateHasAPreview(t *testing.T) {
	shown := map[string]bool{}
	for _, p := range All() {
		shown[p.Component()+"."+p.State()] = true
	}
	states := stateConstants(t)
	if len(states) < 15 {
		t.Fatalf("read %d state types only: %v", len(states), states)
	}
	for typeName, values := range states {
		for _, component := range components(typeName) {
			for _, value := range values {
				if !shown[component+"."+value] {
					t.Errorf("%s %q: no preview %s.%s", typeName, value, component, value)
				}
			}
		}
	}
	known := map[string]bool{}
	for typeName := range states {
		for _, component := range components(typeName) {
			known[component] = true
		}
	}
	for _, p := range All() {
		if !known[p.Component()] {
			t.Errorf("%s: no state type has this component", p.Name)
		}
	}
}

func TestProbePreviewsReachEachFailureAndStage(t *testing.T) {
	for _, code := range append(example.FailureCodes(), example.SandboxFailureCodes()...) {
		if !slices.ContainsFunc(All(), func(p Preview) bool {
			return p.Component() == "probe-panel" && (strings.HasSuffix(p.Name, "."+code) || p.State() == code)
		}) {
			t.Errorf("no preview shows %s", code)
		}
	}
}

func TestIndexLeadsToEachPreview(t *testing.T) {
	var b strings.Builder
	if err := Index().Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	doc, err := html.Parse(strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	links := goquery.NewDocumentFromNode(doc).Find("a[href^='/dev/preview/']")
	if links.Length() != len(All()) {
		t.Errorf("the index has %d links, want %d", links.Length(), len(All()))
	}
	if _, ok := Find("environment-row.ready"); !ok {
		t.Error("environment-row.ready is not found by its name")
	}
	if _, ok := Find("nothing"); ok {
		t.Error("a preview of no name is found")
	}
}
