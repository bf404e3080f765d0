//go:build bench

package bench

import (
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"testing"
)

// peer is Paperclip's rate for the same list on two cores, 8 clients.
const peer = 276

// listAPI measures the list of 200 environments, 8 clients, against a server
// that holds the finished body and does nothing else.
func listAPI(t *testing.T) []bar {
	s, _ := serve(t, database(t), t.TempDir())
	s.furnish(t)
	s.many(t, 200)
	url := s.url + "/api/companies/" + s.company + "/environments"
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	if cerr := res.Body.Close(); err != nil || cerr != nil || res.StatusCode != 200 {
		t.Fatal(res.Status, err, cerr)
	}
	plain := serveWord(t, body, "application/json")
	var ours, floor []float64
	for range 3 {
		ours = append(ours, wrk(t, url))
		floor = append(floor, wrk(t, plain))
	}
	t.Logf("raw ours: %v floor: %v", ours, floor)
	o, f := middle(ours), middle(floor)
	return []bar{{"list API, 200 environments", fmt.Sprintf("%.0f/s", o), fmt.Sprintf("%.0f/s (the body alone); Paperclip %d/s", f, peer),
		ratio(o, f), ">= 3,000/s", o >= 3000}}
}

// many creates n environments with plausible settings.
func (s *server) many(t *testing.T, n int) {
	t.Helper()
	for i := range n {
		s.environment(t, fmt.Sprintf("build-%03d", i), map[string]any{
			"host": fmt.Sprintf("build-%03d.example.test", i), "port": 2222, "username": "runner", "remoteWorkspacePath": "/srv/work",
		})
	}
}

var perSecond = regexp.MustCompile(`Requests/sec:\s+([\d.]+)`)

// wrk loads a loopback url with 8 clients for 4 s and returns requests a second.
func wrk(t *testing.T, url string) float64 {
	t.Helper()
	out, err := exec.Command("wrk", "-t1", "-c8", "-d4s", url).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	m := perSecond.FindSubmatch(out)
	if m == nil {
		t.Fatalf("wrk said: %s", out)
	}
	rate, err := strconv.ParseFloat(string(m[1]), 64)
	if err != nil {
		t.Fatal(err)
	}
	return rate
}

func middle(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return s[len(s)/2]
}
