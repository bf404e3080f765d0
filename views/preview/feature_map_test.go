package preview

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// testNames reads the names of all tests of the project, each alone and with
// its package in front.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
				names[f.Name.Name] = true
				names[strings.TrimSuffix(file.Name.Name, "_test")+"."+f.Name.Name] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// The feature map names each preview, and no test that is not there.
func TestFeatureMapIsTrue(t *testing.T) {
	text, err := os.ReadFile("../../docs/feature-map.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if cells := strings.Split(line, "|"); len(cells) == 6 && strings.Contains(cells[2], "`") {
			rows[strings.Trim(cells[2], " `")] = true
		}
	}
	for _, p := range All() {
		if !rows[p.Name] {
			t.Errorf("docs/feature-map.md has no row of %s", p.Name)
		}
		delete(rows, p.Name)
	}
	for name := range rows {
		t.Errorf("docs/feature-map.md has a row of %s, which is no preview", name)
	}
	tests := testNames(t)
	for _, named := range regexp.MustCompile("`((?:[a-z]+\\.)?Test[A-Za-z0-9_]+)`").FindAllStringSubmatch(string(text), -1) {
		if !tests[named[1]] {
			t.Errorf("docs/feature-map.md names the test %s, which is not there", named[1])
		}
	}
}
