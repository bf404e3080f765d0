package configschema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
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
