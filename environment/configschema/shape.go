package configschema

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"berth/environment"
)

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
