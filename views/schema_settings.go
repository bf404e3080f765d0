package views

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"berth/environment"
	"berth/views/ui"
)

// schemaSettings lists a config as it is stored: what a field of the schema names
// under its title, with its unit; a secret as where it is from; what the schema
// does not know under its key.
func schemaSettings(fields []environment.ConfigField, config json.RawMessage, refs map[string]environment.SecretReference) []ui.Pair {
	var stored map[string]json.RawMessage
	if json.Unmarshal(config, &stored) != nil {
		return nil
	}
	var pairs []ui.Pair
	if provider := environment.ProviderOf(config); provider != "" {
		pairs = append(pairs, ui.Pair{Key: "Provider", Value: providerName(provider)})
		delete(stored, "provider")
	}
	for _, v := range configValues(fields, config) {
		if v.Field.Secret {
			if ref, has := refs[v.name()]; has {
				pairs = append(pairs, ui.Pair{Key: v.Field.Title, Value: storedText("stored", ref)})
			} else if _, has := stored[v.Field.Name+"SecretRef"]; has {
				pairs = append(pairs, ui.Pair{Key: v.Field.Title, Value: "stored"})
			}
			delete(stored, v.Field.Name+"SecretRef")
			continue
		}
		if _, set := stored[v.Field.Name]; set && v.words() != "" {
			pairs = append(pairs, ui.Pair{Key: v.Field.Title, Value: settingWords(v), Code: v.Field.Type == "string" && len(v.Field.Options) == 0})
		}
		delete(stored, v.Field.Name)
	}
	for _, key := range slices.Sorted(maps.Keys(stored)) {
		var value any
		_ = json.Unmarshal(stored[key], &value) // it is part of what was read above
		pairs = append(pairs, ui.Pair{Key: key, Value: unknownSetting(key, value), Code: true})
	}
	return pairs
}

// unknownSetting is a value that no field describes; a reference to a secret is
// no value.
func unknownSetting(key string, value any) string {
	if strings.HasSuffix(key, "SecretRef") {
		return "stored"
	}
	return valueText(value)
}

// settingWords are a value as people read it.
func settingWords(v ConfigValue) string {
	words := v.words()
	for _, o := range v.Field.Options {
		if o.Value == words {
			return o.Label
		}
	}
	if v.Field.Unit != "" {
		words += " " + v.Field.Unit
	}
	return strings.ReplaceAll(words, "\n", ", ")
}
