//go:build bench

// Package bench measures the bars of the performance table: ours against the
// physical floor on the same machine in the same run, A B A B, medians.
package bench

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// bar is one printed row.
type bar struct {
	name  string
	ours  string
	floor string
	ratio string
	limit string
	met   bool
}

func (b bar) String() string {
	verdict := "met"
	if !b.met {
		verdict = "NOT MET"
	}
	return fmt.Sprintf("%s: %s / %s = %s (%s) %s", b.name, b.ours, b.floor, b.ratio, b.limit, verdict)
}

// TestBars prints every row. A bar that is missed is printed as such and fails
// nothing: the figures are for people to read and explain.
func TestBars(t *testing.T) {
	rows := []struct {
		name    string
		measure func(*testing.T) []bar
	}{
		{"start", start},
		{"memory", memory},
		{"ssh_probe", sshProbe},
		{"run_start", runStart},
		{"list_api", listAPI},
		{"page", pageLoad},
		{"docker_lease", dockerLease},
		{"lease_pairs", leasePairs},
		{"scale", scale},
	}
	var all []bar
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) { all = append(all, row.measure(t)...) })
	}
	for _, b := range all {
		fmt.Println(b)
	}
}

// alternate runs a and b in turn, n times each, after two unmeasured rounds,
// and returns their sorted times.
func alternate(t *testing.T, n int, a, b func() time.Duration) (as, bs []time.Duration) {
	t.Helper()
	for range 2 {
		a()
		b()
	}
	for range n {
		as = append(as, a())
		bs = append(bs, b())
	}
	t.Logf("raw a: %v", as)
	t.Logf("raw b: %v", bs)
	slices.Sort(as)
	slices.Sort(bs)
	return as, bs
}

func median(sorted []time.Duration) time.Duration { return sorted[len(sorted)/2] }

func percentile(sorted []time.Duration, p int) time.Duration {
	return sorted[min(len(sorted)-1, len(sorted)*p/100)]
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }

func ratio(ours, floor float64) string { return fmt.Sprintf("%.2f", ours/floor) }
