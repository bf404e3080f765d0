package handlers

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"berth/environment"
	"berth/environment/leasing"
	"berth/views"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
)

// How many leases the page shows, and how many that wait for an operator stand
// before all others.
const (
	leasesLimit      = 100
	deadLettersFirst = 50
)

// leasesPage shows the leases of the instance, those that wait for an operator
// first; htmx gets what the filter changes, or the rows that it looks at.
func (s *server) leasesPage(c echo.Context) error {
	if marks := c.QueryParams()["watch"]; len(marks) > 0 {
		return s.watchedLeases(c, marks)
	}
	l, err := s.leaseListing(c)
	if err != nil {
		return err
	}
	if c.QueryParam("ids") != "" {
		return c.String(http.StatusOK, idLines(l.Leases))
	}
	if isFragment(c) {
		return render(c, http.StatusOK, views.LeaseList(views.NewLeaseList(l, s.Now())))
	}
	return s.show(c, http.StatusOK, "Leases", views.SectionLeases, views.LeasesPage(views.NewLeasesPage(l, s.Now())))
}

// idLines are the ids of what a page would show, for one that asks whether it shows
// them all.
func idLines(leases []environment.Lease) string {
	lines := make([]string, len(leases))
	for i, l := range leases {
		lines[i] = l.ID.String()
	}
	return strings.Join(lines, "\n")
}

// leaseListing reads what the page shows.
func (s *server) leaseListing(c echo.Context) (views.LeaseListing, error) {
	ctx, actor := c.Request().Context(), s.actor(c)
	l := views.LeaseListing{MayManage: mayManage(actor)}
	f, err := leasePageFilter(c, &l)
	if err != nil {
		return l, err
	}
	if l.Companies, err = s.companiesOf(c); err != nil {
		return l, err
	}
	if len(l.Companies) < 2 {
		l.Companies = nil // of whom else
	}
	page, err := s.Catalogue.List(ctx, actor, environment.ListFilter{Sort: "name"})
	if err == nil {
		l.Environments = page.Items
		l.Leases, l.Next, err = s.leasesInOrder(ctx, actor, f)
	}
	if environment.KindOf(err) == environment.KindUnavailable && err != nil {
		s.logRefusal(c, refusalOf(err))
		l.Failed, err = environment.AsError(err), nil
	}
	return l, err
}

// leasePageFilter reads the query, for the page and for the service.
func leasePageFilter(c echo.Context, l *views.LeaseListing) (leasing.Filter, error) {
	w, err := windowOf(c)
	if err != nil {
		return leasing.Filter{}, err
	}
	f := leasing.Filter{Limit: leasesLimit, Cursor: w.Cursor}
	if c.QueryParam("limit") != "" {
		f.Limit = w.Limit
	}
	if f.Status, err = choice(c, "status", environment.LeaseStatuses()...); err != nil {
		return f, err
	}
	if f.EnvironmentID, err = queryID(c, "environment", "environment"); err != nil {
		return f, err
	}
	if f.Held, err = flag(c, "held", false); err != nil {
		return f, err
	}
	if f.DeadLetter, err = flag(c, "dead", false); err != nil {
		return f, err
	}
	l.Filter = views.LeaseFilter{Status: f.Status, Environment: c.QueryParam("environment"), Held: f.Held, Dead: f.DeadLetter, Cursor: w.Cursor}
	return f, nil
}

// leasesInOrder are a page of leases, newest use first; on the first page those
// stand before that wait for an operator.
func (s *server) leasesInOrder(ctx context.Context, actor environment.Actor, f leasing.Filter) ([]environment.Lease, string, error) {
	page, err := s.Leasing.List(ctx, actor, f)
	if err != nil || f.DeadLetter || f.Cursor != "" {
		return page.Items, page.Next, err
	}
	first := f
	first.DeadLetter, first.Limit = true, deadLettersFirst
	dead, err := s.Leasing.List(ctx, actor, first)
	if err != nil {
		return nil, "", err
	}
	rest := slices.DeleteFunc(page.Items, func(l environment.Lease) bool {
		return slices.ContainsFunc(dead.Items, func(d environment.Lease) bool { return d.ID == l.ID })
	})
	return append(dead.Items, rest...), page.Next, nil
}

