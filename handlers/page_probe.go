package handlers

import (
	"bytes"
	"context"
	"net/http"

	"berth/environment"
	"berth/views"

	"github.com/a-h/templ"
	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
)

// environmentTest begins a test of a saved environment: the pending fragment or
// the row for htmx, else the environment's page.
func (s *server) environmentTest(c echo.Context) error {
	id, err := pathID(c, "id", "environment")
	if err != nil {
		return err
	}
	company, err := s.testCompany(c)
	if err != nil {
		return err
	}
	probe, err := s.Probing.Start(c.Request().Context(), s.actor(c), id, company)
	if err != nil {
		return err
	}
	return s.showProbe(c, probe)
}

// testCompany is the company that a test is for: the form's, else the picked one.
func (s *server) testCompany(c echo.Context) (*uuid.UUID, error) {
	f, err := form(c)
	if err != nil {
		return nil, err
	}
	if text := f.Get("companyId"); text != "" {
		id, err := idOf("company", text)
		return &id, err
	}
	return s.pickedID(c)
}

// probeFragment shows a test as it is.
func (s *server) probeFragment(c echo.Context) error {
	probe, err := s.probeOf(c)
	if err != nil {
		return err
	}
	return s.showProbe(c, probe)
}

// probeStop asks a test to end.
func (s *server) probeStop(c echo.Context) error {
	id, err := pathID(c, "pid", "probe")
	if err != nil {
		return err
	}
	probe, err := s.Probing.Cancel(c.Request().Context(), s.actor(c), id)
	if err != nil {
		return err
	}
	return s.showProbe(c, probe)
}

func (s *server) probeOf(c echo.Context) (environment.Probe, error) {
	id, err := pathID(c, "pid", "probe")
	if err != nil {
		return environment.Probe{}, err
	}
	return s.Probing.Get(c.Request().Context(), s.actor(c), id)
}

// showProbe answers with a test: as a row, as a fragment, as the page of its
// environment, or as a page of its own.
func (s *server) showProbe(c echo.Context, probe environment.Probe) error {
	saved := probe.EnvironmentID != nil && !probe.Draft
	if saved && isRowTarget(c) {
		return s.showRow(c, *probe.EnvironmentID)
	}
	panel := views.ProbePanel(views.NewProbePanel(probe, probe.ConfigRevision, mayManage(s.actor(c)), s.Now()))
	if isFragment(c) {
		return render(c, http.StatusOK, panel)
	}
	if saved {
		return redirect(c, views.EnvironmentPath(*probe.EnvironmentID))
	}
	return s.showGoing(c, "Test", views.SectionEnvironments, !probe.State.Ended(), views.Titled("Test", panel))
}

func (s *server) showRow(c echo.Context, id uuid.UUID) error {
	ctx, actor := c.Request().Context(), s.actor(c)
	v, err := s.Catalogue.Get(ctx, actor, id)
	if err != nil {
		return err
	}
	capabilities, err := s.Catalogue.Capabilities(ctx, actor)
	if err != nil {
		return err
	}
	row := views.NewEnvironmentRow(v, installed(capabilities, v.Key()), mayManage(actor), s.Now())
	return render(c, http.StatusOK, views.EnvironmentRow(row))
}

// probeFollow streams a test to its page: the stages as they change, then what
// it found.
func (s *server) probeFollow(c echo.Context) error {
	id, err := pathID(c, "pid", "probe")
	if err != nil {
		return err
	}
	return s.serveEvents(c, s.probeStream(id, func(ctx context.Context, actor environment.Actor, e environment.Event) ([]message, error) {
		return s.probeMessages(ctx, actor, id, e)
	}))
}

func (s *server) probeMessages(ctx context.Context, actor environment.Actor, id uuid.UUID, e environment.Event) ([]message, error) {
	probe, err := s.Probing.Get(ctx, actor, id)
	if err != nil {
		return nil, err
	}
	panel := views.NewProbePanel(probe, probe.ConfigRevision, mayManage(actor), s.Now())
	if e.Kind != environment.EventEnd {
		return fragments(ctx, e.Kind, views.TestProgress(panel))
	}
	if probe.Draft || probe.EnvironmentID == nil {
		return fragments(ctx, e.Kind, views.ProbePanel(panel))
	}
	companies, company, err := s.companiesOfProbe(ctx, actor, probe)
	if err != nil {
		return nil, err
	}
	d, err := s.detail(ctx, actor, *probe.EnvironmentID, views.TabOverview, companies, company)
	if err != nil {
		return nil, err
	}
	return fragments(ctx, e.Kind, views.EnvironmentAfterTest(views.NewEnvironmentPage(d, s.Now()).Showing(panel)))
}

// companiesOfProbe are those that the reader may know of, and the one that a test
// was for; nil for none.
func (s *server) companiesOfProbe(ctx context.Context, actor environment.Actor, probe environment.Probe) ([]environment.Company, *environment.Company, error) {
	companies, err := s.Catalogue.Companies(ctx, actor)
	if err != nil || probe.CompanyID == nil {
		return companies, nil, err
	}
	company, err := companyNamed(companies, *probe.CompanyID)
	if err != nil { // deleted, or not the reader's
		return companies, nil, nil
	}
	return companies, company, nil
}

// fragments renders components into one message of a stream.
func fragments(ctx context.Context, kind environment.EventKind, components ...templ.Component) ([]message, error) {
	var b bytes.Buffer
	for _, component := range components {
		if err := component.Render(ctx, &b); err != nil {
			return nil, err
		}
	}
	return []message{{Event: string(kind), Data: b.Bytes()}}, nil
}
