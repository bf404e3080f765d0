package handlers

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"
)

func TestGuardKey(t *testing.T) {
	s := &server{}
	e := echo.New()
	e.HTTPErrorHandler = func(err error, c echo.Context) {
		r := refusalOf(err)
		if err := writeJSON(c, r.status, errorBody(r.err)); err != nil {
			t.Error(err)
		}
	}
	e.Use(s.guardKey)
	e.GET("/api/x", func(c echo.Context) error { return c.NoContent(http.StatusNoContent) })
	for key, want := range map[string]int{"": 204, "Bearer wrong": 401, "Basic dTpw": 401} {
		r := httptest.NewRequest(http.MethodGet, "/api/x", nil)
		if key != "" {
			r.Header.Set("Authorization", key)
		}
		w := httptest.NewRecorder()
		e.ServeHTTP(w, r)
		if w.Code != want || (want == 401 && !strings.Contains(w.Body.String(), `"invalid_key"`)) {
			t.Errorf("key %q: %d %s, want %d", key, w.Code, w.Body, want)
		}
	}
}
