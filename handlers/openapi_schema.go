package handlers

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"berth/handlers/api"

	"github.com/google/uuid"
)

// schema is a JSON schema of the dialect that OpenAPI 3.1 uses.
type schema struct {
	Ref                  string             `json:"$ref,omitempty"`
	Type                 any                `json:"type,omitempty"` // one name, or a list of them
	Format               string             `json:"format,omitempty"`
	ContentEncoding      string             `json:"contentEncoding,omitempty"`
	Description          string             `json:"description,omitempty"`
	Enum                 []string           `json:"enum,omitempty"`
	Minimum              *int64             `json:"minimum,omitempty"`
	Maximum              *int64             `json:"maximum,omitempty"`
	MaxLength            *int64             `json:"maxLength,omitempty"`
	Items                *schema            `json:"items,omitempty"`
	Properties           map[string]*schema `json:"properties,omitempty"`
	Required             []string           `json:"required,omitempty"`
	AdditionalProperties any                `json:"additionalProperties,omitempty"` // false, or a schema
	AnyOf                []*schema          `json:"anyOf,omitempty"`
}

// shapes makes schemas of Go types. Named structs become components; those of
// requests are closed, because an unknown key of a body is refused.
type shapes struct {
	components map[string]*schema
	names      map[shapeKey]string
	special    map[string]*schema // by "Type.field"
	used       map[string]bool    // keys of special
	requests   bool               // what is made now is a request
}

type shapeKey struct {
	of      reflect.Type
	request bool
}

func newShapes(special map[string]*schema) *shapes {
	return &shapes{components: map[string]*schema{}, names: map[shapeKey]string{}, special: special, used: map[string]bool{}}
}

// of is the schema of a type, a reference for a named struct.
func (s *shapes) of(t reflect.Type) *schema {
	switch t {
	case reflect.TypeFor[uuid.UUID]():
		return &schema{Type: "string", Format: "uuid"}
	case reflect.TypeFor[api.Time](), reflect.TypeFor[time.Time]():
		return &schema{Type: "string", Format: "date-time"}
	case reflect.TypeFor[json.RawMessage]():
		return &schema{}
	case reflect.TypeFor[[]byte]():
		return &schema{Type: "string", ContentEncoding: "base64"}
	}
	if inner, canBeNull, is := optionalOf(t); is {
		if canBeNull {
			return orNull(s.of(inner))
		}
		return s.of(inner)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return orNull(s.of(t.Elem()))
	case reflect.Slice:
		return &schema{Type: "array", Items: s.of(t.Elem())}
	case reflect.Map:
		return &schema{Type: "object", AdditionalProperties: s.of(t.Elem())}
	case reflect.Struct:
		return s.object(t)
	case reflect.String:
		return &schema{Type: "string"}
	case reflect.Bool:
		return &schema{Type: "boolean"}
	case reflect.Int, reflect.Int32, reflect.Int64:
		return &schema{Type: "integer"}
	case reflect.Float64:
		return &schema{Type: "number"}
	case reflect.Interface:
		return &schema{}
	}
	panic(fmt.Sprintf("openapi: no schema for %s", t)) // a test makes the whole document
}

// optionalOf takes optional[T] and nullable[T] apart.
func optionalOf(t reflect.Type) (inner reflect.Type, canBeNull, is bool) {
	if t.Kind() != reflect.Struct || !reflect.PointerTo(t).Implements(reflect.TypeFor[settable]()) {
		return nil, false, false
	}
	value, _ := t.FieldByName("Value")
	if value.Type.Kind() == reflect.Pointer {
		return value.Type.Elem(), true, true
	}
	return value.Type, false, true
}

func orNull(s *schema) *schema {
	if word, ok := s.Type.(string); ok && s.Ref == "" {
		s.Type = []string{word, "null"}
		return s
	}
	if s.Ref == "" && s.Type == nil && s.AnyOf == nil {
		return s // takes anything
	}
	return &schema{AnyOf: []*schema{s, {Type: "null"}}}
}

// object is a struct: in place when it has no name, else a component.
func (s *shapes) object(t reflect.Type) *schema {
	if t.Name() == "" {
		return s.fields(t)
	}
	key := shapeKey{t, s.requests}
	name, known := s.names[key]
	if !known {
		name = s.componentName(t)
		s.names[key] = name
		s.components[name] = nil // taken, while its fields are made
		s.components[name] = s.fields(t)
	}
	return &schema{Ref: "#/components/schemas/" + name}
}

func (s *shapes) componentName(t reflect.Type) string {
	name := strings.ToUpper(t.Name()[:1]) + t.Name()[1:]
	if strings.HasSuffix(t.PkgPath(), "/environment") && (name == "Capabilities" || s.has(name)) {
		name = "Driver" + name
	}
	if s.requests && s.has(name) {
		name += "Input"
	}
	if s.has(name) {
		panic("openapi: two types are named " + name)
	}
	return name
}

func (s *shapes) has(name string) bool {
	_, is := s.components[name]
	return is
}

func (s *shapes) fields(t reflect.Type) *schema {
	o := &schema{Type: "object", Properties: map[string]*schema{}}
	if s.requests {
		o.AdditionalProperties = false
	}
	s.addFields(o, t)
	slices.Sort(o.Required)
	return o
}

func (s *shapes) addFields(o *schema, t reflect.Type) {
	for field := range t.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Anonymous && name == "" {
			s.addFields(o, field.Type)
			continue
		}
		if name == "" || name == "-" {
			continue
		}
		required := s.isRequired(field, options)
		if required {
			o.Required = append(o.Required, name)
		} else if !s.requests && field.Type.Kind() == reflect.Pointer {
			field.Type = field.Type.Elem() // what is left out is never null
		}
		o.Properties[name] = s.field(t, field, name)
	}
}

// field is the schema of a field: the special one of its struct and name, else
// that of its type.
func (s *shapes) field(t reflect.Type, field reflect.StructField, name string) *schema {
	key := t.Name() + "." + name
	special, is := s.special[key]
	if !is {
		return s.of(field.Type)
	}
	s.used[key] = true
	one := *special
	if field.Type.Kind() == reflect.Pointer {
		return orNull(&one)
	}
	return &one
}

// isRequired says whether a field is always there, or must be.
func (s *shapes) isRequired(field reflect.StructField, options string) bool {
	if strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero") {
		return false
	}
	if !s.requests {
		return true
	}
	_, _, isOptional := optionalOf(field.Type)
	switch field.Type.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Bool:
		return false
	}
	return !isOptional && field.Type != reflect.TypeFor[json.RawMessage]()
}
