package handlers

import (
	"net/http"
	"net/url"
	"strings"

	"berth/environment"
	"berth/environment/access"
	"berth/static"
	"berth/views"

	"github.com/a-h/templ"
	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
)

// companyCookie remembers which company a browser has picked.
const companyCookie = "berth_company"

// show answers htmx with a component and everybody else with a page around it.
func (s *server) show(c echo.Context, status int, title string, section views.Section, body templ.Component) error {
	if isFragment(c) {
		return render(c, status, body)
	}
	layout, err := s.layout(c, title, section)
	if err != nil {
		return err
	}
	return render(c, status, views.Layout(layout, body))
}

// showPart is show for a dialog or a part that has no title of a page.
func (s *server) showPart(c echo.Context, status int, title string, section views.Section, part templ.Component) error {
	if !isFragment(c) {
		part = views.Titled(title, part)
	}
	return s.show(c, status, title, section, part)
}

// showGoing is show for a page that changes by itself while going: a browser
// without scripts loads it again.
func (s *server) showGoing(c echo.Context, title string, section views.Section, going bool, body templ.Component) error {
	if isFragment(c) {
		return render(c, http.StatusOK, body)
	}
	layout, err := s.layout(c, title, section)
	if err != nil {
		return err
	}
	return render(c, http.StatusOK, views.Layout(layout.Refreshing(going), body))
}

func (s *server) layout(c echo.Context, title string, section views.Section) (views.LayoutProps, error) {
	companies, err := s.companiesOf(c)
	if err != nil {
		return views.LayoutProps{}, err
	}
	return s.frame(c, title, section, companies), nil
}

func (s *server) frame(c echo.Context, title string, section views.Section, companies []environment.Company) views.LayoutProps {
	company := pickedCompany(c, companies)
	return views.NewLayout(title, section, companies, company, c.Request().URL.RequestURI(), pageAssets()).
		WithNav(s.nav(c, company)).WithNotice(views.Notice(c.QueryParam("done")))
}

func pageAssets() views.Assets {
	return views.Assets{CSS: static.URL("app.css"), HTMX: static.URL("htmx-2.0.11.min.js"), SSE: static.URL("htmx-ext-sse-2.2.4.min.js"),
		App: static.URL("app.js"), Icon: static.URL("icon.svg")}
}

// pickedCompany is the company of the address, else the one that the browser
// picked, else the only one; nil when there is none of these.
func pickedCompany(c echo.Context, companies []environment.Company) *environment.Company {
	wanted := c.Param("c")
	if wanted == "" {
		if cookie, err := c.Cookie(companyCookie); err == nil {
			wanted = cookie.Value
		}
	}
	for i, company := range companies {
		if company.ID.String() == wanted || len(companies) == 1 {
			return &companies[i]
		}
	}
	return nil
}

// pickedID is the picked company's id, for what belongs to one; nil for none.
func (s *server) pickedID(c echo.Context) (*uuid.UUID, error) {
	companies, err := s.Catalogue.Companies(c.Request().Context(), s.actor(c))
	if err != nil {
		return nil, err
	}
	if picked := pickedCompany(c, companies); picked != nil {
		return &picked.ID, nil
	}
	return nil, nil
}

// mayManage tells whether an actor may change environments: pages offer only
// what would be allowed.
func mayManage(actor environment.Actor) bool {
	return access.May(actor, access.ManageEnvironment, access.Instance) == nil
}

// done is an address with what its page says was done.
func done(path string, notice views.Notice) string { return path + "?done=" + string(notice) }

// localPath keeps a way back within this server.
func localPath(path string) string {
	u, err := url.Parse(path)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || strings.Contains(path, `\`) {
		return views.Environments
	}
	return path
}

// isRowTarget reports whether htmx wants a row of the list for an answer.
func isRowTarget(c echo.Context) bool {
	return isFragment(c) && strings.HasPrefix(c.Request().Header.Get("HX-Target"), "env-")
}
