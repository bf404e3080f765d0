package handlers

import (
	"bytes"
	"compress/gzip"
	"io"
	"math/bits"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/labstack/echo/v4"
)

// packedForms keeps the packed forms of bodies that are sent again and again:
// each is packed once, when it is first asked for. The zero value is ready.
type packedForms struct {
	best  bool // as small as can be: for what stays
	mu    sync.Mutex
	forms map[string][]byte // by encoding and name
}

// choose returns body in the form that the caller takes, and says in the answer
// which that is. name tells the bodies of one packedForms apart.
func (p *packedForms) choose(c echo.Context, name string, body []byte) []byte {
	encoding := encodingFor(c.Request().Header.Get("Accept-Encoding"))
	if encoding == "" || len(body) < leastCompressed {
		return body
	}
	c.Response().Header().Set("Content-Encoding", encoding)
	p.mu.Lock()
	defer p.mu.Unlock()
	key := encoding + " " + name
	if packed, ok := p.forms[key]; ok {
		return packed
	}
	packed := pack(encoding, body, p.best)
	if p.forms == nil {
		p.forms = map[string][]byte{}
	}
	p.forms[key] = packed
	return packed
}

func pack(encoding string, body []byte, best bool) []byte {
	brotliLevel, gzipLevel := 4, 5
	if best {
		brotliLevel, gzipLevel = 9, gzip.BestCompression
	}
	var out bytes.Buffer
	// A window as large as the body: the writer's memory is a few times that.
	window := min(max(bits.Len(uint(len(body))), 10), 22)
	var w io.WriteCloser = brotli.NewWriterOptions(&out, brotli.WriterOptions{Quality: brotliLevel, LGWin: window})
	if encoding == "gzip" {
		w, _ = gzip.NewWriterLevel(&out, gzipLevel) // it is a level
	}
	_, writeErr := w.Write(body)
	if closeErr := w.Close(); writeErr != nil || closeErr != nil {
		panic("packing into memory cannot fail")
	}
	return out.Bytes()
}
