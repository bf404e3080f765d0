package handlers

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"berth/environment"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
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

// listOfCompany answers with a page of what the company of the address has, all of
// which is read at once: it is never much.
func listOfCompany[D, A any](c echo.Context, actor environment.Actor, read func(context.Context, environment.Actor, uuid.UUID) ([]D, error),
	id func(D) uuid.UUID, name func(D) string, shape func(D) A) error {
	company, err := pathID(c, "c", "company")
	if err != nil {
		return err
	}
	w, err := windowOf(c)
	if err != nil {
		return err
	}
	all, err := read(c.Request().Context(), actor, company)
	if err != nil {
		return err
	}
	page, err := pageOf(all, w, id, name)
	if err != nil {
		return err
	}
	linkNext(c, page.Next)
	return writeJSON(c, http.StatusOK, each(page.Items, shape))
}
