package handlers

import (
	"fmt"
	"net/http"

	"berth/environment"
	"berth/environment/identity"
	"berth/handlers/api"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
)

// invitationBody asks for an invitation.
type invitationBody struct {
	Email           string           `json:"email"`
	IsInstanceAdmin optional[bool]   `json:"isInstanceAdmin"`
	Memberships     []api.Membership `json:"memberships"`
}

// invitationCreate answers POST /api/invitations. The link's address is in this
// one answer.
func (s *server) invitationCreate(c echo.Context) error {
	var body invitationBody
	if err := decodeBody(c, &body); err != nil {
		return err
	}
	roles, err := body.roles()
	if err != nil {
		return err
	}
	link, token, err := s.Identity.Invite(c.Request().Context(), s.actor(c), identity.Invitation{
		Email: body.Email, InstanceAdmin: body.IsInstanceAdmin.Value, Roles: roles,
	})
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusCreated, s.madeLink(c, link, token))
}

// roles are the memberships by company; a company that is there twice is refused.
func (b invitationBody) roles() (map[uuid.UUID]environment.Role, error) {
	roles := make(map[uuid.UUID]environment.Role, len(b.Memberships))
	for i, m := range b.Memberships {
		if _, twice := roles[m.CompanyID]; twice {
			return nil, unreadableField("invalid_body", fmt.Sprintf("memberships[%d].companyId", i), "The company %s is there twice.", m.CompanyID)
		}
		roles[m.CompanyID] = environment.Role(m.Role)
	}
	return roles, nil
}
