package handlers

import (
	"compress/gzip"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/labstack/echo/v4"
)

// leastCompressed is the size below which compressing costs more than it saves.
const leastCompressed = 1024

// compress packs pages, JSON, styles and scripts for whoever takes it. Streams
// and what is packed already pass.
func (s *server) compress(next echo.HandlerFunc) echo.HandlerFunc {
	pools := newEncoders()
	return func(c echo.Context) error {
		encoding := encodingFor(c.Request().Header.Get("Accept-Encoding"))
		c.Response().Header().Add("Vary", "Accept-Encoding")
		if encoding == "" {
			return next(c)
		}
		plain := c.Response().Writer
		w := &compressWriter{ResponseWriter: plain, encoding: encoding, pools: pools}
		c.Response().Writer = w
		defer func() { c.Response().Writer = plain }()
		err := next(c)
		if err != nil && !c.Response().Committed {
			return err // the error's answer is short and goes out plain
		}
		if closeErr := w.close(); err == nil {
			err = closeErr
		}
		return err
	}
}

// encodingFor picks br, gzip or "" from an Accept-Encoding header.
func encodingFor(accept string) string {
	taken := map[string]bool{}
	for part := range strings.SplitSeq(accept, ",") {
		name, params, _ := strings.Cut(strings.TrimSpace(part), ";")
		taken[strings.ToLower(strings.TrimSpace(name))] = !refuses(params)
	}
	switch {
	case taken["br"]:
		return "br"
	case taken["gzip"]:
		return "gzip"
	}
	return ""
}

func refuses(params string) bool {
	value, found := strings.CutPrefix(strings.ReplaceAll(params, " ", ""), "q=")
	weight, err := strconv.ParseFloat(value, 64)
	return found && err == nil && weight == 0
}

// isCompressible reports whether content of a type gets smaller. A stream of
// events does not: each event goes out by itself.
func isCompressible(contentType string) bool {
	kind, _, _ := mime.ParseMediaType(contentType)
	switch kind {
	case "text/html", "text/css", "text/javascript", "text/plain", "application/json", "image/svg+xml":
		return true
	}
	return false
}

type encoder interface {
	io.WriteCloser
	Reset(io.Writer)
}

type encoders map[string]*sync.Pool

func newEncoders() encoders {
	return encoders{
		"br":   {New: func() any { return brotli.NewWriterLevel(nil, 4) }},
		"gzip": {New: func() any { w, _ := gzip.NewWriterLevel(nil, 5); return w }}, // 5 is a level
	}
}

// compressWriter decides at the first write, when type and size are known, and
// holds the header back until then.
type compressWriter struct {
	http.ResponseWriter
	encoding string
	pools    encoders
	held     int     // status of a header that waits for the first write
	to       encoder // nil: plain
}

func (w *compressWriter) WriteHeader(status int) {
	h := w.Header()
	if status < 200 || status == http.StatusNoContent || status == http.StatusNotModified ||
		h.Get("Content-Encoding") != "" || !isCompressible(h.Get("Content-Type")) {
		w.ResponseWriter.WriteHeader(status)
		return
	}
	w.held = status
}

func (w *compressWriter) Write(b []byte) (int, error) {
	if w.held != 0 {
		w.release(len(b))
	}
	if w.to != nil {
		return w.to.Write(b)
	}
	return w.ResponseWriter.Write(b)
}

// release sends the header that was held back. Handlers write an answer in one
// piece, so the first piece tells the size.
func (w *compressWriter) release(size int) {
	if size >= leastCompressed {
		w.Header().Set("Content-Encoding", w.encoding)
		w.Header().Del("Content-Length")
		w.to, _ = w.pools[w.encoding].Get().(encoder)
		w.to.Reset(w.ResponseWriter)
	}
	w.ResponseWriter.WriteHeader(w.held)
	w.held = 0
}

// Unwrap lets http.ResponseController reach flush and deadlines. A packed
// answer is never flushed half-way: only streams are, and they are not packed.
func (w *compressWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *compressWriter) close() error {
	if w.held != 0 {
		w.release(0)
	}
	if w.to == nil {
		return nil
	}
	err := w.to.Close()
	w.pools[w.encoding].Put(w.to)
	w.to = nil
	return err
}
