package handlers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"
)

// render writes a component: into a buffer first, so that one that fails is an
// error and not half a page.
func render(c echo.Context, status int, component templ.Component) error {
	var page bytes.Buffer
	if err := component.Render(c.Request().Context(), &page); err != nil {
		return fmt.Errorf("render %s: %w", routeOf(c), err)
	}
	pageHeaders(c)
	return c.Blob(status, pageType, page.Bytes())
}

const pageType = "text/html; charset=utf-8"

// pageHeaders are those of every page and fragment.
func pageHeaders(c echo.Context) {
	h := c.Response().Header()
	h.Add("Vary", "HX-Request")
	h.Set("Cache-Control", "no-store")
}

// isFragment reports whether the caller swaps a part of a page it already has.
func isFragment(c echo.Context) bool {
	h := c.Request().Header
	return h.Get("HX-Request") == "true" && h.Get("HX-History-Restore-Request") != "true"
}

// redirect sends a browser on after a change; htmx loads the page whole.
func redirect(c echo.Context, to string) error {
	if isFragment(c) {
		c.Response().Header().Set("HX-Redirect", to)
		return c.NoContent(http.StatusNoContent)
	}
	return c.Redirect(http.StatusSeeOther, to)
}

// writeJSON answers the API. Answers are never kept by caches.
func writeJSON(c echo.Context, status int, value any) error {
	body, err := marshal(value)
	if err != nil {
		return fmt.Errorf("encode %T: %w", value, err)
	}
	c.Response().Header().Set("Cache-Control", "no-store")
	return c.Blob(status, "application/json", body)
}

// marshal encodes without the escapes that HTML would need: nothing of ours is
// pasted into a page as it is.
func marshal(value any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
