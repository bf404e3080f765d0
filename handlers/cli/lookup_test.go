package cli_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestCompaniesOfSeveralPages: there are more than one answer holds, and a name
// is found on the last.
func TestCompaniesOfSeveralPages(t *testing.T) {
	const company = `[{"id":"00000000-0000-7000-8000-00000000000%d","name":"%s","createdAt":"2026-01-01T00:00:00.000Z","updatedAt":"2026-01-01T00:00:00.000Z"}]`
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Query().Get("cursor") == "" {
			w.Header().Set("Link", `</api/companies?cursor=x>; rel="next"`)
			_, _ = fmt.Fprintf(w, company, 1, "Acme")
			return
		}
		_, _ = fmt.Fprintf(w, company, 2, "Zeta")
	}))
	defer s.Close()
	got := command(t, s.URL, "", "company", "list")
	if got.code != 0 || !strings.Contains(got.out, "Acme") || !strings.Contains(got.out, "Zeta") {
		t.Errorf("%s, want both companies", got)
	}
}
