package leasing_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"berth/environment"

	"github.com/google/uuid"
)

// history is what the log says of a lease, the oldest first.
func (b *bed) history(id uuid.UUID) []environment.Activity {
	b.t.Helper()
	page, err := b.store.Activity(b.t.Context(), environment.ActivityFilter{EntityType: "environment_lease", EntityID: id.String()})
	if err != nil {
		b.t.Fatal(err)
	}
	slices.Reverse(page.Items)
	return page.Items
}

func actions(entries []environment.Activity) string {
	var words []string
	for _, a := range entries {
		words = append(words, fmt.Sprintf("%s by %s", a.Action, a.ActorName))
	}
	return fmt.Sprint(words)
}

// What happens to leases without anybody asking is in the log.
func TestActivity_automatic(t *testing.T) {
	tests := map[string]struct {
		play func(*bed) uuid.UUID
		want string
		last map[string]any
	}{
		"the target cannot be reached": {func(b *bed) uuid.UUID {
			b.driver.acquire = refused
			_, _, _ = b.Acquire(b.t.Context(), b.request()) // it is refused
			return b.only().ID
		}, "[environment.lease_failed by berth]", map[string]any{"status": "failed", "failureReason": environment.CodeConnectRefused}},
		"the work is done": {func(b *bed) uuid.UUID {
			l := b.acquire()
			_, err := b.Finish(b.t.Context(), l.ID, environment.Spec{}, environment.LeaseReleased, "")
			if err != nil {
				b.t.Error(err)
			}
			return l.ID
		}, "[environment.lease_acquired by berth environment.lease_released by berth]", map[string]any{"status": "released", "cleanupStatus": "success"}},
		"the server dies": {func(b *bed) uuid.UUID {
			l := b.acquire()
			next := b.serve()
			time.Sleep(11 * time.Second)
			if err := b.store.BeatServer(b.t.Context(), b.owner); err != nil {
				b.t.Fatal(err)
			}
			if _, err := next.Tick(b.t.Context()); err != nil {
				b.t.Error(err)
			}
			return l.ID
		}, "[environment.lease_acquired by berth environment.lease_reaped by berth]", map[string]any{"status": "expired", "failureReason": "interrupted"}},
		"the clean-up fails for long": {func(b *bed) uuid.UUID {
			b.driver.onRelease(refused)
			l := b.acquire()
			if _, err := b.Finish(b.t.Context(), l.ID, environment.Spec{}, environment.LeaseExpired, "cancelled"); err != nil {
				b.t.Error(err)
			}
			ctx, cancel := context.WithCancel(b.t.Context())
			done := make(chan error, 1)
			go func() { done <- b.Run(ctx) }()
			time.Sleep(3 * time.Hour)
			b.driver.onRelease(nil)
			time.Sleep(40 * time.Minute)
			cancel()
			if err := <-done; err != nil {
				b.t.Error(err)
			}
			return l.ID
		}, "[environment.lease_acquired by berth environment.lease_cleanup_failed by berth environment.lease_cleanup_failed by berth " +
			"environment.lease_released by berth]", map[string]any{"status": "expired", "failureReason": "cancelled", "cleanupStatus": "success"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBed(t)
				got := b.history(test.play(b))
				if actions(got) != test.want {
					t.Fatalf("got %s, want %s", actions(got), test.want)
				}
				for key, want := range test.last {
					if have := got[len(got)-1].Details[key]; have != want {
						t.Errorf("%s is %v, want %v", key, have, want)
					}
				}
			})
		})
	}
}

// Two let go of one lease: the log has one release.
func TestActivity_releasedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t)
		l := b.acquire()
		b.driver.onRelease(func(context.Context) error { time.Sleep(time.Second); return nil })
		done := make(chan error, 2)
		for range 2 {
			go func() {
				_, err := b.Finish(context.Background(), l.ID, environment.Spec{}, environment.LeaseReleased, "")
				done <- err
			}()
		}
		for range 2 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if got, want := actions(b.history(l.ID)), "[environment.lease_acquired by berth environment.lease_released by berth]"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}
