package environmenttest

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"berth/environment"

	"github.com/google/uuid"
)

// Events implements probing.Store and running.Store.
func (s *Store) Events(_ context.Context, subject uuid.UUID, after int64, limit int) ([]environment.Event, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := []environment.Event{}
	for _, e := range s.events {
		if e.Subject == subject && e.Seq > after && len(found) < pageSize(limit) {
			if e.Chunk != nil {
				c := *e.Chunk
				c.Data = slices.Clone(c.Data)
				e.Chunk = &c
			}
			found = append(found, e)
		}
	}
	return found, nil
}

// Activity implements catalogue.Store.
func (s *Store) Activity(_ context.Context, f environment.ActivityFilter) (environment.Page[environment.Activity], error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := []environment.Activity{}
	for _, a := range s.activity {
		if logged(a, f) {
			found = append(found, a)
		}
	}
	slices.SortStableFunc(found, func(a, b environment.Activity) int {
		return newest(a.CreatedAt, b.CreatedAt, a.ID, b.ID)
	})
	return page(found, f.Limit, f.Cursor)
}

func logged(a environment.Activity, f environment.ActivityFilter) bool {
	return (f.EntityType == "" || a.EntityType == f.EntityType) && (f.EntityID == "" || a.EntityID == f.EntityID) &&
		(f.CompanyID == nil || a.CompanyID != nil && *a.CompanyID == *f.CompanyID) &&
		(f.Action == "" || a.Action == f.Action || environment.ActionPrefix(f.Action) && strings.HasPrefix(a.Action, f.Action)) &&
		strings.Contains(strings.ToLower(a.ActorName), strings.ToLower(f.Actor)) &&
		(f.Since == nil || !a.CreatedAt.Before(*f.Since)) && (f.Until == nil || a.CreatedAt.Before(*f.Until))
}

// page cuts one page out of a sorted list. The twin's cursor counts items.
func page[T any](all []T, limit int, cursor string) (environment.Page[T], error) {
	from := 0
	if cursor != "" {
		n, err := strconv.Atoi(cursor)
		if err != nil || n < 0 {
			return environment.Page[T]{}, environment.NewError(environment.KindUnreadable, "invalid_cursor", "The cursor is not one of this list.")
		}
		from = min(n, len(all))
	}
	all = all[from:]
	if size := pageSize(limit); len(all) > size {
		return environment.Page[T]{Items: all[:size:size], Next: strconv.Itoa(from + size)}, nil
	}
	return environment.Page[T]{Items: all}, nil
}

func pageSize(limit int) int {
	if limit <= 0 {
		return 500
	}
	return min(limit, 1000)
}

// newest orders by time, the latest first, then by id.
func newest(a, b interface{ UnixNano() int64 }, aID, bID uuid.UUID) int {
	return cmp.Or(cmp.Compare(b.UnixNano(), a.UnixNano()), cmp.Compare(bID.String(), aID.String()))
}
