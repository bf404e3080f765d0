package handlers

import (
	"net/http"
	"reflect"
)

// operation is one row of the API's contract: what a route takes, what it
// answers and who may call it. Each route of routes.go has one, in the
// openapi_*.go file of its subject.
type operation struct {
	method, path string // as in routes.go
	id           string // "listEnvironments": the name of the operation in clients
	summary      string
	who          string
	query        []parameter
	body         reflect.Type // nil: takes no body
	optionalBody bool
	answers      []reply
	// fails are the refusals beyond those that every operation may give: 404,
	// 409, 412, 422. A path with an id has 404, one with a body has 408, 413
	// and 415.
	fails   []int
	open    bool // needs no credential
	ifMatch bool // takes If-Match
}

// reply is one good answer.
type reply struct {
	status  int
	body    reflect.Type // nil: none
	kind    string       // media type; "": JSON
	headers []string     // beside those of every answer
}

// parameter is one of the query.
type parameter struct {
	name, description string
	schema            *schema
}

// Who may call an operation.
const (
	whoAnybody   = "anybody"
	whoOperator  = "the local operator and instance admins"
	whoPerson    = "a person, for themselves"
	whoSignedIn  = "everybody who is signed in, and the local operator"
	whoReader    = "the local operator, instance admins and members of a company; members see less"
	whoMember    = "the local operator, instance admins, members of the company and its agents"
	whoKeeper    = "the local operator, instance admins, and owners and admins of the company"
	whoOwnRuns   = "the local operator, instance admins, members of its company, and the agent whose run it is"
	whoOwnLeases = "the local operator, instance admins and members of its company; members see less"
)

// typed is the Go type that a body has.
func typed[T any]() reflect.Type { return reflect.TypeFor[T]() }

// ok is a 200 with a T.
func ok[T any](headers ...string) reply {
	return reply{status: http.StatusOK, body: typed[T](), headers: headers}
}

// made is a 201 with a T.
func made[T any](headers ...string) reply {
	return reply{status: http.StatusCreated, body: typed[T](), headers: headers}
}

// accepted is a 202 with a T.
func accepted[T any](headers ...string) reply {
	return reply{status: http.StatusAccepted, body: typed[T](), headers: headers}
}

// nothing is a 204.
func nothing() reply { return reply{status: http.StatusNoContent} }

// other is a 200 of another media type.
func other(kind string, headers ...string) reply {
	return reply{status: http.StatusOK, kind: kind, headers: headers}
}

// listOf is a 200 with a list of T, whose next page is in the Link header.
func listOf[T any]() reply { return ok[[]T]("Link") }

// word is a parameter that is one of words.
func word[T ~string](name, description string, words ...T) parameter {
	return parameter{name, description, enum(words...)}
}

func text(name, description string) parameter {
	return parameter{name, description, &schema{Type: "string"}}
}

func idParameter(name, description string) parameter {
	return parameter{name, description, &schema{Type: "string", Format: "uuid"}}
}

func count(name, description string, least, most int64) parameter {
	return parameter{name, description, &schema{Type: "integer", Minimum: &least, Maximum: &most}}
}

func yesOrNo(name, description string) parameter {
	return parameter{name, description, &schema{Type: "string", Enum: []string{"0", "1", "false", "true", "t", "f", "T", "F", "TRUE", "FALSE", "True", "False"}}}
}

// windowed are the parameters of a list, then more.
func windowed(more ...parameter) []parameter {
	return append([]parameter{
		count("limit", "how many at most; 500 when absent", 1, maxLimit),
		text("cursor", "where the next page begins: out of the Link header"),
	}, more...)
}

func search() parameter { return text("q", "part of the name, without regard to case") }

func enum[T ~string](words ...T) *schema {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = string(w)
	}
	return &schema{Type: "string", Enum: list}
}
