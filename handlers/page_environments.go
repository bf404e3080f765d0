package handlers

import (
	"net/http"

	"berth/environment"
	"berth/views"

	"github.com/labstack/echo/v4"
)

// pageLimit is how many rows a page of the list has, and watchLimit how many of
// them are looked at in one request.
const (
	pageLimit  = 200
	watchLimit = 100
)

// environmentsPage shows the list; htmx gets what the filter changes.
func (s *server) environmentsPage(c echo.Context) error {
	if ids := c.QueryParams()["watch"]; len(ids) > 0 {
		return s.watchedRows(c, ids)
	}
	return s.keptEnvironments(c)
}

// freshEnvironments reads and renders the list for this one answer.
func (s *server) freshEnvironments(c echo.Context) error {
	l, err := s.listing(c)
	if err != nil {
		return err
	}
	now := s.Now()
	if isFragment(c) {
		return render(c, http.StatusOK, views.EnvironmentsList(views.NewEnvironmentsList(l, now)))
	}
	return s.show(c, http.StatusOK, "Environments", views.SectionEnvironments, views.EnvironmentsPage(views.NewEnvironmentsPage(l, now)))
}

// listing reads what the list page shows.
func (s *server) listing(c echo.Context) (views.Listing, error) {
	ctx, actor := c.Request().Context(), s.actor(c)
	l := views.Listing{MayManage: mayManage(actor)}
	var err error
	if l.Filter, err = pageFilter(c); err != nil {
		return l, err
	}
	if l.Settings, err = s.Catalogue.Flags(ctx); err != nil {
		return l, err
	}
	if l.Capabilities, err = s.Catalogue.Capabilities(ctx, actor); err != nil {
		return l, err
	}
	if l.Page, err = s.Catalogue.List(ctx, actor, l.Filter); err != nil {
		if environment.KindOf(err) != environment.KindUnavailable {
			return l, err
		}
		s.logRefusal(c, refusalOf(err))
		l.Failed = environment.AsError(err)
		return l, nil
	}
	l.DefaultName, err = s.defaultName(c, l)
	return l, err
}

// defaultName is the name of the default environment, which need not be on the
// page; "" when there is none.
func (s *server) defaultName(c echo.Context, l views.Listing) (string, error) {
	if l.Settings.DefaultEnvironmentID == nil {
		return "", nil
	}
	for _, v := range l.Page.Items {
		if v.IsDefault {
			return v.Name, nil
		}
	}
	v, err := s.Catalogue.Get(c.Request().Context(), s.actor(c), *l.Settings.DefaultEnvironmentID)
	if environment.KindOf(err) == environment.KindNotFound && err != nil {
		return "", nil // deleted in between
	}
	return v.Name, err
}

func pageFilter(c echo.Context) (environment.ListFilter, error) {
	w, err := windowOf(c)
	if err != nil {
		return environment.ListFilter{}, err
	}
	f := environment.ListFilter{Query: w.Query, Cursor: w.Cursor, Limit: pageLimit, NotArchived: true}
	if c.QueryParam("limit") != "" {
		f.Limit = w.Limit
	}
	archived, err := flag(c, "archived", false)
	if err != nil {
		return f, err
	}
	if archived {
		f.Status, f.NotArchived = environment.StatusArchived, false
	}
	if f.Health, err = choice(c, "health", environment.Healths()...); err != nil {
		return f, err
	}
	if f.Sort, err = choice(c, "sort", "updated", "name", "health", "driver", "tested"); err != nil {
		return f, err
	}
	f.Driver = c.QueryParam("driver")
	if !isText(f.Driver, 100) {
		return f, unreadableField("invalid_query", "driver", "driver is the name of a driver.")
	}
	return f, nil
}

// watchedRows answers a look at rows whose tests are under way.
func (s *server) watchedRows(c echo.Context, ids []string) error {
	ctx, actor := c.Request().Context(), s.actor(c)
	capabilities, err := s.Catalogue.Capabilities(ctx, actor)
	if err != nil {
		return err
	}
	rows := make([]views.EnvironmentRowProps, 0, len(ids))
	for _, text := range ids[:min(len(ids), watchLimit)] {
		id, err := idOf("environment", text)
		if err != nil {
			return err
		}
		v, err := s.Catalogue.Get(ctx, actor, id)
		if err != nil && environment.KindOf(err) == environment.KindNotFound {
			continue // deleted in between: the row goes with the next load
		}
		if err != nil {
			return err
		}
		rows = append(rows, views.NewEnvironmentRow(v, installed(capabilities, v.Key()), mayManage(actor), s.Now()))
	}
	return render(c, http.StatusOK, views.EnvironmentRows(rows))
}

// testAll begins a test of each environment that can be tested.
func (s *server) testAll(c echo.Context) error {
	company, err := s.pickedID(c)
	if err != nil {
		return err
	}
	_, unnamed, err := s.Probing.StartAll(c.Request().Context(), s.actor(c), company)
	if err != nil {
		return err
	}
	notice := views.NoticeTestsBegun
	if unnamed > 0 {
		notice = views.NoticeTestsUnnamed
	}
	return redirect(c, done(views.Environments, notice))
}
