package environmenttest_test

import (
	"bytes"
	"testing"
	"time"

	"berth/environment"
	"berth/environment/environmenttest"
	"berth/environment/example"
	"berth/environment/fleet"
)

func TestTwin(t *testing.T) {
	environmenttest.TestStore(t, func(*testing.T) environmenttest.Stores {
		return environmenttest.NewStore(func() time.Time { return time.Now().UTC().Truncate(time.Microsecond) })
	})
}

func TestTwinsServerWithoutABeatIsDead(t *testing.T) {
	now := example.Now()
	s := environmenttest.NewStore(func() time.Time { return now })
	p := example.QueuedProbe()
	p.EnvironmentID, p.Draft = nil, true
	if err := s.RegisterServer(t.Context(), p.Owner, environment.NewID(), "test"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.CreateProbe(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		passes time.Duration
		want   int
	}{{fleet.DeadAfter, 0}, {time.Second, 1}, {time.Second, 0}} {
		now = now.Add(c.passes)
		if n, err := s.InterruptOrphans(t.Context(), environment.NewID()); err != nil || n != c.want {
			t.Errorf("probes interrupted %s after the last beat: got %d, %v, want %d", now.Sub(example.Now()), n, err, c.want)
		}
	}
}

func TestTwinsVaultTellsIdsApart(t *testing.T) {
	vault, id := environmenttest.Vault{}, environment.NewID()
	sealed, err := vault.Seal(id, environment.NewSecret("canary"))
	if err != nil || bytes.Contains(sealed, []byte("canary")) {
		t.Fatalf("seal: got %q, %v", sealed, err)
	}
	if got, err := vault.Open(id, sealed); err != nil || got.Reveal() != "canary" {
		t.Errorf("open: got %q, %v", got.Reveal(), err)
	}
	if _, err := vault.Open(environment.NewID(), sealed); environment.CodeOf(err) != "keyset_mismatch" {
		t.Errorf("open under another id: got %v, want keyset_mismatch", err)
	}
}
