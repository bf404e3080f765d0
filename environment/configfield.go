package environment

import "encoding/json"

// ConfigField is one setting of a driver, read from its JSON Schema (Schemer).
type ConfigField struct {
	Name        string
	Title       string
	Help        string
	Type        string          // "string", "integer", "number", "boolean", "map" (of strings), "list" (of strings), "union"
	Options     []ConfigOption  // of an enum
	Default     json.RawMessage // nil: none; what leaving it unset means
	Minimum     *float64
	Maximum     *float64
	MaxLength   int // 0: no limit
	Pattern     string
	Unit        string // "MiB", "s", "cores"
	Group       string // "" is the main part
	Role        string // "image", "target", "account", "runtime"
	Placeholder string
	Required    bool
	Secret      bool
	Multiline   bool
	Variants    []ConfigVariant // of a union
}

// ConfigOption is one value of an enum.
type ConfigOption struct{ Value, Label string }

// ConfigVariant is one shape of a union: a title and a type of its own.
type ConfigVariant struct {
	Title string
	Field ConfigField
}
