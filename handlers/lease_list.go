package handlers

import (
	"net/http"

	"berth/environment"
	"berth/environment/leasing"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
)

// leaseList answers GET /api/environments/:id/leases: newest use first.
func (s *server) leaseList(c echo.Context) error {
	id, err := pathID(c, "id", "environment")
	if err != nil {
		return err
	}
	filter, err := leaseFilter(c, &id)
	if err != nil {
		return err
	}
	if _, err := s.Catalogue.Get(c.Request().Context(), s.actor(c), id); err != nil {
		return err
	}
	return s.showLeases(c, filter)
}

// leaseListAll answers GET /api/environment-leases: those of the instance, of
// environments that are gone too, newest use first.
func (s *server) leaseListAll(c echo.Context) error {
	id, err := queryID(c, "environmentId", "environment")
	if err != nil {
		return err
	}
	filter, err := leaseFilter(c, id)
	if err != nil {
		return err
	}
	return s.showLeases(c, filter)
}

// leaseFilter reads what narrows a list of leases.
func leaseFilter(c echo.Context, environmentID *uuid.UUID) (leasing.Filter, error) {
	w, err := windowOf(c)
	if err != nil {
		return leasing.Filter{}, err
	}
	f := leasing.Filter{EnvironmentID: environmentID, Limit: w.Limit, Cursor: w.Cursor, OwnerKind: c.QueryParam("ownerKind")}
	if !isText(f.OwnerKind, maxOwnerKind) {
		return f, unreadableField("invalid_query", "ownerKind", "ownerKind is a word of at most %d characters.", maxOwnerKind)
	}
	if f.Status, err = choice(c, "status", environment.LeaseStatuses()...); err != nil {
		return f, err
	}
	if f.CompanyID, err = queryID(c, "companyId", "company"); err != nil {
		return f, err
	}
	if f.Held, err = flag(c, "held", false); err != nil {
		return f, err
	}
	f.DeadLetter, err = flag(c, "dead", false)
	return f, err
}

// maxOwnerKind is how long the word for what a lease is for may be.
const maxOwnerKind = 60

func (s *server) showLeases(c echo.Context, filter leasing.Filter) error {
	page, err := s.Leasing.List(c.Request().Context(), s.actor(c), filter)
	if err != nil {
		return err
	}
	linkNext(c, page.Next)
	return writeJSON(c, http.StatusOK, each(page.Items, leaseShape))
}

// leaseGet answers GET /api/environment-leases/:id.
func (s *server) leaseGet(c echo.Context) error {
	id, err := pathID(c, "id", "lease")
	if err != nil {
		return err
	}
	lease, err := s.Leasing.Get(c.Request().Context(), s.actor(c), id)
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, leaseShape(lease))
}
