package handlers

import (
	"net/http"

	"berth/environment"
	"berth/environment/leasing"

	"github.com/labstack/echo/v4"
)

// leaseList answers GET /api/environments/:id/leases: newest use first.
func (s *server) leaseList(c echo.Context) error {
	id, err := pathID(c, "id", "environment")
	if err != nil {
		return err
	}
	w, err := windowOf(c)
	if err != nil {
		return err
	}
	filter := leasing.Filter{EnvironmentID: &id, Limit: w.Limit, Cursor: w.Cursor}
	if filter.Status, err = choice(c, "status", environment.LeaseStatuses()...); err != nil {
		return err
	}
	if filter.CompanyID, err = queryID(c, "companyId", "company"); err != nil {
		return err
	}
	ctx, actor := c.Request().Context(), s.actor(c)
	if _, err := s.Catalogue.Get(ctx, actor, id); err != nil {
		return err
	}
	page, err := s.Leasing.List(ctx, actor, filter)
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
