package e2e

import (
	"bufio"
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// maxLines is how long a file may be; generated ones and migrations aside.
const maxLines = 500

// sources are the files that git keeps or would keep.
func sources(t *testing.T, suffix string) []string {
	t.Helper()
	list := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", "*"+suffix)
	list.Dir = ".."
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, f := range strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if _, err := os.Stat(filepath.Join("..", f)); err == nil {
			files = append(files, f)
		}
	}
	if len(files) == 0 {
		t.Fatalf("git knows no %s file", suffix)
	}
	return files
}

func TestLaw_FilesAreShort(t *testing.T) {
	for _, suffix := range []string{".go", ".templ", ".css", ".js"} {
		for _, f := range sources(t, suffix) {
			if strings.HasSuffix(f, "_templ.go") || strings.HasPrefix(f, "static/vendor/") {
				continue
			}
			b, err := os.ReadFile(filepath.Join("..", f))
			if err != nil {
				t.Fatal(err)
			}
			if n := lines(b); n > maxLines {
				t.Errorf("%s has %d lines, at most %d: split it by subject", f, n, maxLines)
			}
		}
	}
}

func lines(b []byte) int {
	n := 0
	for s := bufio.NewScanner(bytes.NewReader(b)); s.Scan(); {
		n++
	}
	return n
}

func TestLaw_FoldersAreNamedForWhatTheyProvide(t *testing.T) {
	refused := map[string]bool{
		"util": true, "utils": true, "common": true, "helper": true, "helpers": true, "models": true, "types": true,
		"misc": true, "shared": true, "lib": true, "pkg": true, "internal": true, "base": true, "core": true,
	}
	for _, f := range sources(t, ".go") {
		for dir := path.Dir(f); dir != "."; dir = path.Dir(dir) {
			if refused[path.Base(dir)] {
				t.Errorf("%s: a folder called %q says nothing", f, path.Base(dir))
			}
		}
	}
}

// TestLaw_TestsNeitherSkipNorSleep reads the calls, not the text. Where a folder
// tests in bubbles of testing/synctest, a sleep passes no real time.
func TestLaw_TestsNeitherSkipNorSleep(t *testing.T) {
	files := sources(t, "_test.go")
	bubbles := map[string]bool{}
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join("..", f))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(b, []byte("\"testing/synctest\"\n")) {
			bubbles[path.Dir(f)] = true
		}
	}
	for _, f := range files {
		for _, call := range forbiddenCalls(t, filepath.Join("..", f), nil) {
			if bubbles[path.Dir(f)] && !strings.Contains(call, " Skip") {
				continue
			}
			t.Errorf("%s: a test waits for a state and never skips", call)
		}
	}
}

func TestLaw_TestsNeitherSkipNorSleepCanFail(t *testing.T) {
	const bad = "package x\nfunc f(t *testing.T) { t.Skip(\"no\"); t.Skipf(\"\"); t.SkipNow(); time.Sleep(1) }\n"
	if got := forbiddenCalls(t, "bad.go", []byte(bad)); len(got) != 4 {
		t.Errorf("found %q, want all four", got)
	}
}

// forbiddenCalls finds Skip and Sleep in a file, or in src when it is given.
func forbiddenCalls(t *testing.T, file string, src []byte) []string {
	t.Helper()
	fset := token.NewFileSet()
	var content any
	if src != nil {
		content = src
	}
	parsed, err := parser.ParseFile(fset, file, content, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	ast.Inspect(parsed, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		selector, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		on, ok := selector.X.(*ast.Ident)
		if !ok {
			return true
		}
		switch selector.Sel.Name {
		case "Skip", "Skipf", "SkipNow":
			if on.Name == "t" || on.Name == "b" || on.Name == "tb" {
				found = append(found, fset.Position(call.Pos()).String()+" Skip")
			}
		case "Sleep":
			if on.Name == "time" {
				found = append(found, fset.Position(call.Pos()).String())
			}
		}
		return true
	})
	return found
}

// TestLaw_NothingRegistersItself finds init functions.
func TestLaw_NothingRegistersItself(t *testing.T) {
	for _, f := range sources(t, ".go") {
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", f), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				t.Errorf("%s has an init function: main wires by hand", f)
			}
		}
	}
}
