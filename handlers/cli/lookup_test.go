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

// TestEnvironmentsNeedNoCompany: they are the instance's, so they are listed and
// found by name with no company, and with several.
func TestEnvironmentsNeedNoCompany(t *testing.T) {
	const box = `{"id":"00000000-0000-7000-8000-000000000009","name":"box","driver":"ssh","status":"active","config":{},"envVars":{},"health":"ready","createdAt":"2026-01-01T00:00:00.000Z","updatedAt":"2026-01-01T00:00:00.000Z"}`
	const acme = "00000000-0000-7000-8000-000000000001"
	var asked []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path)
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/capabilities") {
			_, _ = fmt.Fprint(w, `{"adapters":[],"drivers":{"ssh":"supported"},"sandboxProviders":{}}`)
			return
		}
		_, _ = fmt.Fprint(w, "["+box+"]")
	}))
	defer s.Close()
	for _, tt := range []struct {
		args []string
		path string
	}{
		{[]string{"env", "list"}, "/api/environments"},
		{[]string{"env", "get", "BOX"}, "/api/environments"},
		{[]string{"env", "capabilities"}, "/api/environments/capabilities"},
		{[]string{"env", "list", "--company", acme}, "/api/companies/" + acme + "/environments"},
		{[]string{"env", "capabilities", "--company", acme}, "/api/companies/" + acme + "/environments/capabilities"},
	} {
		asked = nil
		if got := command(t, s.URL, "", tt.args...); got.code != 0 || fmt.Sprint(asked) != "["+tt.path+"]" {
			t.Errorf("%v asked %v: %s; want %s alone", tt.args, asked, got, tt.path)
		}
	}
}
