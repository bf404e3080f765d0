package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestPages_LongestNamesFit opens pages that show names of the greatest length,
// without a blank in them, on a phone.
func TestPages_LongestNamesFit(t *testing.T) {
	s := newServer(t)
	s.furnish(t, strings.Repeat("C", 120))
	var saved struct{ ID string }
	s.call(t, http.MethodPost, "/api/companies/"+s.company+"/environments", map[string]any{
		"name": strings.Repeat("W", 120), "driver": "ssh", "description": strings.Repeat("d", 400),
		"config": map[string]any{"host": "127.0.0.1", "port": closedPort(t), "username": strings.Repeat("u", 200), "remoteWorkspacePath": "/" + strings.Repeat("p", 400)},
	}, &saved, http.StatusCreated)
	run := s.begin(t, saved.ID, strings.Repeat("x", 300))
	s.ends(t, run, 30*time.Second)

	b := open(t, s.url, look{width: 390, height: 844})
	runs := "/companies/" + s.company + "/runs"
	for _, path := range []string{pages, pages + "/" + saved.ID, pages + "/" + saved.ID + "/edit", pages + "/" + saved.ID + "/delete",
		pages + "/" + saved.ID + "/trust", "/companies", "/company/settings/instance/general", runs, runs + "/" + run} {
		b.visit(path)
		if over, ok := b.eval(`() => document.documentElement.scrollWidth - document.documentElement.clientWidth`).(int); !ok || over > 0 {
			t.Errorf("%s is %d px too wide", path, over)
		}
	}
}

// TestPages_TablesStayInTheirPanels opens pages with tables of long words on a
// desk and on a small screen.
func TestPages_TablesStayInTheirPanels(t *testing.T) {
	s := newServer(t)
	s.furnish(t, strings.Repeat("C", 120))
	var saved, agent struct{ ID string }
	s.call(t, http.MethodPost, "/api/companies/"+s.company+"/environments", map[string]any{
		"name": strings.Repeat("W", 120), "driver": "ssh", "description": strings.Repeat("d", 400),
		"config": map[string]any{"host": "127.0.0.1", "port": closedPort(t), "username": "u", "remoteWorkspacePath": "/" + strings.Repeat("p", 400)},
	}, &saved, http.StatusCreated)
	s.call(t, http.MethodPatch, "/api/environments/"+saved.ID, map[string]any{"description": strings.Repeat("e", 400)}, nil, http.StatusOK)
	s.call(t, http.MethodPost, "/api/companies/"+s.company+"/agents", map[string]any{"name": strings.Repeat("A", 120), "adapterType": "process"}, &agent, http.StatusCreated)
	s.call(t, http.MethodPost, "/api/agents/"+agent.ID+"/keys", map[string]any{"name": strings.Repeat("K", 120)}, nil, http.StatusCreated)
	s.ends(t, s.begin(t, saved.ID, strings.Repeat("x", 300)), 30*time.Second)

	company := "/companies/" + s.company
	for _, width := range []int{1280, 800} {
		b := open(t, s.url, look{width: width, height: 844})
		for _, path := range []string{"/company/settings/instance/activity", company + "/activity", company + "/agents/" + agent.ID,
			pages + "/" + saved.ID, pages + "/" + saved.ID + "?tab=activity", pages + "/" + saved.ID + "?tab=leases"} {
			b.visit(path)
			if over, ok := b.eval(`() => Math.max(0, ...[...document.querySelectorAll('.panel table')].map((t) =>
				Math.round(t.getBoundingClientRect().right - t.closest('.panel').getBoundingClientRect().right)))`).(int); !ok || over > 0 {
				t.Errorf("%s at %d px: a table is %d px wider than its panel", path, width, over)
			}
		}
	}
}

// TestPages_SitInTheMiddleOfAPhone: a page keeps no room for a scrollbar that a
// phone does not have, and what stands beside a long name is not broken.
func TestPages_SitInTheMiddleOfAPhone(t *testing.T) {
	s := newServer(t)
	s.furnish(t, strings.Repeat("A name of many words ", 5)+"end")
	b := open(t, s.url, look{width: 390, height: 844})
	for _, path := range []string{pages, "/companies", "/signin"} {
		b.visit(path)
		if at := b.eval(`() => {
			const r = document.querySelector('.panel').getBoundingClientRect()
			return Math.abs(r.left - (innerWidth - r.right)) < 2 ? '' : r.left + ' px and ' + (innerWidth - r.right) + ' px'
		}`); at != "" {
			t.Errorf("%s: the margins are %v", path, at)
		}
	}
	b.visit("/companies")
	if high, ok := b.eval(`() => document.querySelector('.names a.link').offsetHeight`).(int); !ok || high > 30 {
		t.Errorf("the link beside a long name is %d px high: it takes more than a line", high)
	}
}
