package handlers

import (
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/labstack/echo/v4"
)

// TestOpenAPIHasEveryRoute keeps the document true: each route of the API is in
// it, and it has none that is not there.
func TestOpenAPIHasEveryRoute(t *testing.T) {
	e := echo.New()
	(&server{}).apiRoutes(e)
	routes := map[string]bool{}
	for _, r := range e.Routes() {
		routes[r.Method+" "+r.Path] = true
	}
	documented, ids := map[string]bool{}, map[string]string{}
	for _, op := range operations() {
		route := op.method + " " + op.path
		if documented[route] {
			t.Errorf("%s is in the table of operations twice", route)
		}
		documented[route] = true
		if other, taken := ids[op.id]; taken || op.id == "" {
			t.Errorf("%s has the id %q, which %q has too", route, op.id, other)
		}
		ids[op.id] = route
		if op.summary == "" || op.who == "" || len(op.answers) == 0 {
			t.Errorf("%s lacks a summary, who may call it, or an answer", route)
		}
		if !routes[route] {
			t.Errorf("%s is in the table of operations (openapi_*.go) and not in routes.go", route)
		}
		if op.open != isOpen(op.path) {
			t.Errorf("%s is open: %v; in the document: %v", route, isOpen(op.path), op.open)
		}
	}
	for route := range routes {
		if !documented[route] {
			t.Errorf("%s is not in the OpenAPI document: add an operation to the handlers/openapi_*.go file of its subject", route)
		}
	}
}

// TestOpenAPIIsValid loads the served document and checks it by the rules of
// OpenAPI 3.1 and of the JSON schemas in it.
func TestOpenAPIIsValid(t *testing.T) {
	f := newFront(t)
	got := f.want(f.call("GET", "/api/openapi.json", ""), 200, nil)
	doc := loadDocument(t, []byte(got.Body))
	if !doc.IsOpenAPI31OrLater() {
		t.Errorf("version %q", doc.OpenAPI)
	}
	again := f.call("GET", "/api/openapi.json", "", "If-None-Match: "+got.Header.Get("ETag"))
	if again.Status != 304 || again.Body != "" {
		t.Errorf("with its ETag %q: %d %q", got.Header.Get("ETag"), again.Status, again.Body)
	}
	if stale := f.call("GET", "/api/openapi.json", "", `If-None-Match: "another"`); stale.Status != 200 {
		t.Errorf("with another ETag: %d", stale.Status)
	}
}

// TestOpenAPIWordsAreUsed finds special schemas of fields that are no more.
func TestOpenAPIWordsAreUsed(t *testing.T) {
	made := newShapes(specialSchemas())
	for _, requests := range []bool{false, true} {
		made.requests = requests
		for _, op := range operations() {
			if requests && op.body != nil {
				made.of(op.body)
			}
			for _, reply := range op.answers {
				if !requests && reply.body != nil {
					made.of(reply.body)
				}
			}
		}
	}
	for key := range made.special {
		if !made.used[key] {
			t.Errorf("openapi_words.go says what %s holds, and no such field is in the document", key)
		}
	}
	for name := range made.components {
		if strings.ContainsAny(name, "[]/. ") {
			t.Errorf("the component %q has no proper name", name)
		}
	}
}

func loadDocument(t *testing.T, body []byte) *openapi3.T {
	t.Helper()
	loader := openapi3.NewLoader()
	doc, err := loader.LoadFromData(body)
	if err != nil {
		t.Fatalf("load: %v", err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatalf("validate: %v", err)
	}
	return doc
}
