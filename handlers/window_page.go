package handlers

import (
	"slices"
	"strings"

	"berth/environment"

	"github.com/google/uuid"
)

// pageOf cuts a window out of a list that is short enough to be read whole. It
// is ordered by id, so that what is new comes last; the cursor is the id of the
// last item before.
func pageOf[T any](all []T, w window, id func(T) uuid.UUID, name func(T) string) (environment.Page[T], error) {
	page := environment.Page[T]{}
	if w.Cursor != "" {
		if _, err := environment.ParseID("cursor", w.Cursor); err != nil {
			return page, unreadableField("invalid_cursor", "cursor", "The cursor is not one that Berth gave out.")
		}
	}
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b T) int { return strings.Compare(id(a).String(), id(b).String()) })
	for _, item := range all {
		if id(item).String() <= strings.ToLower(w.Cursor) || !strings.Contains(strings.ToLower(name(item)), strings.ToLower(w.Query)) {
			continue
		}
		if len(page.Items) == w.Limit {
			page.Next = id(page.Items[w.Limit-1]).String()
			break
		}
		page.Items = append(page.Items, item)
	}
	return page, nil
}
