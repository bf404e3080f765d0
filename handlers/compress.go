package handlers

import (
	"compress/gzip"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/labstack/echo/v4"
)

// leastCompressed is the size below which compressing costs more than it saves.
const leastCompressed = 1024

// compress packs what is made for one request with gzip, for whoever takes it.
// Brotli would save another tenth and cost 4 MB for each answer; it packs what
// is sent again and again, which passes here, as streams do.
func (s *server) compress(next echo.HandlerFunc) echo.HandlerFunc {
	pool := &sync.Pool{New: func() any { w, _ := gzip.NewWriterLevel(nil, 5); return w }} // 5 is a level
	return func(c echo.Context) error {
		c.Response().Header().Add("Vary", "Accept-Encoding")
		if !taken(c.Request().Header.Get("Accept-Encoding"))["gzip"] {
			return next(c)
		}
		plain := c.Response().Writer
		w := &compressWriter{ResponseWriter: plain, pool: pool}
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
	takes := taken(accept)
	switch {
	case takes["br"]:
		return "br"
	case takes["gzip"]:
		return "gzip"
	}
	return ""
}

// taken reads an Accept-Encoding header.
func taken(accept string) map[string]bool {
	takes := map[string]bool{}
	for part := range strings.SplitSeq(accept, ",") {
		name, params, _ := strings.Cut(strings.TrimSpace(part), ";")
		takes[strings.ToLower(strings.TrimSpace(name))] = !refuses(params)
	}
	return takes
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

// compressWriter decides at the first write, when type and size are known, and
// holds the header back until then.
type compressWriter struct {
	http.ResponseWriter
	pool *sync.Pool
	held int          // status of a header that waits for the first write
	to   *gzip.Writer // nil: plain
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
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Del("Content-Length")
		w.to, _ = w.pool.Get().(*gzip.Writer)
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
	w.pool.Put(w.to)
	w.to = nil
	return err
}
