package identity

import (
	"context"

	"berth/environment"

	"github.com/google/uuid"
)

// entry is one line of the activity log about a thing of identity.
func (s *Service) entry(ctx context.Context, actor environment.Actor, action, entityType string, entity uuid.UUID, details map[string]any) environment.Activity {
	return environment.Activity{
		ID: environment.NewID(), Action: action, EntityType: entityType, EntityID: entity.String(), Details: details,
		RequestID: environment.RequestID(ctx), CreatedAt: s.now(),
	}.By(actor)
}

// inCompany says whose log the entry is in.
func inCompany(a environment.Activity, company uuid.UUID) environment.Activity {
	a.CompanyID = &company
	return a
}

// asActor is a person who acts before there is a session: with a password or a
// link.
func asActor(p environment.Person) environment.Actor {
	return environment.Actor{Kind: environment.ActorPerson, ID: p.ID, Name: p.Name, InstanceAdmin: p.InstanceAdmin, Roles: p.Roles}
}

// problem is an error at one field.
func problem(field, message string) error {
	return environment.InvalidFields([]environment.FieldError{{Field: field, Message: message}})
}
