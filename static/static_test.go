package static

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestVendoredFilesAreAsPublished(t *testing.T) {
	list, err := os.ReadFile("vendor/checksums.txt")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]string{}
	for line := range strings.Lines(string(list)) {
		sum, name, ok := strings.Cut(strings.TrimSpace(line), "  ")
		if !ok {
			t.Fatalf("checksums.txt: line %q", line)
		}
		known[name] = sum
	}
	scripts, err := filepath.Glob("vendor/*.js")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("vendor/*.js: %v, %v", scripts, err)
	}
	for _, file := range scripts {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(data)
		if got, want := hex.EncodeToString(sum[:]), known[filepath.Base(file)]; got != want {
			t.Errorf("%s: sha256 %s, want %s", file, got, want)
		}
	}
	for _, licence := range []string{"vendor/htmx.LICENSE", "vendor/htmx-ext-sse.LICENSE"} {
		if data, err := os.ReadFile(licence); err != nil || !strings.Contains(string(data), "THE SOFTWARE IS PROVIDED") {
			t.Errorf("%s: not the licence (%v)", licence, err)
		}
	}
}

func TestEachFileIsFoundByItsHashedURL(t *testing.T) {
	for _, name := range Names() {
		hashed, ok := strings.CutPrefix(URL(name), Prefix)
		if data, found := File(hashed); !ok || !found || len(data) == 0 {
			t.Errorf("File(%q) of %s: found %v, %d bytes", hashed, name, found, len(data))
		}
	}
	if _, ok := File("app.css"); ok {
		t.Error("a name without its hash is served")
	}
}

// What a strict Content-Security-Policy would refuse must not be needed.
func TestScriptsNeedNoEval(t *testing.T) {
	for _, name := range []string{"app.js", "live.js"} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{"eval(", "new Function", ".style", ".innerHTML", "insertAdjacentHTML", "document.write"} {
			if strings.Contains(string(data), word) {
				t.Errorf("%s uses %s", name, word)
			}
		}
	}
}

// A page loads its own scripts in one request, as two statements.
func TestOneScript(t *testing.T) {
	app, errApp := os.ReadFile("app.js")
	live, errLive := os.ReadFile("live.js")
	served, ok := File(strings.TrimPrefix(URL("app.js"), Prefix))
	if errApp != nil || errLive != nil || !ok || string(served) != string(app)+";\n"+string(live) {
		t.Errorf("what is served is not app.js and live.js (%v, %v)", errApp, errLive)
	}
}
