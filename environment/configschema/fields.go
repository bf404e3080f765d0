package configschema

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"berth/environment"
)

// Roles of a config's keys: what a change of one means.
const (
	RoleImage   = "image"
	RoleTarget  = "target"
	RoleAccount = "account"
	RoleRuntime = "runtime"
)

// Types of a field.
const (
	TypeString  = "string"
	TypeInteger = "integer"
	TypeNumber  = "number"
	TypeBoolean = "boolean"
	TypeMap     = "map"
	TypeList    = "list"
	TypeUnion   = "union"
)

// node is a schema as far as a form shows it.
type node struct {
	Ref                  string                     `json:"$ref"`
	Defs                 map[string]json.RawMessage `json:"$defs"`
	Definitions          map[string]json.RawMessage `json:"definitions"`
	Title                string                     `json:"title"`
	Description          string                     `json:"description"`
	Type                 types                      `json:"type"`
	Enum                 []json.RawMessage          `json:"enum"`
	Const                json.RawMessage            `json:"const"`
	Default              json.RawMessage            `json:"default"`
	Minimum              *float64                   `json:"minimum"`
	Maximum              *float64                   `json:"maximum"`
	MaxLength            float64                    `json:"maxLength"`
	Pattern              string                     `json:"pattern"`
	Format               string                     `json:"format"`
	Properties           map[string]json.RawMessage `json:"properties"`
	AdditionalProperties json.RawMessage            `json:"additionalProperties"`
	Items                json.RawMessage            `json:"items"`
	Required             []string                   `json:"required"`
	OneOf                []json.RawMessage          `json:"oneOf"`
	AnyOf                []json.RawMessage          `json:"anyOf"`

	Order       *float64 `json:"x-order"`
	Group       string   `json:"x-group"`
	Unit        string   `json:"x-unit"`
	Placeholder string   `json:"x-placeholder"`
	Multiline   bool     `json:"x-multiline"`
	Labels      []string `json:"x-labels"`
	Role        string   `json:"x-role"`
}

// types is one type, or a list of them, without "null": what is null is unset.
type types []string

// UnmarshalJSON reads a word or a list of words.
func (t *types) UnmarshalJSON(raw []byte) error {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		*t = types{one}
		return nil
	}
	var many []string
	if err := json.Unmarshal(raw, &many); err != nil {
		return err
	}
	*t = slices.DeleteFunc(many, func(s string) bool { return s == "null" })
	return nil
}

// reader reads fields out of one schema.
type reader struct{ root node }

// readFields reads the properties of a schema in the order of a form.
func readFields(raw json.RawMessage) ([]environment.ConfigField, error) {
	var r reader
	if err := json.Unmarshal(raw, &r.root); err != nil {
		return nil, err
	}
	if len(r.root.Type) > 0 && !slices.Equal(r.root.Type, types{"object"}) {
		return nil, fmt.Errorf("a config is an object, not %s", strings.Join(r.root.Type, " or "))
	}
	if len(r.root.Properties) > maxFields {
		return nil, fmt.Errorf("it has more than %d settings", maxFields)
	}
	type placed struct {
		order float64
		field environment.ConfigField
	}
	var all []placed
	for name, raw := range r.root.Properties {
		if name == providerKey {
			continue
		}
		n, err := r.node(raw)
		if err != nil {
			return nil, fmt.Errorf("setting %q: %w", name, err)
		}
		f, err := r.field(name, n)
		if err != nil {
			return nil, fmt.Errorf("setting %q: %w", name, err)
		}
		f.Required = slices.Contains(r.root.Required, name)
		order := float64(maxFields * maxFields) // what has none comes last
		if n.Order != nil {
			order = *n.Order
		}
		all = append(all, placed{order, f})
	}
	slices.SortFunc(all, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.field.Name, b.field.Name))
	})
	fields := make([]environment.ConfigField, len(all))
	for i := range all {
		fields[i] = all[i].field
	}
	return fields, nil
}

// node reads a schema, and follows its reference a few steps: what stands beside a
// reference counts over what it leads to.
func (r *reader) node(raw json.RawMessage) (node, error) {
	var chain []json.RawMessage
	for range 8 {
		var n node
		if err := json.Unmarshal(raw, &n); err != nil {
			return node{}, fmt.Errorf("a form cannot show it: %w", err)
		}
		chain = append(chain, raw)
		if n.Ref == "" {
			return overlaid(chain)
		}
		next, there := r.lookUp(n.Ref)
		if !there {
			return node{}, fmt.Errorf("a form can follow references to #/$defs only, not %s", n.Ref)
		}
		raw = next
	}
	return node{}, fmt.Errorf("its references go on and on")
}

// overlaid reads schemas into one, the last first.
func overlaid(chain []json.RawMessage) (node, error) {
	var n node
	for _, raw := range slices.Backward(chain) {
		if err := json.Unmarshal(raw, &n); err != nil {
			return node{}, fmt.Errorf("a form cannot show it: %w", err)
		}
	}
	return n, nil
}

// lookUp finds what a reference leads to.
func (r *reader) lookUp(ref string) (json.RawMessage, bool) {
	if name, is := strings.CutPrefix(ref, "#/$defs/"); is {
		raw, there := r.root.Defs[name]
		return raw, there
	}
	if name, is := strings.CutPrefix(ref, "#/definitions/"); is {
		raw, there := r.root.Definitions[name]
		return raw, there
	}
	return nil, false
}

