package store_test

import (
	"testing"

	"berth/environment"
	"berth/environment/example"
	"berth/store/storetest"

	"github.com/jmoiron/sqlx"
)

// TestDurable_beginningsEndsAndOutput shows that what must not be lost is on the
// disk when its writer returns. Mere progress need not be.
func TestDurable_beginningsEndsAndOutput(t *testing.T) {
	url := storetest.URL(t) + "&synchronous_commit=on" // the cluster of tests waits for no disk
	db := storetest.Open(t, url)
	side, err := sqlx.Connect("postgres", url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = side.Close() }) // the database is dropped next
	local := example.Local().Environment
	if _, err := db.EnsureLocal(t.Context(), local, true); err != nil {
		t.Fatal(err)
	}
	company := environment.Company{ID: environment.NewID(), Name: "acme"}
	if err := db.CreateCompany(t.Context(), company, environment.Activity{}); err != nil {
		t.Fatal(err)
	}
	// flushed fails the test unless everything is on the disk that do has written.
	flushed := func(what string, do func() error) {
		t.Helper()
		var from string
		if err := side.Get(&from, `select pg_current_wal_insert_lsn()`); err != nil {
			t.Fatal(err)
		}
		if err := do(); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		var ok bool
		if err := side.Get(&ok, `select pg_current_wal_flush_lsn() > $1::pg_lsn`, from); err != nil {
			t.Fatal(err)
		}
		if !ok {
			t.Errorf("%s is not on the disk", what)
		}
	}
	change := func(id environment.Run, change func(*environment.Run)) error {
		_, err := db.UpdateRun(t.Context(), id.ID, id.Owner, func(r *environment.Run) error { change(r); return nil })
		return err
	}
	for range 5 { // the writer in the background may have been quick once
		run := environment.Run{ID: environment.NewID(), CompanyID: company.ID, EnvironmentID: &local.ID, EnvironmentName: local.Name,
			Driver: local.Driver, Kind: environment.KindCommand, Command: []string{"true"}, Status: environment.RunQueued, Owner: environment.NewID()}
		flushed("a new run", func() error { return db.CreateRun(t.Context(), run, environment.Activity{}) })
		if err := change(run, func(r *environment.Run) { r.Status = environment.RunAcquiring }); err != nil {
			t.Fatal(err)
		}
		if err := change(run, func(r *environment.Run) { r.Status = environment.RunPreparing }); err != nil {
			t.Fatal(err)
		}
		flushed("output", func() error {
			return db.AppendOutput(t.Context(), run.ID, run.Owner, []environment.LogChunk{{Stream: environment.Stdout, Data: []byte("x")}})
		})
		flushed("a wish to end", func() error {
			return change(run, func(r *environment.Run) { r.CancelBy, r.Status = new("me"), environment.RunCancelling })
		})
		flushed("what is known of an end", func() error { return change(run, func(r *environment.Run) { r.Termination = "proven" }) })
		flushed("an end", func() error { return change(run, func(r *environment.Run) { r.Status = environment.RunCancelled }) })
		lease := environment.Lease{ID: environment.NewID(), CompanyID: company.ID, EnvironmentID: &local.ID, OwnerKind: environment.OwnerRun,
			Status: environment.LeaseAcquiring, Policy: environment.PolicyEphemeral, Driver: environment.DriverSandbox, Owner: environment.NewID()}
		flushed("an intent", func() error { return db.CreateLease(t.Context(), lease) })
		for _, next := range []environment.LeaseStatus{environment.LeaseActive, environment.LeaseReleasing, environment.LeaseReleased} {
			flushed("a sandbox that is "+string(next), func() error {
				_, err := db.UpdateLease(t.Context(), lease.ID, func(l *environment.Lease) error { l.Status = next; return nil }, nil)
				return err
			})
		}
	}
}
