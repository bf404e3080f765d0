package handlers

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"berth/environment"
	"berth/environment/access"
	"berth/views"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
)

// nav is what the navigation offers to whoever asks. company is the one that is
// picked, nil for none.
func (s *server) nav(c echo.Context, company *environment.Company) views.Nav {
	actor, subject := s.actor(c), access.Somewhere
	if company != nil {
		subject = access.Company(company.ID)
	}
	may := func(action access.Action, subject access.Subject) bool {
		return access.May(actor, action, subject) == nil
	}
	n := views.Nav{
		Runs: may(access.ReadRuns, subject), Agents: may(access.ManageAgents, subject), Secrets: may(access.ManageSecrets, subject),
		Access: may(access.ManagePeople, access.Instance), CompanyActivity: may(access.ReadActivity, subject),
		Companies: may(access.ReadCompanies, access.Instance),
		General:   may(access.ReadSettings, access.Instance), Environments: may(access.ReadEnvironments, access.Instance),
		Leases:       may(access.ReadLeases, access.Somewhere),
		Experimental: may(access.ReadSettings, access.Instance), People: may(access.ManagePeople, access.Instance),
		InstanceActivity: may(access.ReadActivity, access.Instance),
	}
	if actor.Kind == environment.ActorPerson {
		n.Account, n.Rights, n.Here = actor.Name, rightsOf(actor), here(c)
	}
	return n
}

// here is where the page of a request is loaded from, without what it says was
// done; of a POST, the page that it was sent from.
func here(c echo.Context) string {
	u, err := url.Parse(wayBack(c))
	if err != nil || u.Path == "" {
		return views.AccountPath
	}
	q := u.Query()
	q.Del("done")
	u.RawQuery = q.Encode()
	return u.RequestURI()
}

// rightsOf stands for who somebody is and what they may do, so that a page can
// tell when that has changed.
func rightsOf(actor environment.Actor) string {
	var what strings.Builder
	fmt.Fprintf(&what, "%s %s %t", actor.Kind, actor.ID, actor.InstanceAdmin)
	for _, id := range sortedKeys(actor.Roles) {
		fmt.Fprintf(&what, " %s %s", id, actor.Roles[id])
	}
	sum := sha256.Sum256([]byte(what.String()))
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// sortedKeys are the companies of roles, in an order that stays.
func sortedKeys(roles map[uuid.UUID]environment.Role) []uuid.UUID {
	return slices.SortedFunc(maps.Keys(roles), func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
}

// accountRights tells an open page what its reader may do by now.
func (s *server) accountRights(c echo.Context) error {
	actor := s.actor(c)
	if err := access.May(actor, access.ManageAccount, access.Instance); err != nil {
		return err
	}
	pageHeaders(c)
	return c.String(http.StatusOK, rightsOf(actor))
}

// companiesOf are the companies that somebody may know of; none for one who may
// know of none.
func (s *server) companiesOf(c echo.Context) ([]environment.Company, error) {
	actor := s.actor(c)
	if access.May(actor, access.ReadCompanies, access.Somewhere) != nil {
		return nil, nil
	}
	return s.Catalogue.Companies(c.Request().Context(), actor)
}
