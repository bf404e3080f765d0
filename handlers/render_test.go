package handlers

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a-h/templ"
	"github.com/andybalholm/brotli"
	"github.com/labstack/echo/v4"
)

func TestRenderThatFailsWritesNothing(t *testing.T) {
	rec := httptest.NewRecorder()
	broken := templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		_, _ = io.WriteString(w, "half a p")
		return errors.New("broken")
	})
	err := render(echo.New().NewContext(httptest.NewRequest(http.MethodGet, "/", nil), rec), http.StatusOK, broken)
	if err == nil || rec.Body.Len() > 0 {
		t.Errorf("error %v, body %q; want an error and nothing written", err, rec.Body)
	}
}

func TestRedirect(t *testing.T) {
	for htmx, want := range map[string]int{"": 303, "true": 204} {
		req := httptest.NewRequest(http.MethodPost, "/", nil)
		req.Header.Set("HX-Request", htmx)
		rec := httptest.NewRecorder()
		if err := redirect(echo.New().NewContext(req, rec), "/there"); err != nil {
			t.Fatal(err)
		}
		if to := rec.Header().Get("Location") + rec.Header().Get("HX-Redirect"); rec.Code != want || to != "/there" {
			t.Errorf("HX-Request %q: %d to %q, want %d", htmx, rec.Code, to, want)
		}
	}
}

func TestCompression(t *testing.T) {
	f := newFront(t)
	for range 12 {
		f.create("box " + strings.Repeat("x", 20+len(f.call("GET", f.environments(), "").Body)%97))
	}
	plain := f.call("GET", f.environments(), "", "Accept-Encoding: identity")
	if len(plain.Body) < leastCompressed {
		t.Fatalf("the list has only %d bytes", len(plain.Body))
	}
	tests := []struct{ accept, want string }{
		{"br, gzip", "br"}, {"gzip, deflate, br;q=0.5", "br"}, {"gzip", "gzip"}, {"GZIP", "gzip"}, {"br;q=0, gzip", "gzip"},
		{"br;q=0", ""}, {"deflate", ""}, {"identity", ""}, {"*", ""},
	}
	for _, tt := range tests {
		a := f.call("GET", f.environments(), "", "Accept-Encoding: "+tt.accept)
		if got := a.Header.Get("Content-Encoding"); got != tt.want {
			t.Errorf("Accept-Encoding %q: %q, want %q", tt.accept, got, tt.want)
			continue
		}
		if body := unpack(t, tt.want, a.Body); body != plain.Body {
			t.Errorf("Accept-Encoding %q: the body differs", tt.accept)
		}
		if !strings.Contains(strings.Join(a.Header.Values("Vary"), ","), "Accept-Encoding") {
			t.Errorf("Accept-Encoding %q: Vary is %v", tt.accept, a.Header.Values("Vary"))
		}
	}
	fresh := f.call("GET", "/api/activity", "", "Accept-Encoding: identity")
	for accept, want := range map[string]string{"br, gzip": "gzip", "gzip": "gzip", "br": "", "gzip;q=0": ""} { // made for one request
		a := f.call("GET", "/api/activity", "", "Accept-Encoding: "+accept)
		if got := a.Header.Get("Content-Encoding"); got != want || unpack(t, got, a.Body) != fresh.Body {
			t.Errorf("activity for Accept-Encoding %q: %q, want %q", accept, got, want)
		}
	}
	for _, path := range []string{"/api/health", "/api/nothing"} {
		if a := f.call("GET", path, "", "Accept-Encoding: br"); a.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s is packed: it is too small", path)
		}
	}
}

func unpack(t *testing.T, encoding, body string) string {
	t.Helper()
	var r io.Reader = strings.NewReader(body)
	var err error
	switch encoding {
	case "br":
		r = brotli.NewReader(r)
	case "gzip":
		if r, err = gzip.NewReader(r); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if _, err := out.ReadFrom(r); err != nil {
		t.Fatalf("unpack %s: %v", encoding, err)
	}
	return out.String()
}
