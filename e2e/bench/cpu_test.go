//go:build bench

package bench

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "github.com/lib/pq"
)

// processor is the processor time that this process and a PostgreSQL have used,
// which says more than the clock while others are at work on the machine.
type processor struct{ ours, database time.Duration }

func (p processor) since(began processor) processor {
	return processor{p.ours - began.ours, p.database - began.database}
}

// each is the time for one of n.
func (p processor) each(n float64) string {
	us := func(d time.Duration) float64 { return float64(d.Microseconds()) / n }
	return fmt.Sprintf("%.0f+%.0f us", us(p.ours), us(p.database))
}

// used reads it; postmaster is the database's first process.
func used(t *testing.T, postmaster int) processor {
	t.Helper()
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
		t.Fatal(err)
	}
	p := processor{ours: time.Duration(own.Utime.Nano() + own.Stime.Nano())}
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		_, rest, _ := strings.Cut(string(text), ") ")
		var state string
		var f [17]int // from the parent on
		if _, err := fmt.Sscan(rest, &state, &f[0], &f[1], &f[2], &f[3], &f[4], &f[5], &f[6], &f[7], &f[8], &f[9], &f[10], &f[11], &f[12], &f[13]); err != nil {
			t.Fatalf("read %s: %v", file, err)
		}
		const tick = 10 * time.Millisecond
		switch {
		case filepath.Base(filepath.Dir(file)) == fmt.Sprint(postmaster): // with those of its children that have ended
			p.database += time.Duration(f[10]+f[11]+f[12]+f[13]) * tick
		case f[0] == postmaster:
			p.database += time.Duration(f[10]+f[11]) * tick
		}
	}
	return p
}

// postmasterOf is the first process of the database at an address.
func postmasterOf(t *testing.T, address string) int {
	t.Helper()
	db, err := sql.Open("postgres", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var text string
	if err := db.QueryRowContext(t.Context(), `select pg_read_file('postmaster.pid')`).Scan(&text); err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Sscan(text, &pid); err != nil {
		t.Fatal(err)
	}
	return pid
}
