package store_test

import (
	"sync/atomic"
	"testing"
	"time"

	"berth/environment"
	"berth/environment/leasing"
	"berth/store"
	"berth/store/storetest"

	"github.com/google/uuid"
)

// BenchmarkLeases reads what pages and loops read of leases, from a small and from
// a large database: the times are to be about the same, but for what is held.
func BenchmarkLeases(b *testing.B) {
	for name, n := range map[string]int{"small": 200, "large": 10000} {
		db := filled(b, n)
		page, err := db.ListEnvironments(b.Context(), environment.ListFilter{Driver: environment.DriverSandbox, Limit: 1})
		if err != nil || len(page.Items) != 1 {
			b.Fatalf("got %d environments, %v", len(page.Items), err)
		}
		box, owner := page.Items[0].ID, environment.NewID()
		for what, do := range map[string]func() error{
			"list": func() error { _, err := db.Leases(b.Context(), leasing.Filter{Limit: 200}); return err },
			"held": func() error { _, err := db.Leases(b.Context(), leasing.Filter{Held: true, Limit: 200}); return err },
			"dead letters": func() error {
				_, err := db.Leases(b.Context(), leasing.Filter{DeadLetter: true, Limit: 200})
				return err
			},
			"of an environment": func() error {
				_, err := db.Leases(b.Context(), leasing.Filter{EnvironmentID: &box, Limit: 200})
				return err
			},
			"of a rare kind": func() error {
				_, err := db.Leases(b.Context(), leasing.Filter{OwnerKind: environment.OwnerOperator, Limit: 200})
				return err
			},
			"usage": func() error { _, err := db.Usage(b.Context(), box); return err },
			"retained": func() error {
				_, err := db.Retained(b.Context(), leasing.Scope{EnvironmentID: box, CompanyID: uuid.MustParse(storetest.FilledCompany)})
				return err
			},
			"expired":   func() error { _, err := db.ExpiredLeases(b.Context(), owner, 50); return err },
			"orphans":   func() error { _, err := db.OrphanedLeases(b.Context(), owner, 0); return err },
			"clean-ups": func() error { _, err := db.ClaimCleanups(b.Context(), owner, 50, time.Minute); return err },
			"sources":   func() error { _, err := db.Sources(b.Context()); return err },
			"view":      func() error { _, err := db.Environment(b.Context(), box); return err },
			"impact":    func() error { _, err := db.Impact(b.Context(), box); return err },
		} {
			b.Run(name+"/"+what, func(b *testing.B) {
				for b.Loop() {
					if err := do(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkLeasePairs acquires and releases, as often as 32 workers can: spread
// over environments, in one of them, and in one that has a budget.
func BenchmarkLeasePairs(b *testing.B) {
	for _, c := range []struct {
		name         string
		environments int
		budget       bool
	}{{"one", 1, false}, {"many", 32, false}, {"one with a budget", 1, true}} {
		b.Run(c.name, func(b *testing.B) {
			address := storetest.URL(b) + "&synchronous_commit=on"
			storetest.Fill(b, address, 32)
			if c.budget {
				storetest.Exec(b, address, `update environments set budget = '{"maxLeases": 1000, "leaseMinutesPerDay": 100000}'`)
			}
			db := storetest.Open(b, address)
			page, err := db.ListEnvironments(b.Context(), environment.ListFilter{Limit: 32})
			if err != nil {
				b.Fatal(err)
			}
			var next atomic.Int64
			b.SetParallelism(16) // of two processors
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					box := page.Items[int(next.Add(1))%c.environments]
					if err := pair(b, db, box.ID); err != nil {
						b.Error(err)
						return
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pairs/s")
		})
	}
}

// pair is what a lease's life writes.
func pair(b *testing.B, db *store.DB, box uuid.UUID) error {
	l := environment.Lease{ID: environment.NewID(), CompanyID: uuid.MustParse(storetest.FilledCompany), EnvironmentID: &box, EnvironmentName: "box",
		OwnerKind: environment.OwnerRun, Status: environment.LeaseAcquiring, Policy: environment.PolicyEphemeral, Driver: environment.DriverSandbox,
		Provider: environment.ProviderFake, Owner: environment.NewID()}
	if err := db.CreateLease(b.Context(), l); err != nil {
		return err
	}
	object := l.ID.String()
	for _, next := range []environment.LeaseStatus{environment.LeaseActive, environment.LeaseReleasing, environment.LeaseReleased} {
		var entry *environment.Activity
		if next != environment.LeaseReleasing {
			entry = &environment.Activity{Action: "environment.lease_" + string(next), EntityType: "environment_lease", EntityID: l.ID.String()}
		}
		_, err := db.UpdateLease(b.Context(), l.ID, func(l *environment.Lease) error {
			l.Status, l.ObjectKey, l.Ref = next, &object, []byte(`{"driver":"sandbox","provider":"fake","providerId":"x","config":{"provider":"fake"}}`)
			return nil
		}, entry)
		if err != nil {
			return err
		}
	}
	return nil
}
