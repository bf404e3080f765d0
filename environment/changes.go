package environment

import (
	"maps"
	"slices"
)

// Changes is what a write alters, by field path, for the log. A value is {before,
// after}, or one word where the values are not for the log.
type Changes map[string]any

// Add notes a field unless nothing changed. before and after are comparable.
func (c Changes) Add(field string, before, after any) {
	if before != after {
		c[field] = map[string]any{"before": before, "after": after}
	}
}

// Hide notes a field without its values: "added", "removed" or "changed".
func (c Changes) Hide(field string, had, has bool) {
	switch {
	case had && has:
		c[field] = "changed"
	case has:
		c[field] = "added"
	case had:
		c[field] = "removed"
	}
}

// Details are the changes as an entry of the log has them.
func (c Changes) Details() map[string]any {
	return map[string]any{"changedFields": slices.Sorted(maps.Keys(c)), "changes": map[string]any(c)}
}
