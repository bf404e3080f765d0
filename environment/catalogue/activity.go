package catalogue

import (
	"context"

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
