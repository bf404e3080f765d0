package identity_test

import (
	"testing"
	"time"

	"berth/environment/identity"
)

func TestWaitAfterFailures(t *testing.T) {
	for failures, want := range map[int]time.Duration{0: 0, 1: 0, 5: 0, 6: time.Second, 7: 2 * time.Second, 8: 4 * time.Second,
		14: 256 * time.Second, 15: 512 * time.Second, 16: 15 * time.Minute, 17: 15 * time.Minute, 1 << 40: 15 * time.Minute} {
		if got := identity.WaitAfter(failures); got != want {
			t.Errorf("wait after %d failures: got %s, want %s", failures, got, want)
		}
	}
}
