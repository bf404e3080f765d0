package identity

import (
	"context"
	"errors"
	"maps"
	"slices"

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

// changes is what a write alters, by field: {before, after}.
type changes map[string]any

func (c changes) add(field string, before, after any) {
	if before != after {
		c[field] = map[string]any{"before": before, "after": after}
	}
}

func (c changes) details() map[string]any {
	return map[string]any{"changedFields": slices.Sorted(maps.Keys(c)), "changes": map[string]any(c)}
}

// problem is an error at one field.
func problem(field, message string) error {
	return environment.InvalidFields([]environment.FieldError{{Field: field, Message: message}})
}

// at says which field of the request an error with one of the codes is about.
func at(err error, field string, codes ...string) error {
	e, ok := errors.AsType[*environment.Error](err)
	if !ok || !slices.Contains(codes, e.Code) {
		return err
	}
	c := *e
	c.Fields = []environment.FieldError{{Field: field, Message: e.Message}}
	return &c
}
