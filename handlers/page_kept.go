package handlers

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"time"

	"berth/environment"
	"berth/views"

	"github.com/labstack/echo/v4"
)

// pageFor is how long a page of the list is kept: that much older than now may
// be what it says of times, which scripts set right in the browser.
const pageFor = 5 * time.Second

// errNotKept is a page that is good for one answer only.
var errNotKept = errors.New("this page is not kept")

// keptEnvironments answers with the page of the list that was made last, as long
// as the catalogue's revision and whatever else it shows are the same.
func (s *server) keptEnvironments(c echo.Context) error {
	ctx, actor := c.Request().Context(), s.actor(c)
	revision, err := s.Catalogue.Revision(ctx)
	if err != nil {
		return s.freshEnvironments(c) // which says what there is to say
	}
	companies, err := s.Catalogue.Companies(ctx, actor)
	if err != nil {
		return err
	}
	list, err := s.list.get(ctx, s.pageKey(c, actor, companies), revision, func() (*cachedList, error) {
		return s.makePage(c, companies)
	})
	if errors.Is(err, errNotKept) {
		return s.freshEnvironments(c)
	}
	if err != nil {
		return err
	}
	pageHeaders(c)
	return c.Blob(http.StatusOK, pageType, list.packed.choose(c, "", list.body))
}

// pageKey names everything that a page shows beside the catalogue: who asks, what
// they may do, and their companies.
func (s *server) pageKey(c echo.Context, actor environment.Actor, companies []environment.Company) string {
	var key bytes.Buffer
	fmt.Fprintf(&key, "page %s %q %t %q", rightsOf(actor), actor.Name, isFragment(c), c.Request().URL.RequestURI())
	picked := pickedCompany(c, companies)
	if picked != nil {
		fmt.Fprintf(&key, " at %s", picked.ID)
	}
	fmt.Fprintf(&key, " offered %+v", s.nav(c, picked))
	for _, company := range companies {
		fmt.Fprintf(&key, " %s %q", company.ID, company.Name)
	}
	return key.String()
}

// makePage reads and renders the page.
func (s *server) makePage(c echo.Context, companies []environment.Company) (*cachedList, error) {
	l, err := s.listing(c)
	if err != nil {
		return nil, err
	}
	if l.Failed != nil {
		return nil, errNotKept
	}
	now := s.Now()
	component := views.EnvironmentsList(views.NewEnvironmentsList(l, now))
	if !isFragment(c) {
		component = views.Layout(s.frame(c, "Environments", views.SectionEnvironments, companies),
			views.EnvironmentsPage(views.NewEnvironmentsPage(l, now)))
	}
	var page bytes.Buffer
	if err := component.Render(c.Request().Context(), &page); err != nil {
		return nil, fmt.Errorf("render %s: %w", routeOf(c), err)
	}
	return &cachedList{body: page.Bytes(), until: now.Add(pageFor)}, nil
}
