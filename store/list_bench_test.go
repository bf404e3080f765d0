package store_test

import (
	"testing"

	"berth/environment"
	"berth/store"
	"berth/store/storetest"
)

// filled is a database with that many environments, ten leases for each and a
// hundred probes.
func filled(b *testing.B, environments int) *store.DB {
	b.Helper()
	address := storetest.URL(b)
	storetest.Fill(b, address, environments)
	storetest.LongUp(b, address)
	return storetest.Open(b, address)
}

// BenchmarkList reads a page of 200 environments in each order, from a small
// and from a large catalogue: the times are to be about the same.
func BenchmarkList(b *testing.B) {
	for name, n := range map[string]int{"small": 200, "large": 10000} {
		db := filled(b, n)
		for _, sort := range []string{"updated", "name", "health", "driver", "tested"} {
			b.Run(name+"/"+sort, func(b *testing.B) {
				for b.Loop() {
					page, err := db.ListEnvironments(b.Context(), environment.ListFilter{Sort: sort, Limit: 200})
					if err != nil || len(page.Items) != 200 {
						b.Fatalf("got %d environments, %v", len(page.Items), err)
					}
				}
			})
		}
		b.Run(name+"/search", func(b *testing.B) {
			for b.Loop() {
				if _, err := db.ListEnvironments(b.Context(), environment.ListFilter{Query: "h199.", Limit: 200}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/revision", func(b *testing.B) {
			for b.Loop() {
				if _, err := db.CatalogueRevision(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
