package handlers

import (
	"net/http"

	"berth/environment"
	"berth/environment/example"
	"berth/views"
	"berth/views/preview"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"
)

// previewIndex lists the previews.
func (s *server) previewIndex(c echo.Context) error {
	return s.showPreview(c, "Previews", views.SectionNone, preview.Index())
}

// previewPage shows one state of one component, made from example values.
func (s *server) previewPage(c echo.Context) error {
	p, ok := preview.Find(c.Param("name"))
	if !ok {
		return environment.NotFound("preview")
	}
	if p.IsOutside() {
		return s.showOutside(c, http.StatusOK, p.Name, preview.Framed(p))
	}
	return s.showPreview(c, p.Name, views.SectionEnvironments, preview.Framed(p))
}

// showPreview frames a preview without reading the store and without a stream:
// the subjects do not exist.
func (s *server) showPreview(c echo.Context, title string, section views.Section, body templ.Component) error {
	assets, acme := pageAssets(), example.Acme()
	assets.SSE = ""
	layout := views.NewLayout(title, section, example.Companies(), &acme, views.PreviewPath, assets).WithNav(views.WholeNav(example.Ada().Name))
	return render(c, http.StatusOK, views.Layout(layout, body))
}
