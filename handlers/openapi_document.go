package handlers

import (
	"maps"
	"slices"
	"strings"

	"berth/handlers/api"
)

// operations is the contract of the API: one row for each of its routes.
func operations() []operation {
	return slices.Concat(environmentOperations(), probeOperations(), leaseOperations(), runOperations(), instanceOperations(),
		identityOperations(), secretOperations())
}

// The parts of an OpenAPI document that Berth has.
type (
	document struct {
		OpenAPI    string                             `json:"openapi"`
		Info       map[string]string                  `json:"info"`
		Servers    []map[string]string                `json:"servers"`
		Security   []map[string][]string              `json:"security"`
		Tags       []map[string]string                `json:"tags"`
		Paths      map[string]map[string]docOperation `json:"paths"`
		Components docComponents                      `json:"components"`
	}
	docComponents struct {
		Schemas         map[string]*schema           `json:"schemas"`
		Headers         map[string]docHeader         `json:"headers"`
		SecuritySchemes map[string]map[string]string `json:"securitySchemes"`
	}
	docOperation struct {
		OperationID string                 `json:"operationId"`
		Summary     string                 `json:"summary"`
		Description string                 `json:"description"`
		Tags        []string               `json:"tags"`
		Parameters  []docParameter         `json:"parameters,omitempty"`
		RequestBody *docBody               `json:"requestBody,omitempty"`
		Responses   map[string]docResponse `json:"responses"`
		// Security is nil for what the document says of all, [] for none.
		Security *[]map[string][]string `json:"security,omitempty"`
	}
	docParameter struct {
		Name        string  `json:"name"`
		In          string  `json:"in"`
		Description string  `json:"description,omitempty"`
		Required    bool    `json:"required,omitempty"`
		Schema      *schema `json:"schema"`
	}
	docBody struct {
		Required bool                `json:"required"`
		Content  map[string]docMedia `json:"content"`
	}
	docMedia struct {
		Schema *schema `json:"schema"`
	}
	docResponse struct {
		Description string               `json:"description"`
		Headers     map[string]docHeader `json:"headers,omitempty"`
		Content     map[string]docMedia  `json:"content,omitempty"`
	}
	docHeader struct {
		Ref         string  `json:"$ref,omitempty"`
		Description string  `json:"description,omitempty"`
		Schema      *schema `json:"schema,omitempty"`
	}
)

// newDocument makes the document of a table of operations.
func newDocument(version string, table []operation) document {
	made := newShapes(specialSchemas())
	doc := document{
		OpenAPI: "3.1.0",
		Info: map[string]string{"title": "Berth", "version": version,
			"description": "Where agents run: environments, probes, leases and runs. Ids are UUIDs, times RFC 3339 in UTC, lists plain arrays whose next page is in the Link header."},
		Servers:  []map[string]string{{"url": "/"}},
		Security: []map[string][]string{{}, {"bearer": {}}, {"session": {}}},
		Paths:    map[string]map[string]docOperation{},
	}
	refusal := made.of(typed[api.Error]())
	tags := map[string]bool{}
	answers := make([]map[string]docResponse, len(table))
	for i, op := range table { // all answers come first: their types get the plain names
		answers[i] = responses(made, op, refusal)
	}
	made.requests = true
	for i, op := range table {
		path := pathOf(op.path)
		if doc.Paths[path] == nil {
			doc.Paths[path] = map[string]docOperation{}
		}
		doc.Paths[path][strings.ToLower(op.method)] = docOperation{
			OperationID: op.id, Summary: op.summary, Description: "For " + op.who + ".", Tags: []string{tagOf(op.path)},
			Parameters: parameters(op), RequestBody: requestBody(made, op), Responses: answers[i], Security: securityOf(op),
		}
		tags[tagOf(op.path)] = true
	}
	for _, tag := range slices.Sorted(maps.Keys(tags)) {
		doc.Tags = append(doc.Tags, map[string]string{"name": tag})
	}
	doc.Components = docComponents{Schemas: made.components, Headers: headers(), SecuritySchemes: map[string]map[string]string{
		"bearer":  {"type": "http", "scheme": "bearer", "description": "A personal token or an agent's key."},
		"session": {"type": "apiKey", "in": "cookie", "name": "berth_session", "description": "Of a person who signed in, in the mode authenticated; over https it is named __Host-berth_session."},
	}}
	return doc
}

// securityOf is nil where the document's own list holds: no credential (in the
// mode local_trusted), a bearer's, or a session's.
func securityOf(op operation) *[]map[string][]string {
	if !op.open {
		return nil
	}
	return &[]map[string][]string{}
}

// pathOf is a route's path as the document writes it: :c is {companyId}.
func pathOf(route string) string {
	parts := strings.Split(route, "/")
	for i, part := range parts {
		if name, is := strings.CutPrefix(part, ":"); is {
			parts[i] = "{" + pathName(name) + "}"
		}
	}
	return strings.Join(parts, "/")
}

func pathName(param string) string {
	switch param {
	case "c":
		return "companyId"
	case "kid":
		return "keyId"
	}
	return param
}

// tagOf groups operations by the noun that they are about.
func tagOf(path string) string {
	parts := strings.Split(strings.TrimPrefix(path, "/api/"), "/")
	if len(parts) > 2 && parts[0] == "companies" {
		return parts[2]
	}
	return parts[0]
}

func parameters(op operation) []docParameter {
	var out []docParameter
	for _, part := range strings.Split(op.path, "/") {
		if name, is := strings.CutPrefix(part, ":"); is {
			out = append(out, docParameter{Name: pathName(name), In: "path", Required: true, Schema: &schema{Type: "string", Format: "uuid"}})
		}
	}
	for _, q := range op.query {
		out = append(out, docParameter{Name: q.name, In: "query", Description: q.description, Schema: q.schema})
	}
	if op.ifMatch {
		out = append(out, docParameter{Name: "If-Match", In: "header", Description: "The ETag that the change is made on; a stale one is 412.", Schema: &schema{Type: "string"}})
	}
	return out
}

func requestBody(made *shapes, op operation) *docBody {
	if op.body == nil {
		return nil
	}
	return &docBody{Required: !op.optionalBody, Content: map[string]docMedia{"application/json": {made.of(op.body)}}}
}
