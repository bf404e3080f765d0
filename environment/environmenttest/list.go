package environmenttest

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"berth/environment"
)

// ListEnvironments implements catalogue.Store.
func (s *Store) ListEnvironments(_ context.Context, f environment.ListFilter) (environment.Page[environment.EnvironmentView], error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := []environment.EnvironmentView{}
	for _, e := range s.environments {
		v := s.view(e)
		if matches(v, f) {
			if v.Last != nil {
				v.Last.Stages = v.Last.Remarks()
			}
			found = append(found, v)
		}
	}
	slices.SortFunc(found, order(f.Sort))
	return page(found, f.Limit, f.Cursor)
}

func matches(v environment.EnvironmentView, f environment.ListFilter) bool {
	return (f.Status == "" || v.Status == f.Status) && (!f.NotArchived || v.Status != environment.StatusArchived) && (f.Driver == "" || v.Driver == f.Driver) &&
		(f.Health == "" || v.Health() == f.Health) &&
		strings.Contains(searched(v.Environment, f), strings.ToLower(strings.TrimSpace(f.Query)))
}

func searched(e environment.Environment, f environment.ListFilter) string {
	if f.NamesOnly {
		e.Config, e.Driver = nil, ""
	}
	return environment.SearchText(e)
}

// order returns how two environments are sorted; equal names break by id.
func order(by string) func(a, b environment.EnvironmentView) int {
	name := func(a, b environment.EnvironmentView) int {
		return cmp.Or(cmp.Compare(environment.NameKey(a.Name), environment.NameKey(b.Name)), cmp.Compare(a.ID.String(), b.ID.String()))
	}
	switch by {
	case "name":
		return name
	case "health":
		return func(a, b environment.EnvironmentView) int {
			return cmp.Or(cmp.Compare(a.Health().Rank(), b.Health().Rank()), name(a, b))
		}
	case "driver":
		return func(a, b environment.EnvironmentView) int {
			return cmp.Or(cmp.Compare(a.Driver, b.Driver), name(a, b))
		}
	case "tested":
		return func(a, b environment.EnvironmentView) int { return newest(testedAt(a), testedAt(b), a.ID, b.ID) }
	}
	return func(a, b environment.EnvironmentView) int { return newest(a.UpdatedAt, b.UpdatedAt, a.ID, b.ID) }
}

// testedAt is when the last probe ended; long ago when there is none.
func testedAt(v environment.EnvironmentView) time.Time {
	if v.Last == nil || v.Last.FinishedAt == nil {
		return time.Unix(0, 0)
	}
	return *v.Last.FinishedAt
}

// contains reports whether a search is for a name.
func contains(name, search string) bool {
	return strings.Contains(environment.NameKey(name), environment.NameKey(search))
}
