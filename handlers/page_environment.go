package handlers

import (
	"context"

	"berth/environment"
	"berth/environment/access"
	"berth/environment/leasing"
	"berth/environment/running"
	"berth/views"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
)

// besideLimit is how many tests, leases, runs or entries a tab shows.
const besideLimit = 50

// environmentPage shows an environment; ?tab= picks a part.
func (s *server) environmentPage(c echo.Context) error {
	id, err := pathID(c, "id", "environment")
	if err != nil {
		return err
	}
	tab, err := choice(c, "tab", views.Tabs()...)
	if err != nil {
		return err
	}
	if tab.IsWhole() {
		if err := access.May(s.actor(c), access.SeeWhole, access.Instance); err != nil {
			return err
		}
	}
	companies, err := s.companiesOf(c)
	if err != nil {
		return err
	}
	company, err := companyOf(c, companies)
	if err != nil {
		return err
	}
	d, err := s.detail(c.Request().Context(), s.actor(c), id, tab, companies, company)
	if err != nil {
		return err
	}
	page := views.NewEnvironmentPage(d, s.Now())
	return s.showGoing(c, d.View.Name, views.SectionEnvironments, d.View.Active != nil, views.EnvironmentPage(page))
}

// detail reads what a tab of an environment's page shows; company is the one that
// is picked among companies, nil for none.
func (s *server) detail(ctx context.Context, actor environment.Actor, id uuid.UUID, tab views.Tab, companies []environment.Company, company *environment.Company) (views.Detail, error) {
	if tab == "" {
		tab = views.TabOverview
	}
	d := views.Detail{Tab: tab, MayManage: mayManage(actor), Companies: companies, Company: company}
	var err error
	if d.View, err = s.Catalogue.Get(ctx, actor, id); err != nil {
		return d, err
	}
	if d.Settings, err = s.Catalogue.Flags(ctx); err != nil {
		return d, err
	}
	capabilities, err := s.Catalogue.Capabilities(ctx, actor)
	if err != nil {
		return d, err
	}
	d.Caps = installed(capabilities, d.View.Key())
	if d.MayManage && d.Caps != nil {
		d.Problems = s.Catalogue.ConfigProblems(d.View.Environment)
	}
	return d, s.readTab(ctx, actor, &d)
}

func (s *server) readTab(ctx context.Context, actor environment.Actor, d *views.Detail) error {
	id := d.View.ID
	switch d.Tab {
	case views.TabConfiguration:
		var err error
		if d.Fields, err = fieldsOf(d.Caps); err != nil {
			s.Log.WarnContext(ctx, "show settings without their schema", "err", err) // Problems tells people
		}
		d.References, err = s.Catalogue.References(ctx, actor, d.View.Environment)
		return err
	case views.TabImage:
		return s.readSandbox(ctx, actor, d)
	case views.TabOverview:
		if err := s.readSandbox(ctx, actor, d); err != nil {
			return err
		}
		page, err := s.Probing.History(ctx, actor, id, besideLimit, "")
		d.Probes = page.Items
		return err
	case views.TabLeases:
		page, err := s.Leasing.List(ctx, actor, leasing.Filter{EnvironmentID: &id, Limit: besideLimit})
		d.Leases = page.Items
		return err
	case views.TabRuns:
		page, err := s.Running.List(ctx, actor, running.Filter{EnvironmentID: &id, Limit: besideLimit})
		d.Runs = page.Items
		return err
	case views.TabActivity:
		page, err := s.Catalogue.Activity(ctx, actor, environment.ActivityFilter{EntityType: "environment", EntityID: id.String(), Limit: besideLimit})
		d.Activity = page.Items
		return err
	}
	return nil
}

// readSandbox reads what stands beside a test of a sandbox.
func (s *server) readSandbox(ctx context.Context, actor environment.Actor, d *views.Detail) error {
	if !d.MayManage {
		return nil
	}
	var err error
	if d.Usage, err = s.usageOf(ctx, actor, d.View.Environment); err != nil {
		return err
	}
	d.Qualification, err = s.qualification(ctx, actor, d.View.Environment, d.Companies, d.Company)
	return err
}

// environmentArchive takes an environment out of use.
func (s *server) environmentArchive(c echo.Context) error {
	return s.setStatus(c, environment.StatusArchived, views.NoticeArchived)
}

// environmentRestore brings it back.
func (s *server) environmentRestore(c echo.Context) error {
	return s.setStatus(c, environment.StatusActive, views.NoticeRestored)
}

func (s *server) setStatus(c echo.Context, status environment.Status, notice views.Notice) error {
	id, err := pathID(c, "id", "environment")
	if err != nil {
		return err
	}
	if _, err := s.Catalogue.Update(c.Request().Context(), s.actor(c), id, nil, environment.Patch{Status: &status}); err != nil {
		return err
	}
	return redirect(c, done(views.EnvironmentPath(id), notice))
}
