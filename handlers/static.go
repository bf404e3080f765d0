package handlers

import (
	"net/http"
	"path"

	"berth/static"

	"github.com/labstack/echo/v4"
)

// static serves a file under its hashed name, for ever.
func (s *server) static(c echo.Context) error {
	name := c.Param("*")
	body, ok := static.File(name)
	if !ok {
		return echo.NewHTTPError(http.StatusNotFound)
	}
	h, kind := c.Response().Header(), assetType(name)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	if isCompressible(kind) {
		body = s.assets.choose(c, name, body)
	}
	return c.Blob(http.StatusOK, kind, body)
}

// assetType is the type of a file. What the system believes of endings does not
// count: with nosniff a wrong type breaks the page.
func assetType(name string) string {
	switch path.Ext(name) {
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	}
	return "application/octet-stream"
}
