package catalogue

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"

	"berth/environment"
)

// refSuffix ends the config key under which the reference of a stored secret is
// kept; the rest is the name under which a request sends the value.
const refSuffix = "SecretRef"

// patchOf reads a draft as a patch: over a stored row, or over nothing.
func patchOf(d environment.Draft) environment.Patch {
	p := environment.Patch{
		Name: &d.Name, Description: d.Description, SetDescription: true,
		Config: d.Config, EnvVars: d.EnvVars, ReplaceEnvVars: d.EnvVars != nil, Metadata: d.Metadata,
		NewSecrets: d.NewSecrets, Budget: d.Budget, ClearBudget: d.ClearBudget,
	}
	if d.Driver != "" {
		p.Driver = &d.Driver
	}
	if d.Status != "" {
		p.Status = &d.Status
	}
	if p.Config == nil {
		p.Config = map[string]json.RawMessage{}
	}
	return p
}

// mergeConfig lays a patch over a stored config, one level deep. A null removes
// its key; the null of a secret also removes the stored reference, unless the
// same patch sends that reference (what a read returned may be sent back). A
// blank secret means the stored one.
func mergeConfig(base, patch map[string]json.RawMessage) map[string]json.RawMessage {
	merged := maps.Clone(base)
	if merged == nil {
		merged = map[string]json.RawMessage{}
	}
	maps.DeleteFunc(merged, func(_ string, v json.RawMessage) bool { return isNull(v) })
	for key, value := range patch {
		if !isNull(value) {
			merged[key] = value
			continue
		}
		delete(merged, key)
		if ref, sent := patch[key+refSuffix]; !sent || isNull(ref) {
			delete(merged, key+refSuffix)
		}
	}
	for key := range merged {
		if field, isRef := strings.CutSuffix(key, refSuffix); isRef && isBlank(merged[field]) {
			delete(merged, field)
		}
	}
	return merged
}

func isNull(v json.RawMessage) bool {
	return len(bytes.TrimSpace(v)) == 0 || bytes.Equal(bytes.TrimSpace(v), []byte("null"))
}

// isBlank reports whether v is a string of nothing but white space.
func isBlank(v json.RawMessage) bool {
	var text string
	return len(v) > 0 && json.Unmarshal(v, &text) == nil && strings.TrimSpace(text) == ""
}

// object reads a JSON object; empty for null, nothing or another value.
func object(raw json.RawMessage) map[string]json.RawMessage {
	m := map[string]json.RawMessage{}
	if json.Unmarshal(raw, &m) != nil || m == nil {
		return map[string]json.RawMessage{}
	}
	return m
}

// canonical writes a JSON value with sorted keys and no white space, numbers as
// they were, so that equal values are equal bytes.
func canonical(raw json.RawMessage) string {
	if isNull(raw) {
		return "null"
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return string(raw)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return string(raw)
	}
	return string(b)
}

// holdsNUL reports whether a string within raw holds a NUL, which no database
// column of ours can keep.
func holdsNUL(raw json.RawMessage) bool {
	return bytes.Contains(raw, []byte(`\u0000`)) && strings.Contains(canonical(raw), `\u0000`)
}
