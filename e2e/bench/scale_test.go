//go:build bench

package bench

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"berth/store/storetest"
)

// scale measures a page of 200 in a catalogue of 10,000 environments with 100,000
// leases and 1,000,000 probes behind it, against one of 200 environments.
func scale(t *testing.T) []bar {
	at := func(n int) *server {
		url := migrated(t)
		storetest.Fill(t, url, n)
		s, _ := serve(t, url, t.TempDir())
		s.company = storetest.FilledCompany
		s.call(t, http.MethodPatch, "/api/instance/settings/experimental", map[string]any{"enableEnvironments": true}, nil, 200)
		return s
	}
	small, large := at(200), at(10_000)
	var rows []bar
	for name, path := range map[string]string{
		"list API":  "/api/companies/" + storetest.FilledCompany + "/environments?limit=200",
		"list page": "/company/settings/instance/environments",
		"leases":    "/api/environment-leases?limit=200",
	} {
		var s, l []time.Duration
		for range 3 {
			s, l = append(s, serverTime(t, small.url+path)), append(l, serverTime(t, large.url+path))
		}
		t.Logf("raw %s: small %v large %v", name, s, l)
		a, b := s[1], l[1]
		rows = append(rows, bar{"10,000 environments, 100,000 leases, 1,000,000 probes: " + name + ", p95", ms(b), ms(a) + " with 200",
			fmt.Sprintf("%.2f", float64(b)/float64(a)), "<= 2.0", b <= 2*a})
	}
	return rows
}
