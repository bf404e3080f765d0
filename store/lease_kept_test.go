package store_test

import (
	"reflect"
	"testing"
	"time"

	"berth/environment"
	"berth/store"
	"berth/store/storetest"

	"github.com/google/uuid"
)

// TestChangeSaysWhatIsStored changes a lease in the moves of its life, by a server
// that made it and by one that has to read it, and wants each answer to be the row.
func TestChangeSaysWhatIsStored(t *testing.T) {
	url := storetest.URL(t)
	maker, other := storetest.Open(t, url), storetest.Open(t, url)
	storetest.Fill(t, url, 2)
	page, err := maker.ListEnvironments(t.Context(), environment.ListFilter{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	at := time.Now().Add(1234567 * time.Nanosecond)
	l := environment.Lease{ID: environment.NewID(), CompanyID: uuid.MustParse(storetest.FilledCompany), EnvironmentID: &page.Items[0].ID,
		EnvironmentName: "a\x00b", OwnerKind: environment.OwnerRun, Status: environment.LeaseAcquiring, Policy: environment.PolicyEphemeral,
		Driver: environment.DriverSandbox, Provider: environment.ProviderFake, Owner: environment.NewID(), Ref: []byte(`{"b": 1,"a":2}`)}
	if err := maker.CreateLease(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	moves := []struct {
		name   string
		change func(*environment.Lease)
	}{
		{"active", func(l *environment.Lease) {
			l.Status, l.ObjectKey, l.ProviderID, l.LastUsedAt = environment.LeaseActive, new("k"), new("x\xff"), at
			l.Ref = []byte(`{"z":1,  "y":"\u0000"}`)
		}},
		{"nothing", func(*environment.Lease) {}},
		{"releasing", func(l *environment.Lease) {
			l.Status, l.CleanupClaimUntil, l.CleanupOutcome = environment.LeaseReleasing, &at, environment.LeaseReleased
		}},
		{"released", func(l *environment.Lease) {
			l.Status, l.ReleasedAt, l.CleanupClaimUntil, l.Receipt = environment.LeaseReleased, &at, nil, []byte(`{ "outcome":"destroyed"}`)
		}},
	}
	for i, move := range moves {
		for _, db := range []struct {
			name string
			by   *store.DB
		}{{"maker", maker}, {"other", other}} {
			entry := environment.Activity{Action: "environment.lease_" + move.name, EntityType: "environment_lease", EntityID: l.ID.String()}
			got, err := db.by.UpdateLease(t.Context(), l.ID, func(l *environment.Lease) error { move.change(l); return nil }, &entry)
			if err != nil {
				t.Fatalf("%s by the %s: %v", move.name, db.name, err)
			}
			want, err := maker.Lease(t.Context(), l.ID)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%d %s by the %s:\n got %+v\nwant %+v", i, move.name, db.name, got, want)
			}
		}
	}
	// A refusal is of the row as it is, not as this server wrote it.
	_, err = maker.UpdateLease(t.Context(), l.ID, func(l *environment.Lease) error { l.Status = environment.LeaseActive; return nil }, nil)
	if environment.CodeOf(err) != "lease_state_changed" {
		t.Errorf("got %v", err)
	}
}
