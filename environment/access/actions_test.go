package access_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"berth/environment/access"
)

// declaredActions are the actions in the source, by the names of their constants.
func declaredActions(t *testing.T) map[string]access.Action {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "access.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	actions := map[string]access.Action{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if id, ok := spec.Type.(*ast.Ident); !ok || id.Name != "Action" {
			return true
		}
		for i, name := range spec.Names {
			text, err := strconv.Unquote(spec.Values[i].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			actions[name.Name] = access.Action(text)
		}
		return true
	})
	return actions
}

// TestEveryActionIsInTheTable reads the source: an action that is new there needs
// a decision for every actor.
func TestEveryActionIsInTheTable(t *testing.T) {
	_, cells := rows()
	declared := map[access.Action]bool{}
	for name, action := range declaredActions(t) {
		declared[action] = true
		if cells[action] == nil {
			t.Errorf("%s (%s) is not in the table", name, action)
		}
	}
	for action := range cells {
		if !declared[action] {
			t.Errorf("the table has %s, which is no action", action)
		}
	}
}

// TestEveryActionIsAskedFor finds an action that nothing asks May about: what it
// stands for is then open to all. The list of routes asks too, before a request
// is read, but what counts is the use case.
func TestEveryActionIsAskedFor(t *testing.T) {
	source := sourceOf(t, "routes.go", "..", "../../handlers")
	for name := range declaredActions(t) {
		if !regexp.MustCompile(`\baccess\.` + name + `[,)]`).MatchString(source) {
			t.Errorf("nothing but a route asks for %s", name)
		}
	}
}

// sourceOf is the text of every Go file below the folders, but for tests and one
// other.
func sourceOf(t *testing.T, but string, folders ...string) string {
	t.Helper()
	var source []byte
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || entry.Name() == but {
				return err
			}
			text, err := os.ReadFile(path)
			source = append(source, text...)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return string(source)
}
