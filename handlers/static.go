package handlers

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"path"
	"sync"

	"berth/static"

	"github.com/andybalholm/brotli"
	"github.com/labstack/echo/v4"
)

// assetFiles keeps the packed forms of the files under /static/: each is packed
// once, when it is first asked for.
type assetFiles struct {
	mu     sync.Mutex
	packed map[string][]byte // by encoding and name
}

func newAssetFiles() *assetFiles { return &assetFiles{packed: map[string][]byte{}} }

// static serves a file under its hashed name, for ever.
func (s *server) static(c echo.Context) error {
	name := c.Param("*")
	body, ok := static.File(name)
	if !ok {
		return echo.NewHTTPError(http.StatusNotFound)
	}
	h, kind := c.Response().Header(), assetType(name)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	encoding := encodingFor(c.Request().Header.Get("Accept-Encoding"))
	if encoding != "" && isCompressible(kind) {
		h.Set("Content-Encoding", encoding)
		body = s.assets.pack(encoding, name, body)
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

func (a *assetFiles) pack(encoding, name string, body []byte) []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	key := encoding + " " + name
	if packed, ok := a.packed[key]; ok {
		return packed
	}
	var out bytes.Buffer
	var w encoder = brotli.NewWriterLevel(&out, 9)
	if encoding == "gzip" {
		w, _ = gzip.NewWriterLevel(&out, gzip.BestCompression) // it is a level
	}
	_, writeErr := w.Write(body)
	if closeErr := w.Close(); writeErr != nil || closeErr != nil {
		panic("packing into memory cannot fail")
	}
	a.packed[key] = out.Bytes()
	return a.packed[key]
}
