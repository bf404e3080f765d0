package handlers

import (
	"context"
	"fmt"
	"net/http"

	"berth/environment"
	"berth/environment/access"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
)

// environmentList answers GET /api/companies/:c/environments, and
// GET /api/environments for who has no company to name: the catalogue is the
// instance's. The body is kept as long as the catalogue's revision stays: one short read answers most calls.
// Whether the caller may see it was asked before, by the route; whole and reduced
// bodies are kept apart.
func (s *server) environmentList(c echo.Context) error {
	company := uuid.Nil // none
	var err error
	if c.Param("c") != "" {
		if company, err = pathID(c, "c", "company"); err != nil {
			return err
		}
	}
	filter, err := listFilter(c)
	if err != nil {
		return err
	}
	ctx, actor := c.Request().Context(), s.actor(c)
	revision, err := s.Catalogue.Revision(ctx)
	if err != nil {
		return err
	}
	key := fmt.Sprintf("whole %t %s %q", access.Whole(actor), company, c.Request().URL.RawQuery)
	list, err := s.list.get(ctx, key, revision, func() (*cachedList, error) {
		return s.makeList(ctx, c, actor, company, filter)
	})
	if err != nil {
		return err
	}
	h := c.Response().Header()
	h.Set("Cache-Control", "no-store")
	if list.link != "" {
		h.Set("Link", list.link)
	}
	return c.Blob(http.StatusOK, "application/json", list.packed.choose(c, "", list.body))
}

// makeList reads the list of a filter and encodes it; for a company that is named,
// which then must be there.
func (s *server) makeList(ctx context.Context, c echo.Context, actor environment.Actor, company uuid.UUID, filter environment.ListFilter) (*cachedList, error) {
	if company != uuid.Nil {
		if _, err := s.Catalogue.Company(ctx, actor, company); err != nil {
			return nil, err
		}
	}
	page, err := s.Catalogue.List(ctx, actor, filter)
	if err != nil {
		return nil, err
	}
	body, err := marshal(each(page.Items, environmentShape))
	if err != nil {
		return nil, fmt.Errorf("encode the environments: %w", err)
	}
	return &cachedList{body: body, link: nextLink(c.Request().URL, page.Next)}, nil
}

// listFilter reads the filter of a list of environments.
func listFilter(c echo.Context) (environment.ListFilter, error) {
	w, err := windowOf(c)
	if err != nil {
		return environment.ListFilter{}, err
	}
	f := environment.ListFilter{Limit: w.Limit, Cursor: w.Cursor, Query: w.Query}
	if f.Status, err = choice(c, "status", environment.StatusActive, environment.StatusArchived, environment.StatusMaintenance); err != nil {
		return f, err
	}
	if f.Driver, err = choice(c, "driver", environment.DriverLocal, environment.DriverSSH, environment.DriverSandbox, environment.DriverPlugin); err != nil {
		return f, err
	}
	if f.Health, err = choice(c, "health", environment.Healths()...); err != nil {
		return f, err
	}
	f.Sort, err = choice(c, "sort", "updated", "name", "health", "driver", "tested")
	return f, err
}
