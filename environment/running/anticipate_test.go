package running_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"berth/environment"
)

// TestAnticipate: the driver is told of a run once, also of one that is refused
// then, and told when its time is over.
func TestAnticipate(t *testing.T) {
	tests := map[string]func(t *testing.T, b *bed){
		"it runs": func(t *testing.T, b *bed) {
			if r := b.end(b.start(b.input("x")).ID); r.Status != environment.RunSucceeded || b.target.readied[0] != r.ID {
				t.Errorf("got %s, told of %v", r.Status, b.target.readied)
			}
		},
		"its row is not written": func(t *testing.T, b *bed) {
			b.server.store.setAway(true)
			b.server.store.before = func(int) { synctest.Wait() }
			if r, err := b.server.Start(context.Background(), operator, b.input("x")); err == nil {
				t.Errorf("got %+v, want a refusal", r)
			}
			b.server.store.setAway(false)
		},
		"the answer to its row is lost": func(t *testing.T, b *bed) {
			b.server.store.lostAt = 1
			if r, err := b.server.Start(context.Background(), operator, b.input("x")); err == nil {
				t.Errorf("got %+v, want a refusal", r)
			}
		},
		"its lease is refused": func(t *testing.T, b *bed) {
			b.target.refuseAcquire = environment.Unavailable(environment.CodeConnectionLost, "No.")
			if r := b.end(b.start(b.input("x")).ID); r.Status != environment.RunFailed {
				t.Errorf("got %s, want it failed", r.Status)
			}
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			target := newTarget(exit(0, 0))
			inBubble(t, target, func(t *testing.T, b *bed) {
				test(t, b)
				synctest.Wait()
				target.mu.Lock()
				defer target.mu.Unlock()
				if len(target.readied) > 1 || !slices.Equal(target.readied, target.dismissed) {
					t.Errorf("told of %v, and of the end of %v", target.readied, target.dismissed)
				}
			})
		})
	}
}
