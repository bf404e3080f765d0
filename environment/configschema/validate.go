package configschema

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"berth/environment"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// Validate says what is wrong with a config, at "config.<name>", with what to do;
// a key that the schema does not know is wrong. Secrets are strings under their
// request name, or their reference under the name with "SecretRef". The config's
// own key "provider" is not looked at unless the schema names it.
func (s *Schema) Validate(config map[string]json.RawMessage) []environment.FieldError {
	found := problems{}
	values := map[string]any{}
	stored := map[string]bool{} // secrets that only their reference stands for
	for _, key := range slices.Sorted(maps.Keys(config)) {
		if unset(config[key]) || key == providerKey {
			continue
		}
		f, known := s.byName[key]
		if name, isRef := strings.CutSuffix(key, refSuffix); isRef && !known && s.byName[name].Secret {
			stored[name] = true
			continue
		}
		if !known {
			found.add("config."+key, "There is no setting of that name.")
			continue
		}
		value, err := decode(config[key])
		if err != nil {
			found.add("config."+key, "This value cannot be read.")
			continue
		}
		if text, isText := value.(string); isText && f.Required && strings.TrimSpace(text) == "" {
			continue // it is missing
		}
		values[key] = value
	}
	for name, value := range values {
		if one := s.compiled.Properties[name]; one != nil {
			s.check(one, value, []string{name}, stored, found)
		}
	}
	s.check(s.compiled, values, nil, stored, found) // how they go together
	return found.sorted()
}

// check collects what is wrong with the value at a path.
func (s *Schema) check(schema *jsonschema.Schema, value any, path []string, stored map[string]bool, found problems) {
	err := schema.Validate(value)
	if wrong, is := errors.AsType[*jsonschema.ValidationError](err); is {
		s.collect(wrong, path, stored, found)
	} else if err != nil {
		found.add(fieldOf(path), "This cannot be checked.")
	}
}

// problems are messages by field; the first one of a field is kept.
type problems map[string]string

func (p problems) add(field, message string) {
	if _, has := p[field]; !has {
		p[field] = message
	}
}

func (p problems) sorted() []environment.FieldError {
	var out []environment.FieldError
	for _, field := range slices.Sorted(maps.Keys(p)) {
		out = append(out, environment.FieldError{Field: field, Message: p[field]})
	}
	return out
}

// collect turns what the validator found below a path into messages. Only leaves
// have a meaning for people, and unions, whose leaves contradict each other.
func (s *Schema) collect(e *jsonschema.ValidationError, below []string, stored map[string]bool, found problems) {
	path := slices.Concat(below, e.InstanceLocation)
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		s.missing(path, k.Missing, stored, found)
		return
	case *kind.DependentRequired:
		s.missing(path, k.Missing, stored, found)
		return
	case *kind.Dependency:
		s.missing(path, k.Missing, stored, found)
		return
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			if len(path) == 0 && name == providerKey {
				continue
			}
			found.add(fieldOf(append(slices.Clone(path), name)), "There is no setting of that name.")
		}
		return
	case *kind.PropertyNames:
		if len(below) == 0 {
			return // its place is not told rightly from up here; each setting is checked alone too
		}
		found.add(fieldOf(append(slices.Clone(path), k.Property)), "This name is not allowed here.")
		return
	case *kind.OneOf, *kind.AnyOf:
		if len(path) == 0 {
			break // its leaves say which settings do not go together
		}
		if one := fitting(e); one != nil {
			s.collect(one, below, stored, found)
			return
		}
		found.add(fieldOf(path), s.message(path, e.ErrorKind))
		return
	}
	if len(e.Causes) == 0 {
		if len(path) > 0 && stored[path[0]] {
			return
		}
		found.add(fieldOf(path), s.message(path, e.ErrorKind))
	}
	for _, cause := range e.Causes {
		s.collect(cause, below, stored, found)
	}
}

// missing are names that must be there, but for stored secrets.
func (s *Schema) missing(path, names []string, stored map[string]bool, found problems) {
	for _, name := range names {
		if len(path) == 0 && (stored[name] || name == providerKey) {
			continue
		}
		title := cmp.Or(s.byName[name].Title, name)
		message := title + " is needed."
		if len(s.byName[name].Options) > 0 {
			message = title + " is needed: choose " + choices(s.byName[name].Options) + "."
		}
		found.add(fieldOf(append(slices.Clone(path), name)), message)
	}
}

// fitting is the one variant of a union that has the value's type and fails for
// another reason; nil when none or several do.
func fitting(union *jsonschema.ValidationError) *jsonschema.ValidationError {
	var one *jsonschema.ValidationError
	for _, cause := range union.Causes {
		if wrongType(cause, len(union.InstanceLocation)) {
			continue
		}
		if one != nil {
			return nil
		}
		one = cause
	}
	return one
}

// wrongType reports whether the value itself, at that depth, is of another type, or
// another word than the allowed ones.
func wrongType(e *jsonschema.ValidationError, depth int) bool {
	switch e.ErrorKind.(type) {
	case *kind.Type, *kind.Enum, *kind.Const:
		if len(e.InstanceLocation) == depth {
			return true
		}
	}
	return slices.ContainsFunc(e.Causes, func(c *jsonschema.ValidationError) bool { return wrongType(c, depth) })
}

// fieldOf is the name of what is at a path: "config.env.NAME".
func fieldOf(path []string) string {
	return strings.Join(append([]string{"config"}, path...), ".")
}
