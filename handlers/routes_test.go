package handlers

import (
	"os"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"
)

// TestRoutesAreDocumented keeps docs/api.md true: each route of the API is in
// it, and it has none that is not there.
func TestRoutesAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	e := echo.New()
	(&server{}).apiRoutes(e)
	have := map[string]bool{}
	for _, r := range e.Routes() {
		have["`"+r.Method+" "+r.Path+"`"] = true
	}
	for route := range have {
		if !strings.Contains(string(text), route) {
			t.Errorf("%s is not in docs/api.md", route)
		}
	}
	for _, method := range []string{"GET", "POST", "PATCH", "DELETE"} {
		for _, after := range strings.Split(string(text), "`"+method+" /api")[1:] {
			path, _, _ := strings.Cut(after, "`")
			if route := "`" + method + " /api" + path + "`"; !have[route] {
				t.Errorf("docs/api.md has %s, which is no route", route)
			}
		}
	}
}
