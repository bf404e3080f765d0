// Package configschema reads the JSON Schema of a driver's config: from it come
// the form, the checks of the API and the flags of the command line.
package configschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"berth/environment"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Limits of a schema.
const (
	maxSchema = 256 << 10
	maxFields = 200
	// maxNumber is how long a number may be written: exact arithmetic on 1e999999999
	// would take all memory.
	maxNumber   = 40
	maxExponent = 3 // digits
)

// refSuffix ends the config key of a stored secret's reference.
const refSuffix = "SecretRef"

// providerKey names the provider within the config; it is chosen beside the form.
const providerKey = "provider"

// where is the schema's own address, against which references are resolved.
const where = "config:///schema.json"

// Schema is a config's schema, compiled. It may be used by many at once.
type Schema struct {
	Fields   []environment.ConfigField // in the order of x-order, then by name
	byName   map[string]environment.ConfigField
	compiled *jsonschema.Schema
}

// Parse reads a schema; an error when it is none, or is beyond what a form can
// show. Nothing is fetched: references must be within it.
func Parse(raw json.RawMessage) (*Schema, error) {
	if len(raw) > maxSchema {
		return nil, fmt.Errorf("read a config schema: it has more than %d KiB", maxSchema>>10)
	}
	doc, err := decode(raw)
	if err != nil {
		return nil, fmt.Errorf("read a config schema: %w", err)
	}
	if _, ok := doc.(map[string]any); !ok {
		return nil, errors.New("read a config schema: it is no object")
	}
	compiled, err := compile(doc)
	if err != nil {
		return nil, fmt.Errorf("compile a config schema: %w", err)
	}
	fields, err := readFields(raw)
	if err != nil {
		return nil, fmt.Errorf("read a config schema: %w", err)
	}
	s := &Schema{Fields: fields, compiled: compiled, byName: make(map[string]environment.ConfigField, len(fields))}
	for _, f := range fields {
		s.byName[f.Name] = f
	}
	return s, nil
}

// noLoader fetches nothing.
type noLoader struct{}

// Load refuses every address.
func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s is outside of the schema", url)
}

// compile turns what the compiler takes for a defect of its own into an error: a
// schema may come from anybody.
func compile(doc any) (s *jsonschema.Schema, err error) {
	defer func() {
		if p := recover(); p != nil {
			s, err = nil, fmt.Errorf("the compiler gave up: %v", p)
		}
	}()
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(noLoader{})
	if err := c.AddResource(where, doc); err != nil {
		return nil, err
	}
	return c.Compile(where)
}

// decode reads a JSON value with its numbers as they are written.
func decode(raw json.RawMessage) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if d.More() {
		return nil, errors.New("there is more than one value")
	}
	if !sane(v) {
		return nil, errors.New("a number is too long")
	}
	return v, nil
}

// sane reports whether every number in v can be computed with.
func sane(v any) bool {
	switch v := v.(type) {
	case json.Number:
		text := string(v)
		_, exponent, _ := strings.Cut(strings.ToLower(text), "e")
		return len(text) <= maxNumber && len(strings.TrimLeft(exponent, "+-0")) <= maxExponent
	case []any:
		for _, item := range v {
			if !sane(item) {
				return false
			}
		}
	case map[string]any:
		for _, item := range v {
			if !sane(item) {
				return false
			}
		}
	}
	return true
}

// Defaults lays the schema's defaults under a config and returns the result; the
// config stays as it is.
func (s *Schema) Defaults(config map[string]json.RawMessage) map[string]json.RawMessage {
	full := maps.Clone(config)
	if full == nil {
		full = map[string]json.RawMessage{}
	}
	for _, f := range s.Fields {
		if unset(full[f.Name]) && len(f.Default) > 0 && !f.Secret {
			full[f.Name] = f.Default
		}
	}
	return full
}

// Clean returns a config as people mean it: without blanks around a line of text,
// and without text that is blank and may be left out. Secrets stay as they are.
func (s *Schema) Clean(config map[string]json.RawMessage) map[string]json.RawMessage {
	clean := maps.Clone(config)
	for _, f := range s.Fields {
		var text string
		if f.Secret || f.Type != TypeString || unset(clean[f.Name]) || json.Unmarshal(clean[f.Name], &text) != nil {
			continue
		}
		trimmed := strings.TrimSpace(text)
		switch quoted, err := json.Marshal(trimmed); {
		case trimmed == "" && !f.Required && !choosable(f, ""):
			delete(clean, f.Name)
		case err == nil && !f.Multiline && trimmed != text:
			clean[f.Name] = quoted
		}
	}
	return clean
}

// choosable reports whether a value is one of an enum's.
func choosable(f environment.ConfigField, value string) bool {
	return slices.ContainsFunc(f.Options, func(o environment.ConfigOption) bool { return o.Value == value })
}

// Field is one of the schema's settings; false when it has none of that name.
func (s *Schema) Field(name string) (environment.ConfigField, bool) {
	f, ok := s.byName[name]
	return f, ok
}

// Role is what a change of a config's key means: the x-role of its field, that of
// the secret for the key of a reference, "target" for what the schema does not know.
func (s *Schema) Role(key string) string {
	if f, ok := s.byName[key]; ok {
		return f.Role
	}
	if f, ok := s.byName[strings.TrimSuffix(key, refSuffix)]; ok && f.Secret {
		return f.Role
	}
	return RoleTarget
}

// unset reports whether a key is absent, or null.
func unset(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) == 0 || bytes.Equal(raw, []byte("null"))
}
