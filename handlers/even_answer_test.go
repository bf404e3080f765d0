package handlers

import (
	"net/http"
	"testing"
	"time"

	"berth/environment"
)

// TestNotThereTakesItsTime: whether it is another company's, whose attempt is
// noted, or nobody's; whoever may see all does not wait.
func TestNotThereTakesItsTime(t *testing.T) {
	h := newHouse(t, "instance admin")
	const least = 150 * time.Millisecond
	h.server.notThereTakes = least
	for _, tc := range []struct {
		actor, id string
		waits     bool
	}{
		{"foreign member", h.ids["run"], true}, {"foreign member", environment.NewID().String(), true},
		{"foreign agent", h.ids["run"], true}, {"foreign agent", environment.NewID().String(), true},
		{"instance admin", environment.NewID().String(), false},
	} {
		began := time.Now()
		a := h.ask(tc.actor, "GET", "/api/runs/"+tc.id, "")
		if took := time.Since(began); a.Status != http.StatusNotFound || took >= least != tc.waits {
			t.Errorf("%s: %d after %s", tc.actor, a.Status, took)
		}
	}
}
