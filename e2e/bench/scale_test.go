//go:build bench

package bench

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
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
		t.Log(name)
		a, b := paired(t, small.url+path, large.url+path)
		rows = append(rows, bar{"10,000 environments, 100,000 leases, 1,000,000 probes: " + name + ", p95", ms(b), ms(a) + " with 200",
			fmt.Sprintf("%.2f", float64(b)/float64(a)), "<= 2.0", b <= 2*a})
	}
	return rows
}

// paired are the 95th percentiles of loads of two pages by two clients, each of
// which asks for one after the other: what else the machine does meets both.
func paired(t *testing.T, first, second string) (a, b time.Duration) {
	t.Helper()
	var mu sync.Mutex
	var times [2][]time.Duration
	var clients sync.WaitGroup
	for range 2 {
		clients.Go(func() {
			for i := range 2 * 400 {
				took, err := loadTime([]string{first, second}[i%2])
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				times[i%2] = append(times[i%2], took)
				mu.Unlock()
			}
		})
	}
	clients.Wait()
	for i := range times {
		slices.Sort(times[i])
		t.Logf("raw: %d loads, median %v, p90 %v, p95 %v, p99 %v", len(times[i]), median(times[i]), percentile(times[i], 90), percentile(times[i], 95), percentile(times[i], 99))
	}
	return percentile(times[0], 95), percentile(times[1], 95)
}
