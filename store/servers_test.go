package store_test

import (
	"testing"
	"time"

	"berth/environment"
	"berth/environment/example"
	"berth/store/storetest"
)

func TestServerWithoutABeatIsDead(t *testing.T) {
	address := storetest.URL(t)
	db := storetest.Open(t, address)
	p := example.QueuedProbe()
	p.EnvironmentID, p.CompanyID, p.Draft = nil, nil, true
	if err := db.RegisterServer(t.Context(), p.Owner, environment.NewID(), "test"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := db.CreateProbe(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	interrupted := func() bool {
		n, err := db.InterruptOrphans(t.Context(), environment.NewID())
		if err != nil {
			t.Fatal(err)
		}
		return n == 1
	}
	storetest.Exec(t, address, `update servers set beat_at = now() - interval '9 seconds'`)
	if interrupted() {
		t.Error("a server was declared dead 9 s after its last beat")
	}
	storetest.Exec(t, address, `update servers set beat_at = now() - interval '11 seconds'`)
	// A database that has just started gives servers time to beat again.
	within(t, 20*time.Second, "the server is dead", interrupted)
}
