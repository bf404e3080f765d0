package handlers

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	testflags "flag" // flag is ours
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// documented checks every request to the API, and every answer of it, against
// the OpenAPI document: each test of the front door is a test of the contract.
func documented(t *testing.T, next http.Handler) http.Handler {
	t.Helper()
	book := theContract()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		op, known := book.operation(r)
		if !known {
			next.ServeHTTP(w, r)
			return
		}
		var sent bytes.Buffer
		if r.Body != nil {
			r.Body = &readTwice{r.Body, &sent}
		}
		heard := &listener{ResponseWriter: w}
		next.ServeHTTP(heard, r)
		if r.Context().Err() != nil || heard.status == 0 {
			return // nobody was there to hear the answer
		}
		if err := book.check(op, r, sent.Bytes(), heard); err != nil {
			t.Errorf("%s %s (%s): %v; its row is in handlers/openapi_*.go, and words of fields in openapi_words.go",
				r.Method, r.URL.Path, op.id, err)
		}
	})
}

// finish ends the tests. When all have run, each operation of the API must have
// answered well at least once: else nothing checked its part of the document.
func finish(code int) {
	if run := testflags.Lookup("test.run"); code == 0 && run != nil && run.Value.String() == "" {
		for _, name := range theContract().neverMet() {
			fmt.Fprintf(os.Stderr, "no test has a good answer of %s\n", name)
			code = 1
		}
	}
	os.Exit(code)
}

// neverMet are the operations that no test had a good answer of, once all have
// run.
func (c *contract) neverMet() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var names []string
	for _, op := range c.operations {
		if !c.met[op.id] {
			names = append(names, op.id+" ("+op.method+" "+op.path+")")
		}
	}
	return names
}

// contract is the document with every object closed, ready to check values.
type contract struct {
	operations []operation
	doc        document
	mu         sync.Mutex
	met        map[string]bool // ids of operations that answered well in some test
	compiler   *jsonschema.Compiler
	schemas    map[string]*jsonschema.Schema
}

