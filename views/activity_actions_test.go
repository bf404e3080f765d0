package views

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"berth/environment"
)

// actionsInCode are the names of actions that the services write: literals of
// theirs that begin with a subject of the log. The names of rights look alike.
func actionsInCode(t *testing.T) map[string]bool {
	t.Helper()
	isAction := regexp.MustCompile(`^(access|agent|agent_key|company|environment|environment_lease|instance|invitation|keyset|link|person|run|secret|session|settings|token)(\.[a-z_]+)+$`)
	found := map[string]bool{}
	err := filepath.WalkDir("../environment", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (slices.Contains([]string{"access", "environmenttest", "example"}, d.Name())):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for n := range ast.Preorder(file) {
			if lit, is := n.(*ast.BasicLit); is && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil && isAction.MatchString(text) {
					found[text] = true
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestEveryActionHasItsWords: what the services write into the log reads well,
// and no word is for what none of them writes.
func TestEveryActionHasItsWords(t *testing.T) {
	inCode, words := actionsInCode(t), actionWords()
	if len(inCode) < 40 {
		t.Fatalf("only %d actions were found: %v", len(inCode), inCode)
	}
	for _, action := range slices.Sorted(maps.Keys(inCode)) {
		if words[action] == "" {
			t.Errorf("%s has no words", action)
		}
	}
	for _, action := range slices.Sorted(maps.Keys(words)) {
		if !inCode[action] {
			t.Errorf("%s is written by nobody", action)
		}
	}
}

func TestActivityOfOddSubjects(t *testing.T) {
	id := environment.NewID().String()
	for name, tc := range map[string]struct {
		entry    environment.Activity
		on, what string
		whole    string
	}{
		"the instance":  {environment.Activity{Action: "instance.settings.updated", EntityType: "instance", EntityID: "instance"}, "the instance", "settings changed", ""},
		"the keyset":    {environment.Activity{Action: "keyset.rotated", EntityType: "instance", EntityID: "instance"}, "the instance", "master key turned over", ""},
		"nobody known":  {environment.Activity{Action: "person.sign_in_failed", EntityType: "instance", EntityID: "00000000-0000-0000-0000-000000000000"}, "the instance", "sign-in failed", ""},
		"a route":       {environment.Activity{Action: "access.refused", EntityType: "route", EntityID: "/api/companies/:c/secrets", Details: map[string]any{"method": "POST"}}, "POST /api/companies/:c/secrets", "was refused", ""},
		"a lease":       {environment.Activity{Action: "environment.lease_reaped", EntityType: "environment_lease", EntityID: id}, "lease " + id[:8], "released, as its server was gone", id},
		"a draft":       {environment.Activity{Action: "environment.probed_unsaved", EntityType: "environment", EntityID: "unsaved"}, "environment", "tested before it was saved", ""},
		"a person":      {environment.Activity{Action: "person.updated", EntityType: "person", EntityID: id, Details: map[string]any{"name": "Ada"}}, "person Ada", "changed", id},
		"what is older": {environment.Activity{Action: "thing.was_painted", EntityType: "thing", EntityID: id}, "thing " + id[:8], "was painted", id},
	} {
		if on, what, whole := subjectText(tc.entry), actionText(tc.entry), subjectID(tc.entry); on != tc.on || what != tc.what || whole != tc.whole {
			t.Errorf("%s: on %q %q (%q), want on %q %q (%q)", name, on, what, whole, tc.on, tc.what, tc.whole)
		}
	}
	text := detailText(environment.Activity{Action: "access.refused", EntityType: "route", Details: map[string]any{"method": "POST", "route": "/api/x", "code": "forbidden", "subject": ""}})
	if text != "code: forbidden" {
		t.Errorf("a refusal's details are %q", text)
	}
}
