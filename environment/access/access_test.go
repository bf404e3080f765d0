package access_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"berth/environment"
	"berth/environment/access"

	"github.com/google/uuid"
)

// actions lists every action by hand: a new one needs a decision here.
func actions() []access.Action {
	return []access.Action{
		access.ReadEnvironments, access.ManageEnvironment, access.ReadSettings, access.ManageSettings, access.ReadCompanies,
		access.ManageCompanies, access.ReadRuns, access.StartRun, access.CancelRun, access.ReadLeases, access.ManageLeases,
		access.ReadActivity, access.ReadMetrics,
	}
}

func TestMay(t *testing.T) {
	subjects := map[string]access.Subject{"instance": access.Instance, "company": access.Company(environment.NewID())}
	for name, tc := range map[string]struct {
		actor environment.Actor
		want  environment.Kind // "": may
	}{
		"local operator":        {environment.LocalOperator(), ""},
		"system":                {environment.System(), ""},
		"nobody":                {environment.Actor{}, environment.KindUnauthenticated},
		"nobody with a name":    {environment.Actor{ID: uuid.New(), Name: "admin"}, environment.KindUnauthenticated},
		"a kind not known here": {environment.Actor{Kind: "member", ID: uuid.New()}, environment.KindForbidden},
	} {
		for subject, s := range subjects {
			for _, action := range actions() {
				err := access.May(tc.actor, action, s)
				if tc.want == "" && err != nil {
					t.Errorf("%s may not %s on the %s: %v", name, action, subject, err)
				}
				if tc.want != "" && (err == nil || environment.KindOf(err) != tc.want) {
					t.Errorf("%s: %s on the %s gives %v, want %s", name, action, subject, err, tc.want)
				}
			}
		}
	}
}

// declaredActions are the names of the actions in the source.
func declaredActions(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "access.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if id, ok := spec.Type.(*ast.Ident); ok && id.Name == "Action" {
			for _, name := range spec.Names {
				names = append(names, name.Name)
			}
		}
		return true
	})
	return names
}

// TestEveryActionIsAskedFor finds an action that nothing asks May about: what it
// stands for is then open to all.
func TestEveryActionIsAskedFor(t *testing.T) {
	var source strings.Builder
	for _, folder := range []string{"../../environment", "../../handlers"} {
		err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			source.Write(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range declaredActions(t) {
		if !strings.Contains(source.String(), "access."+name+",") {
			t.Errorf("nothing asks for %s", name)
		}
	}
}

// TestEveryActionIsInTheTable reads the source, so that an action that is added
// there and not above is found.
func TestEveryActionIsInTheTable(t *testing.T) {
	declared := len(declaredActions(t))
	listed := actions()
	slices.Sort(listed)
	if declared != len(slices.Compact(listed)) {
		t.Errorf("%d actions are declared, %d are in the table", declared, len(listed))
	}
}