// watchedLeases answers a look at rows with those that show something else by now.
// A mark is a lease's id and what its row showed.
func (s *server) watchedLeases(c echo.Context, marks []string) error {
	ctx, actor := c.Request().Context(), s.actor(c)
	companies, err := s.companiesOf(c)
	if err != nil {
		return err
	}
	var rows []views.LeaseRowProps
	for _, mark := range marks[:min(len(marks), watchLimit)] {
		text, _, _ := strings.Cut(mark, "~")
		id, err := idOf("lease", text)
		if err != nil {
			return err
		}
		lease, err := s.Leasing.Get(ctx, actor, id)
		if err != nil && environment.KindOf(err) == environment.KindNotFound {
			continue // pruned in between: the row goes with the next load
		}
		if err != nil {
			return err
		}
		if row := s.leaseRow(actor, companies, lease); row.Mark() != mark {
			rows = append(rows, row)
		}
	}
	return render(c, http.StatusOK, views.LeaseRows(rows))
}

func (s *server) leaseRow(actor environment.Actor, companies []environment.Company, l environment.Lease) views.LeaseRowProps {
	company := ""
	if i := slices.IndexFunc(companies, func(c environment.Company) bool { return c.ID == l.CompanyID }); i >= 0 && len(companies) > 1 {
		company = companies[i].Name
	}
	return views.NewLeaseRow(l, company, mayManage(actor), s.Now())
}

// pageWaits is how long a page waits for a provider: most have answered by then, and
// of the others the page tells that it goes on.
const pageWaits = time.Second

// leaseLetGo releases a lease from its row.
func (s *server) leaseLetGo(c echo.Context) error {
	return s.actOnLeaseRow(c, s.Leasing.Release, views.NoticeLeaseReleased)
}

// leaseCleanAgain tries a clean-up at once.
func (s *server) leaseCleanAgain(c echo.Context) error {
	return s.actOnLeaseRow(c, s.Leasing.RetryCleanup, views.NoticeLeaseReleased)
}

// actOnLeaseRow answers htmx with the lease's row, and a browser with the page that
// it came from.
func (s *server) actOnLeaseRow(c echo.Context, act leaseAct, notice views.Notice) error {
	id, err := pathID(c, "id", "lease")
	if err != nil {
		return err
	}
	lease, err := s.afterAct(c, id, act, time.After(pageWaits))
	if err != nil {
		return err
	}
	if !isFragment(c) {
		return redirect(c, done(views.LeasesPath, noticeOf(lease, notice)))
	}
	companies, err := s.companiesOf(c)
	if err != nil {
		return err
	}
	return render(c, http.StatusOK, views.LeaseRow(s.leaseRow(s.actor(c), companies, lease)))
}

// noticeOf says what became of an act: the provider may not have confirmed it.
func noticeOf(l environment.Lease, notice views.Notice) views.Notice {
	if !l.Status.Ended() {
		return views.NoticeCleanupGoesOn
	}
	return notice
}

// leaseDestroyDialog asks whether a sandbox is to be destroyed.
func (s *server) leaseDestroyDialog(c echo.Context) error {
	id, err := pathID(c, "id", "lease")
	if err != nil {
		return err
	}
	return s.showLeaseDestroy(c, http.StatusOK, id, nil)
}

// leaseDestroyed destroys it.
func (s *server) leaseDestroyed(c echo.Context) error {
	id, err := pathID(c, "id", "lease")
	if err != nil {
		return err
	}
	lease, err := s.afterAct(c, id, s.Leasing.Destroy, time.After(pageWaits))
	if err != nil {
		if !isRefusedForm(err) {
			return err
		}
		return s.showLeaseDestroy(c, http.StatusUnprocessableEntity, id, environment.AsError(err))
	}
	return redirect(c, done(views.LeasesPath, noticeOf(lease, views.NoticeLeaseDestroyed)))
}

func (s *server) showLeaseDestroy(c echo.Context, status int, id uuid.UUID, failed *environment.Error) error {
	lease, err := s.Leasing.Get(c.Request().Context(), s.actor(c), id)
	if err != nil {
		return err
	}
	dialog := views.LeaseDestroy(views.NewLeaseDestroy(lease, failed, s.Now()))
	return s.showPart(c, status, "Destroy a sandbox", views.SectionLeases, dialog)
}
