package handlers

import (
	"cmp"
	"slices"

	"berth/environment"
	"berth/handlers/api"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
)

func personShape(p environment.Person) api.Person {
	return api.Person{
		ID: p.ID, Email: p.Email, Name: p.Name, IsInstanceAdmin: p.InstanceAdmin, Disabled: p.DisabledAt != nil,
		Memberships: membershipShapes(p.Roles), LastSeenAt: api.TimePtr(p.LastSeenAt),
		CreatedAt: api.Time(p.CreatedAt), UpdatedAt: api.Time(p.UpdatedAt),
	}
}

// membershipShapes are roles in the order of their companies' ids.
func membershipShapes(roles map[uuid.UUID]environment.Role) []api.Membership {
	all := make([]api.Membership, 0, len(roles))
	for company, role := range roles {
		all = append(all, api.Membership{CompanyID: company, Role: string(role)})
	}
	slices.SortFunc(all, func(a, b api.Membership) int { return cmp.Compare(a.CompanyID.String(), b.CompanyID.String()) })
	return all
}

func keyShape(k environment.Key) api.Key {
	return api.Key{
		ID: k.ID, Name: k.Name, Hint: k.Hint, CreatedAt: api.Time(k.CreatedAt), CreatedBy: k.CreatedBy,
		LastUsedAt: api.TimePtr(k.LastUsedAt), ExpiresAt: api.TimePtr(k.ExpiresAt), RevokedAt: api.TimePtr(k.RevokedAt),
	}
}

func invitationShape(l environment.Link) api.Invitation {
	return api.Invitation{
		ID: l.ID, Kind: string(l.Kind), Email: l.Email, IsInstanceAdmin: l.InstanceAdmin, Memberships: membershipShapes(l.Roles),
		CreatedBy: l.CreatedBy, CreatedAt: api.Time(l.CreatedAt), ExpiresAt: api.Time(l.ExpiresAt),
	}
}

// madeLink is a new link with its address, which is the one place where a token
// may be in an address.
func (s *server) madeLink(c echo.Context, link environment.Link, token environment.Secret) api.MadeInvitation {
	return api.MadeInvitation{Invitation: invitationShape(link), URL: s.linkAddress(c, token)}
}

// sessionShape is a session; current is the one that the caller showed.
func sessionShape(current environment.Credential) func(environment.Session) api.Session {
	return func(s environment.Session) api.Session {
		return api.Session{
			ID: s.ID, Current: current.Kind == environment.CredentialSession && current.ID == s.ID,
			Address: s.Address, UserAgent: s.UserAgent, CreatedAt: api.Time(s.CreatedAt), LastSeenAt: api.Time(s.LastSeenAt),
		}
	}
}

func agentShape(a environment.Agent) api.Agent {
	return api.Agent{
		ID: a.ID, CompanyID: a.CompanyID, Name: a.Name, AdapterType: a.AdapterType, Status: string(a.Status),
		DefaultEnvironmentID: a.DefaultEnvironmentID, CreatedAt: api.Time(a.CreatedAt), UpdatedAt: api.Time(a.UpdatedAt),
	}
}
