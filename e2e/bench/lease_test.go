//go:build bench

package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"berth/drivers"
	"berth/drivers/fake"
	"berth/environment"
	"berth/environment/leasing"
	"berth/store"
	"berth/store/storetest"

	"github.com/google/uuid"
)

const (
	workers = 32
	seconds = 4 // of each measurement
)

// leasePairs measures how many leases a second 32 workers acquire and release by
// the service, over PostgreSQL and with the fake provider, against transactions of
// two single-row updates on the same server.
func leasePairs(t *testing.T) []bar {
	address := migrated(t)
	storetest.Fill(t, address, workers)
	storetest.Exec(t, address, `create table floor (id integer primary key, v integer not null)`)
	storetest.Exec(t, address, `insert into floor select n, 0 from generate_series(1, 10000) n`)
	db, err := store.Open(t.Context(), address, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	all, err := db.ListEnvironments(t.Context(), environment.ListFilter{Limit: workers})
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	registry, err := drivers.NewRegistry(drivers.Entry{Driver: fake.New(fake.Options{Log: log, Dir: inMemory(t), Now: time.Now}), DisplayName: "Fake"})
	if err != nil {
		t.Fatal(err)
	}
	service := leasing.New(db, nil, registry, leasing.Options{Owner: environment.NewID(), InstanceID: environment.NewID()}, time.Now, log)
	var many, hot, floor, p99 []float64
	postmaster := postmasterOf(t, address)
	for range 3 {
		began := used(t, postmaster)
		n, late := pairs(t, service, all.Items)
		t.Logf("processor time of a pair, ours + the database's: %s", used(t, postmaster).since(began).each(n*seconds))
		many, p99 = append(many, n), append(p99, float64(late.Microseconds())/1000)
		n, _ = pairs(t, service, all.Items[:1])
		hot = append(hot, n)
		began = used(t, postmaster)
		n = pgbench(t, address)
		t.Logf("processor time of pgbench's transaction, without its own: %s", used(t, postmaster).since(began).each(n*seconds))
		floor = append(floor, n)
	}
	t.Logf("raw pairs/s: %.0f hot: %.0f pgbench: %.0f p99 ms: %.0f", many, hot, floor, p99)
	m, h, f, late := middle(many), middle(hot), middle(floor), middle(p99)
	return []bar{
		{"lease acquire + release, fake provider, 32 workers", fmt.Sprintf("%.0f pairs/s", m), fmt.Sprintf("%.0f/s (pgbench, two updates)", f), ratio(m, f), ">= 0.20", m >= f/5},
		{"  the same, p99 of one pair", fmt.Sprintf("%.1f ms", late), "-", "-", "<= 30 ms", late <= 30},
		{"  the same, one hot environment", fmt.Sprintf("%.0f pairs/s", h), "-", "-", ">= 800/s", h >= 800},
	}
}

// inMemory is a folder for the fake's world: on a disk its files would wait behind
// the journal that PostgreSQL syncs, which no provider's do.
func inMemory(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "berth-bench")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// migrated is a PostgreSQL of its own, as it writes in earnest, with the schema.
func migrated(t *testing.T) string {
	t.Helper()
	address := database(t)
	db, err := store.Open(t.Context(), address, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Migrate(t.Context()), db.Close()); err != nil {
		t.Fatal(err)
	}
	return address
}

// pairs acquires and releases for some seconds, and returns the rate and the 99th
// percentile of one pair.
func pairs(t *testing.T, service *leasing.Service, environments []environment.EnvironmentView) (float64, time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), seconds*time.Second)
	defer cancel()
	config, err := json.Marshal(map[string]any{"provider": "fake", "image": "x"})
	if err != nil {
		t.Fatal(err)
	}
	company := uuid.MustParse(storetest.FilledCompany)
	var mu sync.Mutex
	var took []time.Duration
	var group sync.WaitGroup
	for i := range workers {
		group.Go(func() {
			env := environments[i%len(environments)]
			for ctx.Err() == nil {
				began := time.Now()
				l, ref, err := service.Acquire(context.WithoutCancel(ctx), leasing.Request{CompanyID: company, EnvironmentID: env.ID, EnvironmentName: env.Name,
					OwnerKind: environment.OwnerOperator, Spec: environment.Spec{EnvironmentID: env.ID, Driver: environment.DriverSandbox, Config: config}})
				if err == nil {
					_, err = service.Finish(context.WithoutCancel(ctx), l.ID, ref.Spec, environment.LeaseReleased, "")
				}
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				took = append(took, time.Since(began))
				mu.Unlock()
			}
		})
	}
	began := time.Now()
	group.Wait()
	rate := float64(len(took)) / time.Since(began).Seconds()
	slices.Sort(took)
	return rate, percentile(took, 99)
}

var tps = regexp.MustCompile(`tps = ([\d.]+)`)

// pgbench updates two single rows a transaction, as fast as 32 clients can.
func pgbench(t *testing.T, url string) float64 {
	t.Helper()
	bins, err := filepath.Glob("/usr/lib/postgresql/*/bin/pgbench")
	if err != nil || len(bins) == 0 {
		t.Fatal("no pgbench: install postgresql-contrib", err)
	}
	script := filepath.Join(t.TempDir(), "floor.sql")
	const text = "\\set a random(1, 10000)\n\\set b random(1, 10000)\nbegin;\nupdate floor set v = v + 1 where id = :a;\nupdate floor set v = v + 1 where id = :b;\nend;\n"
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(bins[len(bins)-1], "-n", "-f", script, "-c", strconv.Itoa(workers), "-j", "2", "-T", strconv.Itoa(seconds), "-M", "prepared", url).CombinedOutput()
	m := tps.FindSubmatch(out)
	if err != nil || m == nil {
		t.Fatalf("%v: %s", err, out)
	}
	rate, err := strconv.ParseFloat(string(m[1]), 64)
	if err != nil {
		t.Fatal(err)
	}
	return rate
}
