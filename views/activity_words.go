package views

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"berth/environment"

	"github.com/google/uuid"
)

// actionText is what an entry says was done, in the words of actionWords, or
// those of the action where it has none. What was done with a part of the subject names the part:
// "agent_key.created" is "key ci created".
func actionText(a environment.Activity) string {
	verb, known := actionWords()[a.Action]
	if !known {
		verb = a.Action
		if _, after, found := strings.Cut(verb, "."); found {
			verb = after
		}
		verb = strings.NewReplacer("_", " ", ".", " ").Replace(verb)
	}
	part := partOf(a)
	if part == "" {
		return verb
	}
	if name, is := a.Details["name"].(string); is && name != "" {
		return part + " " + name + " " + verb
	}
	return part + " " + verb
}

// partOf is the part of its subject that an entry is about, a key of an agent or
// a token of a person; "" for the subject itself.
func partOf(a environment.Activity) string {
	switch thing, _, _ := strings.Cut(a.Action, "."); thing {
	case "agent_key":
		return "key"
	case "token":
		return "token"
	}
	return ""
}

// change is what an entry says of one field.
type change struct {
	field         string
	before, after string
	word          string // in the place of both, where the values are not for the log
}

// changesOf are the fields that an entry says were changed, in a fixed order.
func changesOf(details map[string]any) []change {
	var list []change
	for field, v := range asObject(details["changes"]) {
		if pair := asObject(v); pair != nil {
			list = append(list, change{field: field, before: valueText(pair["before"]), after: valueText(pair["after"])})
		} else {
			list = append(list, change{field: field, word: valueText(v)})
		}
	}
	slices.SortFunc(list, func(a, b change) int { return strings.Compare(a.field, b.field) })
	return list
}

// detailText lists the details of an entry that are no changes in one line, in a
// fixed order.
func detailText(a environment.Activity) string {
	keys := make([]string, 0, len(a.Details))
	for k, v := range a.Details {
		switch k {
		case "changes", "changedFields", "name", "revision", a.EntityType: // said elsewhere on the page
			continue
		case "method":
			if a.EntityType == routeEntity {
				continue
			}
		}
		if t := valueText(v); t != "" && t != "none" {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	parts := make([]string, 0, len(keys))
	for _, k := range keys {
		parts = append(parts, k+": "+valueText(a.Details[k]))
	}
	return strings.Join(parts, " · ")
}

// asObject reads a value of details as an object, whether it comes from memory or
// from JSON; nil when it is none.
func asObject(v any) map[string]any {
	switch v := v.(type) {
	case nil, string, bool, int, float64:
		return nil
	case map[string]any:
		return v
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	var m map[string]any
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	return m
}

func valueText(v any) string {
	switch v := v.(type) {
	case nil:
		return "none"
	case string:
		if v == "" {
			return "none"
		}
		return v
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case json.RawMessage:
		var read any
		if json.Unmarshal(v, &read) != nil {
			return string(v)
		}
		return valueText(read)
	case []string:
		return strings.Join(v, ", ")
	case []any:
		parts := make([]string, 0, len(v))
		for _, item := range v {
			parts = append(parts, valueText(item))
		}
		return strings.Join(parts, ", ")
	case map[string]any:
		raw, err := json.Marshal(v)
		if err != nil {
			return ""
		}
		return string(raw)
	}
	return fmt.Sprint(v)
}

// Subjects that are no row of their own.
const (
	instanceEntity = "instance"
	routeEntity    = "route"
)

// subjectText is what an entry is about, in words.
func subjectText(a environment.Activity) string {
	kind := strings.ReplaceAll(a.EntityType, "_", " ")
	switch a.EntityType {
	case instanceEntity:
		return "the instance"
	case routeEntity:
		method, _ := a.Details["method"].(string)
		return strings.TrimSpace(method + " " + a.EntityID)
	case "environment_lease":
		kind = "lease"
	}
	said := "name"
	if partOf(a) != "" {
		said = a.EntityType
	}
	if name, is := a.Details[said].(string); is && name != "" {
		return kind + " " + name
	}
	if subjectID(a) != "" {
		return kind + " " + a.EntityID[:8]
	}
	return kind
}

// subjectID is the whole id of what an entry is about, of which only the beginning
// may be in its words; "" for what has none.
func subjectID(a environment.Activity) string {
	if a.EntityType == instanceEntity || a.EntityType == routeEntity || len(a.EntityID) <= 8 {
		return ""
	}
	return a.EntityID
}

// subjectPath leads to what an entry is about; "" where there is no page of it.
func subjectPath(a environment.Activity) string {
	id, err := uuid.Parse(a.EntityID)
	if err != nil || strings.HasSuffix(a.Action, ".deleted") {
		return ""
	}
	switch {
	case a.EntityType == "environment":
		return EnvironmentPath(id)
	case a.CompanyID == nil && a.EntityType == "person":
		return PersonPath(id)
	case a.CompanyID == nil:
		return ""
	case a.EntityType == "run":
		return RunPath(*a.CompanyID, id)
	case a.EntityType == "secret":
		return SecretPath(*a.CompanyID, id)
	case a.EntityType == "agent":
		return AgentPath(*a.CompanyID, id)
	}
	return ""
}
