package docker

import (
	_ "embed"
	"encoding/json"
)

//go:embed schema.json
var schema string

// Schema is the JSON Schema of a config.
func (d *Driver) Schema() json.RawMessage { return json.RawMessage(schema) }
