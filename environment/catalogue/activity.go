package catalogue

import (
	"context"
	"maps"
	"slices"

	"berth/environment"
	"berth/environment/access"
)

// Activity returns who did what, newest first, reduced for who may not see where
// targets are.
func (s *Service) Activity(ctx context.Context, actor environment.Actor, f environment.ActivityFilter) (environment.Page[environment.Activity], error) {
	subject := access.Instance
	if f.CompanyID != nil {
		subject = access.Company(*f.CompanyID)
	}
	if err := access.May(actor, access.ReadActivity, subject); err != nil {
		return environment.Page[environment.Activity]{}, err
	}
	page, err := s.store.Activity(ctx, f)
	if err != nil || access.Whole(actor) {
		return page, err
	}
	for i := range page.Items {
		page.Items[i] = page.Items[i].Reduced()
	}
	return page, nil
}

func (s *Service) activity(ctx context.Context, actor environment.Actor, action, entityType, entityID string, details map[string]any) environment.Activity {
	return environment.Activity{
		ID: environment.NewID(), Action: action, EntityType: entityType, EntityID: entityID,
		Details: details, RequestID: environment.RequestID(ctx), CreatedAt: s.now(),
	}.By(actor)
}

// changes is what a write alters, by field path. A value is {before, after}, or
// one word where the values are not for the log.
type changes map[string]any

// add notes a field unless nothing changed. before and after are comparable.
func (c changes) add(field string, before, after any) {
	if before != after {
		c[field] = map[string]any{"before": before, "after": after}
	}
}

// hide notes a field without its values: "added", "removed" or "changed".
func (c changes) hide(field string, had, has bool) {
	switch {
	case had && has:
		c[field] = "changed"
	case has:
		c[field] = "added"
	case had:
		c[field] = "removed"
	}
}

func (c changes) fields() []string { return slices.Sorted(maps.Keys(c)) }

func (c changes) details() map[string]any {
	return map[string]any{"changedFields": c.fields(), "changes": map[string]any(c)}
}
