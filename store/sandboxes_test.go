package store_test

import (
	"sync"
	"testing"
	"time"

	"berth/environment"
	"berth/environment/environmenttest"
	"berth/store"
	"berth/store/storetest"
)

// leased stores a lease in an environment, for a company, of a new server.
func leased(t *testing.T, db *store.DB, driver string) environment.Lease {
	t.Helper()
	company := environment.Company{ID: environment.NewID(), Name: environment.NewID().String()}
	if err := db.CreateCompany(t.Context(), company, environment.Activity{}); err != nil {
		t.Fatal(err)
	}
	server := environment.NewID()
	if err := db.RegisterServer(t.Context(), server, environment.NewID(), "test"); err != nil {
		t.Fatal(err)
	}
	l := environment.Lease{ID: environment.NewID(), CompanyID: company.ID, OwnerKind: environment.OwnerRun, Status: environment.LeaseAcquiring,
		Policy: environment.PolicyEphemeral, Driver: driver, Owner: server}
	if err := db.CreateLease(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	return l
}

// C38: after the database was away nobody could say that a lease is in use, so
// none expires for a while.
func TestC38_NothingExpiresWhenTheDatabaseHasJustStarted(t *testing.T) {
	address := storetest.URL(t)
	db := storetest.Open(t, address)
	l := leased(t, db, environment.DriverSandbox)
	storetest.Exec(t, address, `update environment_leases set expires_at = now() - interval '1 hour'`)
	for _, c := range []struct {
		up   string
		want int
	}{{"119 seconds", 0}, {"121 seconds", 1}} {
		storetest.Exec(t, address, `create or replace function database_started() returns timestamptz language sql stable as
			'select now() - interval ''`+c.up+`'''`)
		got, err := db.ExpiredLeases(t.Context(), environment.NewID(), 10)
		if err != nil || len(got) != c.want {
			t.Errorf("expired %s after the start: got %+v, %v, want %d", c.up, got, err, c.want)
		}
	}
	if got, err := db.Lease(t.Context(), l.ID); err != nil || got.Owner == l.Owner {
		t.Errorf("who has what expired: got %s, %v, want another than %s", got.Owner, err, l.Owner)
	}
}

// C38: neither the server's zone nor the database's makes a difference.
func TestC38_ZonesMakeNoDifference(t *testing.T) {
	kathmandu, err := time.LoadLocation("Asia/Kathmandu")
	if err != nil {
		t.Fatal(err)
	}
	here := time.Local
	time.Local = kathmandu
	t.Cleanup(func() { time.Local = here })
	t.Setenv("PGTZ", "Pacific/Chatham")
	environmenttest.TestStoreTimes(t, func(t *testing.T) environmenttest.Stores { return storetest.NewStores(t) })
}

// TestRestoredLeases shows that after a restore a new server gets all leases, and
// that no clean-up waits for one of before.
func TestRestoredLeases(t *testing.T) {
	db := storetest.New(t)
	held, waiting := leased(t, db, environment.DriverSandbox), leased(t, db, environment.DriverSandbox)
	_, err := db.UpdateLease(t.Context(), waiting.ID, func(l *environment.Lease) error { l.Status = environment.LeasePendingCleanup; return nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := db.ClaimCleanups(t.Context(), waiting.Owner, 5, time.Hour); err != nil || len(got) != 1 {
		t.Fatalf("claim: got %+v, %v", got, err)
	}
	if _, err := db.Restored(t.Context(), environment.Activity{}); err != nil {
		t.Fatal(err)
	}
	next := environment.NewID()
	if got, err := db.OrphanedLeases(t.Context(), next, 5); err != nil || len(got) != 1 || got[0].ID != held.ID {
		t.Errorf("leases of servers of before: got %+v, %v, want %s", got, err, held.ID)
	}
	if got, err := db.ClaimCleanups(t.Context(), next, 5, time.Hour); err != nil || len(got) != 1 || got[0].ID != waiting.ID {
		t.Errorf("clean-ups after a restore: got %+v, %v, want %s", got, err, waiting.ID)
	}
}

// TestLeaseIsCreatedTwice shows that an intent whose answer was lost may be written
// again, within a budget too.
func TestLeaseIsCreatedTwice(t *testing.T) {
	address := storetest.URL(t)
	db := storetest.Open(t, address)
	p := saved(t, db)
	l := leased(t, db, environment.DriverSandbox)
	storetest.Exec(t, address, `update environments set budget = '{"maxLeases": 1}'`)
	l.ID, l.EnvironmentID = environment.NewID(), p.EnvironmentID
	for range 2 {
		if err := db.CreateLease(t.Context(), l); err != nil {
			t.Errorf("create a lease: %v", err)
		}
	}
	l.ID = environment.NewID()
	if err := db.CreateLease(t.Context(), l); environment.CodeOf(err) != environment.CodeBudgetExhausted {
		t.Errorf("a second lease: got %v, want %s", err, environment.CodeBudgetExhausted)
	}
}

// TestBudgetOfTwoServers keeps to a budget although servers know nothing of each
// other.
func TestBudgetOfTwoServers(t *testing.T) {
	address := storetest.URL(t)
	servers := []*store.DB{storetest.Open(t, address), storetest.Open(t, address), storetest.Open(t, address)}
	p := saved(t, servers[0])
	l := leased(t, servers[0], environment.DriverSandbox)
	storetest.Exec(t, address, `update environments set budget = '{"maxLeases": 3}'`)
	l.EnvironmentID = p.EnvironmentID
	errs := make([]error, 30)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			l := l
			l.ID = environment.NewID()
			errs[i] = servers[i%len(servers)].CreateLease(t.Context(), l)
		})
	}
	all.Wait()
	made := 0
	for _, err := range errs {
		if err == nil {
			made++
		} else if environment.CodeOf(err) != environment.CodeBudgetExhausted {
			t.Errorf("one lease too many: got %v, want %s", err, environment.CodeBudgetExhausted)
		}
	}
	if made != 3 {
		t.Errorf("leases within a budget of 3: got %d", made)
	}
}
