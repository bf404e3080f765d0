package views

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"berth/environment"
)

// ConfigValue is one setting of a driver that describes its config by a schema,
// as typed. Text that is empty leaves the setting unset.
type ConfigValue struct {
	Field environment.ConfigField
	// Text is a string, a number, one of an enum, "on" for a switch, or a list with
	// one entry on each line.
	Text string
	Rows []ConfigRow // of a map
	// Variant is the chosen shape of a union, counted from 1; 0 leaves it unset. Its
	// text is in Texts.
	Variant int
	Texts   []string
	Secret  SecretChoice
}

// ConfigRow is one entry of a map.
type ConfigRow struct{ Key, Value string }

// The kinds of fields that a form knows.
const (
	fieldInteger = "integer"
	fieldNumber  = "number"
	fieldBoolean = "boolean"
	fieldMap     = "map"
	fieldList    = "list"
	fieldUnion   = "union"
)

// configValues reads a stored config into values, one for each field.
func configValues(fields []environment.ConfigField, config json.RawMessage) []ConfigValue {
	var stored map[string]json.RawMessage
	_ = json.Unmarshal(config, &stored) // what cannot be read is shown as unset
	all := make([]ConfigValue, 0, len(fields))
	for _, f := range fields {
		if f.Name == "provider" {
			continue // the chooser has it
		}
		v := ConfigValue{Field: f, Texts: make([]string, len(f.Variants))}
		raw, set := stored[f.Name]
		switch {
		case f.Secret:
		case set && string(raw) != "null":
			v.read(raw)
		case f.Type == fieldBoolean && string(f.Default) == "true":
			v.Text = "on"
		}
		all = append(all, v)
	}
	return all
}

func (v *ConfigValue) read(raw json.RawMessage) {
	switch v.Field.Type {
	case fieldMap:
		v.Rows = rowsOf(raw)
	case fieldUnion:
		for i, variant := range v.Field.Variants {
			if text, ok := textOf(variant.Field.Type, raw); ok {
				v.Variant, v.Texts[i] = i+1, text
				return
			}
		}
	default:
		v.Text, _ = textOf(v.Field.Type, raw)
	}
}

// textOf is a stored value as a field of a kind shows it; false when it is of
// another kind.
func textOf(kind string, raw json.RawMessage) (string, bool) {
	switch kind {
	case fieldBoolean:
		if string(raw) == "true" {
			return "on", true
		}
		return "", string(raw) == "false"
	case fieldList:
		var list []string
		ok := json.Unmarshal(raw, &list) == nil
		return strings.Join(list, "\n"), ok
	case fieldInteger, fieldNumber:
		var n json.Number
		ok := json.Unmarshal(raw, &n) == nil && raw[0] != '"'
		return n.String(), ok
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text, true
	}
	return string(raw), false
}

func rowsOf(raw json.RawMessage) []ConfigRow {
	var stored map[string]string
	if json.Unmarshal(raw, &stored) != nil {
		return nil
	}
	rows := make([]ConfigRow, 0, len(stored))
	for _, key := range slices.Sorted(maps.Keys(stored)) {
		rows = append(rows, ConfigRow{key, stored[key]})
	}
	return rows
}

// name is the form's name of the field, and where errors name it.
func (v ConfigValue) name() string { return "config." + v.Field.Name }

// draft is what the value says of the config: nil, which removes it, when it is
// unset. What is no number where one belongs stays text, so that it is refused by
// name.
func (v ConfigValue) draft() any {
	switch v.Field.Type {
	case fieldMap:
		all := map[string]string{}
		for _, row := range v.Rows {
			if key := strings.TrimSpace(row.Key); key != "" {
				all[key] = row.Value
			}
		}
		if len(all) == 0 {
			return nil
		}
		return all
	case fieldUnion:
		if v.Variant < 1 || v.Variant > len(v.Field.Variants) {
			return nil
		}
		return valueOf(v.Field.Variants[v.Variant-1].Field, v.Texts[v.Variant-1])
	}
	return valueOf(v.Field, v.Text)
}

func valueOf(f environment.ConfigField, text string) any {
	switch f.Type {
	case fieldBoolean:
		if on := text != ""; on != (string(f.Default) == "true") {
			return on
		}
		return nil
	case fieldList:
		return entries(text)
	case fieldInteger:
		return number(text)
	case fieldNumber:
		return decimal(text)
	}
	if strings.TrimSpace(text) == "" {
		return nil
	}
	if !f.Multiline {
		return strings.TrimSpace(text)
	}
	return text
}

// entries are the lines of a text that hold something; nil for none.
func entries(text string) any {
	var list []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	if list == nil {
		return nil
	}
	return list
}

// decimal is number for what need not be whole.
func decimal(text string) any {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil
	}
	if n, err := strconv.ParseFloat(text, 64); err == nil && json.Valid([]byte(text)) {
		return n
	}
	return text
}

// problem says what is wrong with the value as such: of two entries of one name
// only one could be saved.
func (v ConfigValue) problem() string {
	seen := map[string]bool{}
	for _, row := range v.Rows {
		key := strings.TrimSpace(row.Key)
		switch {
		case key == "" && row.Value != "":
			return "An entry has a value and no name."
		case key != "" && seen[key]:
			return "There are two entries named " + key + "."
		}
		seen[key] = true
	}
	if v.Field.Secret {
		return v.Secret.problem()
	}
	return ""
}

// isSet reports whether the value differs from what leaving it unset means.
func (v ConfigValue) isSet() bool {
	if v.Field.Secret {
		switch v.Secret.Source {
		case SourceChoose, SourceCreate, SourceRemove:
			return true
		case SourceKeep:
			return false
		}
		return !v.Secret.Value.Empty() || v.Secret.Sealed != ""
	}
	return v.draft() != nil
}

// words are the value for a comparison of two versions.
func (v ConfigValue) words() string {
	switch v.Field.Type {
	case fieldMap:
		parts := make([]string, 0, len(v.Rows))
		for _, row := range v.Rows {
			if row.Key != "" {
				parts = append(parts, row.Key+"="+row.Value)
			}
		}
		slices.Sort(parts)
		return strings.Join(parts, "\n")
	case fieldUnion:
		if v.Variant > 0 && v.Variant <= len(v.Texts) {
			return v.Texts[v.Variant-1]
		}
		return ""
	case fieldBoolean:
		if v.Text != "" {
			return "on"
		}
		return "off"
	}
	return v.Text
}