// theContract makes the contract once for all tests: it takes a while.
var theContract = sync.OnceValue(func() *contract {
	c := &contract{operations: operations(), met: map[string]bool{}, compiler: jsonschema.NewCompiler(), schemas: map[string]*jsonschema.Schema{}}
	c.compiler.DefaultDraft(jsonschema.Draft2020)
	c.compiler.AssertFormat()
	c.doc = newDocument("test", c.operations)
	for _, component := range c.doc.Components.Schemas {
		if component.Properties != nil {
			component.AdditionalProperties = false
		}
	}
	body, err := json.Marshal(c.doc)
	if err != nil {
		panic(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		panic(err)
	}
	if err := c.compiler.AddResource(contractURL, value); err != nil {
		panic(err)
	}
	return c
})

const contractURL = "https://berth.test/openapi.json"

// operation finds the row of a request's route, that with the fewest parameters.
func (c *contract) operation(r *http.Request) (operation, bool) {
	best, found, fewest := operation{}, false, 0
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	for _, op := range c.operations {
		if n, fits := fitsRoute(op.path, r.URL.Path); fits && op.method == method && (!found || n < fewest) {
			best, found, fewest = op, true, n
		}
	}
	return best, found
}

// fitsRoute counts the parameters of a route that a path fits.
func fitsRoute(route, path string) (parameters int, fits bool) {
	want, have := strings.Split(route, "/"), strings.Split(path, "/")
	if len(want) != len(have) {
		return 0, false
	}
	for i := range want {
		switch {
		case strings.HasPrefix(want[i], ":"):
			parameters++
		case want[i] != have[i]:
			return 0, false
		}
	}
	return parameters, true
}

// check compares a request and its answer with the contract. What was refused
// may have been asked in any way.
func (c *contract) check(op operation, r *http.Request, sent []byte, heard *listener) error {
	at := "/paths/" + pointer(pathOf(op.path)) + "/" + strings.ToLower(op.method)
	if err := c.checkAnswer(op, at, r, heard); err != nil {
		return err
	}
	if heard.status >= 300 {
		return nil
	}
	c.mu.Lock()
	c.met[op.id] = true
	c.mu.Unlock()
	if err := c.checkQuery(op, at, r); err != nil {
		return err
	}
	if len(sent) == 0 {
		return nil
	}
	if op.body == nil {
		return fmt.Errorf("a body was sent and taken: %.200s", sent)
	}
	return c.valid(at+"/requestBody/content/application~1json/schema", sent, "the request")
}

func (c *contract) checkQuery(op operation, at string, r *http.Request) error {
	first := strings.Count(op.path, "/:") // the parameters of the path come first
	for name, values := range r.URL.Query() {
		known := false
		for i, q := range op.query {
			if q.name != name {
				continue
			}
			known = true
			if values[0] == "" {
				continue // as if it were absent
			}
			value := any(values[0])
			if q.schema.Type == "integer" {
				value = json.Number(values[0])
			}
			if err := c.validValue(fmt.Sprintf("%s/parameters/%d/schema", at, first+i), value, "?"+name); err != nil {
				return err
			}
		}
		if !known {
			return fmt.Errorf("?%s was taken and is no parameter", name)
		}
	}
	return nil
}

func (c *contract) checkAnswer(op operation, at string, r *http.Request, heard *listener) error {
	response, has := c.doc.Paths[pathOf(op.path)][strings.ToLower(op.method)].Responses[strconv.Itoa(heard.status)]
	if !has {
		return fmt.Errorf("it answered %d, which the row does not say: %.300s", heard.status, heard.text())
	}
	kind, _, _ := mime.ParseMediaType(heard.Header().Get("Content-Type"))
	_, hasKind := response.Content[kind]
	switch {
	case heard.body.Len() == 0 && (r.Method == http.MethodHead || len(response.Content) == 0):
		return nil
	case !hasKind:
		return fmt.Errorf("%d came as %q, which the row does not say", heard.status, kind)
	case kind != "application/json" || r.Method == http.MethodHead:
		return nil
	}
	return c.valid(fmt.Sprintf("%s/responses/%d/content/application~1json/schema", at, heard.status), heard.text(), "the answer")
}

func (c *contract) valid(pointer string, body []byte, what string) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%s is no JSON: %w", what, err)
	}
	if err := c.validValue(pointer, value, what); err != nil {
		return fmt.Errorf("%w\nin %.600s", err, body)
	}
	return nil
}

func (c *contract) validValue(pointer string, value any, what string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	compiled, ok := c.schemas[pointer]
	if !ok {
		var err error
		if compiled, err = c.compiler.Compile(contractURL + "#" + pointer); err != nil {
			return fmt.Errorf("compile %s: %w", pointer, err)
		}
		c.schemas[pointer] = compiled
	}
	if err := compiled.Validate(value); err != nil {
		return fmt.Errorf("%s is not what the document says: %w", what, err)
	}
	return nil
}

// pointer escapes a key for a JSON pointer within an address.
func pointer(key string) string {
	return strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(key)
}

// readTwice keeps what is read of a body.
type readTwice struct {
	io.ReadCloser
	kept *bytes.Buffer
}

func (r *readTwice) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	r.kept.Write(p[:n])
	return n, err
}

// listener keeps an answer that is on its way, but for streams.
type listener struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

func (l *listener) WriteHeader(status int) {
	if l.status == 0 {
		l.status = status
	}
	l.ResponseWriter.WriteHeader(status)
}

func (l *listener) Write(p []byte) (int, error) {
	if l.status == 0 {
		l.status = http.StatusOK
	}
	if !strings.HasPrefix(l.Header().Get("Content-Type"), "text/event-stream") {
		l.body.Write(p)
	}
	return l.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach the connection.
func (l *listener) Unwrap() http.ResponseWriter { return l.ResponseWriter }

// text is the body without its compression.
func (l *listener) text() []byte {
	var plain io.Reader = bytes.NewReader(l.body.Bytes())
	switch l.Header().Get("Content-Encoding") {
	case "gzip":
		unzipped, err := gzip.NewReader(plain)
		if err != nil {
			return nil
		}
		plain = unzipped
	case "br":
		plain = brotli.NewReader(plain)
	}
	body, err := io.ReadAll(plain)
	if err != nil {
		return nil
	}
	return body
}