// field reads one setting.
func (r *reader) field(name string, n node) (environment.ConfigField, error) {
	f := environment.ConfigField{
		Name: name, Title: cmp.Or(n.Title, name), Help: n.Description, Minimum: n.Minimum, Maximum: n.Maximum,
		MaxLength: int(min(n.MaxLength, 1<<30)), Pattern: n.Pattern, Unit: n.Unit, Group: n.Group, Role: cmp.Or(n.Role, RoleTarget),
		Placeholder: n.Placeholder, Multiline: n.Multiline, Secret: n.Format == "secret-ref",
	}
	if !nameForm().MatchString(name) || strings.HasSuffix(name, refSuffix) {
		return f, fmt.Errorf("a name has letters, digits, _ and -, begins with a letter and does not end in %s", refSuffix)
	}
	if !slices.Contains([]string{RoleImage, RoleTarget, RoleAccount, RoleRuntime}, f.Role) {
		return f, fmt.Errorf("there is no role %q", f.Role)
	}
	if !unset(n.Default) {
		f.Default = n.Default
	}
	if err := r.shape(&f, n); err != nil {
		return f, err
	}
	if f.Secret && f.Type != TypeString {
		return f, fmt.Errorf("a secret is a string")
	}
	return f, nil
}

// shape finds the type of a field, and what belongs to that type.
func (r *reader) shape(f *environment.ConfigField, n node) error {
	variants := slices.Concat(n.OneOf, n.AnyOf)
	switch {
	case len(variants) > 0:
		return r.variants(f, n, variants)
	case len(n.Type) > 1:
		f.Type = TypeUnion
		for _, t := range n.Type {
			one := n
			one.Type = types{t}
			v := environment.ConfigField{Name: f.Name, Role: f.Role}
			if err := r.shape(&v, one); err != nil {
				return err
			}
			v.Title = wordFor(v.Type)
			f.Variants = append(f.Variants, environment.ConfigVariant{Title: v.Title, Field: v})
		}
		return nil
	case len(n.Const) > 0:
		n.Enum = []json.RawMessage{n.Const}
	}
	if len(n.Enum) > 0 {
		return options(f, n)
	}
	if len(n.Type) == 0 {
		return fmt.Errorf("it says no type")
	}
	switch t := n.Type[0]; t {
	case TypeString, TypeInteger, TypeNumber, TypeBoolean:
		f.Type = t
		return nil
	case "object":
		f.Type = TypeMap
		if len(n.Properties) > 0 {
			return fmt.Errorf("a form cannot show an object within the config")
		}
		return r.ofStrings(n.AdditionalProperties)
	case "array":
		f.Type = TypeList
		return r.ofStrings(n.Items)
	default:
		return fmt.Errorf("a form cannot show the type %q", t)
	}
}

// ofStrings checks what a map or a list holds.
func (r *reader) ofStrings(raw json.RawMessage) error {
	if unset(raw) || string(raw) == "true" {
		return nil
	}
	n, err := r.node(raw)
	if err != nil {
		return err
	}
	if !slices.Equal(n.Type, types{TypeString}) {
		return fmt.Errorf("a form can show maps and lists of strings only")
	}
	return nil
}

// options reads the values of an enum; the type is that of the first unless said.
func options(f *environment.ConfigField, n node) error {
	for i, raw := range n.Enum {
		value, kind := scalar(raw)
		if kind == "" {
			return fmt.Errorf("a choice is a string, a number or a boolean")
		}
		if i == 0 {
			f.Type = kind
		}
		o := environment.ConfigOption{Value: value, Label: value}
		if i < len(n.Labels) {
			o.Label = n.Labels[i]
		}
		f.Options = append(f.Options, o)
	}
	if len(n.Type) == 1 {
		f.Type = n.Type[0]
	}
	if !slices.Contains([]string{TypeString, TypeInteger, TypeNumber, TypeBoolean}, f.Type) {
		return fmt.Errorf("a form cannot show choices of the type %q", f.Type)
	}
	return nil
}

// scalar is a value as text and its type; "" for another value.
func scalar(raw json.RawMessage) (text, kind string) {
	v, err := decode(raw)
	if err != nil {
		return "", ""
	}
	switch v := v.(type) {
	case string:
		return v, TypeString
	case json.Number:
		return v.String(), TypeNumber
	case bool:
		return fmt.Sprint(v), TypeBoolean
	}
	return "", ""
}

// variants reads a union. One of constants alone is an enum with titles.
func (r *reader) variants(f *environment.ConfigField, n node, raws []json.RawMessage) error {
	constants := true
	var nodes []node
	for _, raw := range raws {
		v, err := r.node(raw)
		if err != nil {
			return err
		}
		if len(v.OneOf) > 0 || len(v.AnyOf) > 0 {
			return fmt.Errorf("a form cannot show a union within a union")
		}
		if len(v.Type) == 0 && len(v.Const) == 0 && len(v.Enum) == 0 {
			v.Type = n.Type
		}
		constants = constants && len(v.Const) > 0
		nodes = append(nodes, v)
	}
	if constants {
		all := node{Type: n.Type}
		for _, v := range nodes {
			text, _ := scalar(v.Const)
			all.Enum, all.Labels = append(all.Enum, v.Const), append(all.Labels, cmp.Or(v.Title, text))
		}
		return options(f, all)
	}
	f.Type = TypeUnion
	for _, v := range nodes {
		v.Role = f.Role
		one, err := r.field(f.Name, v)
		if err != nil {
			return err
		}
		if v.Title == "" {
			one.Title = wordFor(one.Type)
		}
		f.Variants = append(f.Variants, environment.ConfigVariant{Title: one.Title, Field: one})
	}
	return nil
}

// wordFor is what a form calls a type.
func wordFor(t string) string {
	switch t {
	case TypeInteger:
		return "Whole number"
	case TypeNumber:
		return "Number"
	case TypeBoolean:
		return "Yes or no"
	case TypeMap:
		return "Names and values"
	case TypeList:
		return "List"
	}
	return "Text"
}

func nameForm() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,79}$`) }
