package handlers

import (
	"strings"
	"testing"
	"time"

	"berth/views"
)

// TestListPageIsKept shows that the page of the list is made once, and made
// again when anything that it shows has changed.
func TestListPageIsKept(t *testing.T) {
	f := newFront(t)
	now := time.Now()
	f.server.list.now = func() time.Time { return now }
	page := func(headers ...string) string {
		t.Helper()
		return f.want(f.call("GET", views.Environments, "", headers...), 200, nil).Body
	}
	kept := func() *cachedList {
		f.server.list.mu.Lock()
		defer f.server.list.mu.Unlock()
		for key, list := range f.server.list.bodies {
			if strings.HasPrefix(key, "page ") && strings.Contains(string(list.body), "<html") {
				return list
			}
		}
		t.Fatal("no page is kept")
		return nil
	}
	first := page()
	made := kept()
	if again := page(); again != first || kept() != made {
		t.Error("the page was made again although nothing has changed")
	}
	if part := page("HX-Request: true"); strings.Contains(part, "<html") || part == "" {
		t.Error("htmx got the whole page")
	}
	f.create("box-of-news")
	if !strings.Contains(page(), "box-of-news") {
		t.Error("the page does not show a new environment")
	}
	f.want(f.call("POST", "/api/companies", `{"name":"Newcomers"}`), 201, nil)
	if !strings.Contains(page(), "Newcomers") {
		t.Error("the page does not show a new company")
	}
	made = kept()
	now = now.Add(time.Minute)
	if page(); kept() == made {
		t.Error("the page was kept for longer than its times may be old")
	}
	f.store.away.Store(true)
	if a := f.call("GET", views.Environments, ""); a.Status != 503 {
		t.Errorf("without a database: %d, want 503", a.Status)
	}
}
