package probing_test

import (
	"testing"
	"testing/synctest"
	"time"

	"berth/environment"
)

// The row was written, and the database went away before it said so: the
// environment is not under test for ever.
func TestStart_refusedAlthoughTheRowIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, 1)
		env := b.env("ssh", "box", environment.StatusActive)
		b.faulty.lost = true
		if p, err := b.Start(t.Context(), operator, env.ID, nil); environment.KindOf(err) != environment.KindUnavailable {
			t.Fatalf("got %+v, %v; want a refusal", p, err)
		}
		if b.health(env.ID) != environment.HealthTesting {
			t.Fatalf("health %s, want the row to be there", b.health(env.ID))
		}
		time.Sleep(time.Minute)
		if b.health(env.ID) != environment.HealthInterrupted {
			t.Errorf("health %s, want the row ended", b.health(env.ID))
		}
		if p := b.wait(b.start(env.ID).ID); !p.OK {
			t.Errorf("the next test: %+v", p)
		}
	})
}
