package e2e

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

// room is what one folder may import of ours. A name that ends with /... stands
// for a folder and all below it.
type room struct {
	folder string
	ours   []string
}

// rooms is the table of ARCHITECTURE.md. The first that matches a folder counts.
func rooms() []room {
	return []room{
		{"", []string{"..."}}, // main
		{"handlers/api", []string{"environment"}},
		{"handlers/cli", []string{"handlers/api", "environment", "environment/configschema"}},
		{"handlers", []string{"handlers/api", "views", "views/preview", "environment/...", "static"}},
		{"views/ui", nil},
		{"views/preview", []string{"views", "views/ui", "environment", "environment/example"}},
		{"views", []string{"views/ui", "environment"}},
		{"static/...", nil},
		{"environment", nil},
		{"environment/access", []string{"environment"}},
		{"environment/catalogue", []string{"environment", "environment/access", "environment/configschema", "environment/crew"}},
		{"environment/configschema", []string{"environment"}},
		{"environment/probing", []string{"environment", "environment/access", "environment/crew", "environment/leasing"}},
		{"environment/leasing", []string{"environment", "environment/access", "environment/crew"}},
		{"environment/running", []string{"environment", "environment/access", "environment/crew", "environment/leasing"}},
		{"environment/identity", []string{"environment", "environment/access"}},
		{"environment/secrets", []string{"environment", "environment/access"}},
		{"environment/crew", []string{"environment"}},
		{"environment/fleet", []string{"environment"}},
		{"environment/example", []string{"environment"}},
		{"environment/environmenttest", []string{"environment/..."}},
		{"store", []string{"environment/...", "migrations"}},
		{"store/cluster", []string{"environment"}},
		{"store/storetest", []string{"store", "store/cluster", "environment/environmenttest"}},
		{"store/vault", []string{"environment"}},
		{"drivers", []string{"environment"}},
		{"drivers/shell", []string{"environment"}},
		{"drivers/supervisor", []string{"environment", "drivers/shell"}},
		{"drivers/folder", []string{"environment"}},
		{"drivers/settings", []string{"environment"}},
		{"drivers/local", []string{"environment", "drivers/folder", "drivers/shell", "drivers/supervisor"}},
		{"drivers/ssh", []string{"environment", "drivers/settings", "drivers/shell", "drivers/supervisor"}},
		{"drivers/ssh/sshtarget", nil},
		{"drivers/ssh/sshdtest", nil},
		{"drivers/docker", []string{"environment", "drivers/settings", "drivers/shell", "drivers/supervisor"}},
		{"drivers/docker/enginetest", nil},
		{"drivers/docker/podmantest", []string{"environment", "drivers/docker"}}, // tests only
		{"drivers/fake", []string{"environment", "drivers/folder", "drivers/shell", "drivers/supervisor"}},
		{"drivers/drivertest", []string{"environment"}},
		{"migrations", nil},
		{"e2e/...", []string{"..."}},
	}
}

// testRooms may be imported by tests beside what their room may import.
func testRooms() []string {
	return []string{
		"environment/...", "drivers/drivertest", "drivers/shell",
		"drivers/ssh/sshtarget", "drivers/ssh/sshdtest", "drivers/docker/enginetest", "drivers/fake", "migrations", "store/cluster", "store/storetest",
	}
}

// guests are the third parties, each with the rooms that it may enter. What is
// not named may enter none.
func guests() map[string][]string {
	return map[string][]string{
		"github.com/labstack/echo/v4":                {"handlers"},
		"github.com/andybalholm/brotli":              {"handlers"},
		"github.com/prometheus/client_golang":        {"handlers"},
		"github.com/spf13":                           {"handlers/cli"},
		"github.com/alexedwards/scs/v2":              {"handlers"},
		"golang.org/x/time":                          {"handlers"},
		"golang.org/x/crypto/argon2":                 {"store/vault"},
		"golang.org/x/term":                          {"handlers/cli"},
		"github.com/a-h/templ":                       {"views", "views/...", "handlers"},
		"github.com/jmoiron/sqlx":                    {"store", "store/storetest"},
		"github.com/lib/pq":                          {"store", "store/cluster", "store/storetest", "e2e"}, // e2e: a row changed behind a server's back
		"github.com/pressly/goose/v3":                {"store"},
		"github.com/fergusstrange/embedded-postgres": {"store/cluster"},
		"github.com/tink-crypto/tink-go/v2":          {"store/vault"},
		"golang.org/x/crypto/ssh":                    {"drivers/ssh", "drivers/ssh/..."},
		"golang.org/x/crypto/bcrypt":                 {"drivers/docker/enginetest"},
		"github.com/kevinburke/ssh_config":           {"drivers/ssh"},
		"github.com/pkg/sftp":                        {"drivers/ssh", "drivers/ssh/..."},
		"github.com/gliderlabs/ssh":                  {"drivers/ssh/sshtarget"},
		"golang.org/x/sync":                          {"", "handlers", "environment/probing", "environment/running", "drivers/ssh"},
		"github.com/moby/moby":                       {"drivers/docker", "drivers/docker/enginetest"},
		"github.com/containerd/errdefs":              {"drivers/docker"},
		"github.com/opencontainers/image-spec":       {"drivers/docker"}, // the platform in the client's options
		"github.com/creack/pty":                      {"drivers/fake"},
		"github.com/cenkalti/backoff/v5":             {"environment/leasing"},
		"github.com/santhosh-tekuri/jsonschema/v6":   {"environment/configschema"},
		"github.com/playwright-community":            {"e2e", "e2e/..."},
		"github.com/distribution/reference":          {"environment"},
		"github.com/google/uuid":                     {"..."},
	}
}

