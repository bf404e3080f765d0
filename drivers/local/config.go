package local

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"berth/environment"
)

// Configure keeps whatever object it is given, for the sake of clients that put
// their own keys there: the driver itself needs none.
func (d *Driver) Configure(in environment.ConfigInput) (environment.ConfigOutput, error) {
	kept := make(map[string]json.RawMessage, len(in.Config))
	var wrong []environment.FieldError
	for _, key := range slices.Sorted(maps.Keys(in.Config)) {
		if !json.Valid(in.Config[key]) {
			wrong = append(wrong, environment.FieldError{Field: "config." + key, Message: "This is not JSON."})
			continue
		}
		kept[key] = in.Config[key]
	}
	if err := environment.InvalidFields(wrong); err != nil {
		return environment.ConfigOutput{}, err
	}
	config, err := json.Marshal(kept)
	if err != nil {
		return environment.ConfigOutput{}, fmt.Errorf("write the local config: %w", err)
	}
	return environment.ConfigOutput{Config: config}, nil
}

// Describe says where this driver works, for people.
func (d *Driver) Describe(json.RawMessage) string { return "this server" }