// testGuests may enter any room's tests.
func testGuests() []string {
	return []string{
		"go.uber.org/goleak", "pgregory.net/rapid", "github.com/google/uuid",
		"golang.org/x/crypto", "github.com/getkin/kin-openapi", "github.com/santhosh-tekuri/jsonschema/v6", "github.com/gliderlabs/ssh", "github.com/PuerkitoBio/goquery", "golang.org/x/net/html",
	}
}

// listed is a package as `go list` tells it.
type listed struct {
	ImportPath   string
	Imports      []string
	TestImports  []string
	XTestImports []string
}

func packages(t *testing.T) []listed {
	t.Helper()
	list := exec.Command("go", "list", "-json=ImportPath,Imports,TestImports,XTestImports", "./...")
	list.Dir = ".."
	out, err := list.Output()
	if err != nil {
		if e, ok := errors.AsType[*exec.ExitError](err); ok {
			t.Fatalf("go list: %v: %s", err, e.Stderr)
		}
		t.Fatal(err)
	}
	var all []listed
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p listed
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

func TestLaw_Imports(t *testing.T) {
	for _, p := range packages(t) {
		folder := folderOf(p.ImportPath)
		r, ok := roomOf(folder)
		if !ok {
			t.Errorf("folder %s is not in the table of rooms: add it here and in ARCHITECTURE.md", folder)
			continue
		}
		for _, imported := range p.Imports {
			if problem := trespass(folder, r.ours, imported, nil); problem != "" {
				t.Errorf("%s imports %s: %s", name(folder), imported, problem)
			}
		}
		for _, imported := range append(p.TestImports, p.XTestImports...) {
			if problem := trespass(folder, append(testRooms(), r.ours...), imported, testGuests()); problem != "" {
				t.Errorf("the tests of %s import %s: %s", name(folder), imported, problem)
			}
		}
	}
}

// TestLaw_ImportsCanFail shows that the law refuses what it is there to refuse.
func TestLaw_ImportsCanFail(t *testing.T) {
	for _, c := range []struct {
		folder, imported string
		refused          bool
	}{
		{"handlers", "berth/store", true},
		{"handlers", "berth/drivers/ssh", true},
		{"handlers", "berth/environment/running", false},
		{"handlers/cli", "berth/environment/catalogue", true},
		{"handlers/cli", "github.com/labstack/echo/v4", true},
		{"views", "berth/handlers", true},
		{"drivers/ssh", "berth/drivers/local", true},
		{"drivers/local", "berth/drivers/ssh/sshtarget", true},
		{"drivers/fake", "berth/drivers/local", true},
		{"drivers/docker", "berth/drivers/ssh", true},
		{"environment", "berth/environment/access", true},
		{"environment/running", "net/http", true},
		{"environment/running", "database/sql", true},
		{"environment", "github.com/google/uuid", false},
		{"store", "github.com/labstack/echo/v4", true},
		{"handlers", "golang.org/x/crypto/ssh", true},
		{"handlers", "example.com/never/seen", true},
		{"store", "github.com/lib/pq", false},
	} {
		r, ok := roomOf(c.folder)
		if !ok {
			t.Fatalf("no room for %s", c.folder)
		}
		if problem := trespass(c.folder, r.ours, c.imported, nil); (problem != "") != c.refused {
			t.Errorf("%s importing %s: %q, want refused %v", c.folder, c.imported, problem, c.refused)
		}
	}
}

// trespass says why a folder may not import a package; "" when it may.
func trespass(folder string, ours []string, imported string, extra []string) string {
	if folder == folderOf(imported) && (imported == "berth" || strings.HasPrefix(imported, "berth/")) {
		return "" // an external test of its own package
	}
	domain := folder == "environment" || strings.HasPrefix(folder, "environment/")
	switch {
	case imported == "berth" || strings.HasPrefix(imported, "berth/"):
		if matches(ours, folderOf(imported)) {
			return ""
		}
		return "not a room that it may know"
	case !strings.Contains(strings.Split(imported, "/")[0], "."):
		if domain && extra == nil && (imported == "net/http" || imported == "database/sql") && folder != "environment/environmenttest" {
			return "the domain knows neither HTTP nor SQL"
		}
		return ""
	}
	for _, guest := range extra {
		if imported == guest || strings.HasPrefix(imported, guest+"/") {
			return ""
		}
	}
	for guest, allowed := range guests() {
		if imported == guest || strings.HasPrefix(imported, guest+"/") {
			if matches(allowed, folder) {
				return ""
			}
			return "that library is not for this room"
		}
	}
	return "nobody knows that library: add it to the guests and say in the commit what it saves"
}

func matches(patterns []string, folder string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		under, all := strings.CutSuffix(p, "...")
		return p == folder || (all && (strings.HasPrefix(folder, under) || folder+"/" == under))
	})
}

func roomOf(folder string) (room, bool) {
	i := slices.IndexFunc(rooms(), func(r room) bool { return matches([]string{r.folder}, folder) })
	if i < 0 {
		return room{}, false
	}
	return rooms()[i], true
}

func folderOf(importPath string) string {
	return strings.TrimPrefix(strings.TrimPrefix(importPath, "berth"), "/")
}

func name(folder string) string {
	if folder == "" {
		return "main"
	}
	return path.Clean(folder)
}
