package identity_test

import (
	"testing"
	"time"

	"berth/environment/identity"
)

func TestWaitAfterFailures(t *testing.T) {
	for key, waits := range map[string]map[int]time.Duration{
		"account:ada": {0: 0, 1: 0, 5: 0, 6: time.Second, 7: 2 * time.Second, 8: 4 * time.Second,
			14: 256 * time.Second, 15: 512 * time.Second, 16: 15 * time.Minute, 17: 15 * time.Minute, 1 << 40: 15 * time.Minute},
		"everywhere:ada":    {0: 0, 100: 0, 101: time.Second, 107: time.Minute, 1 << 40: time.Minute},
		"address:192.0.2.1": {0: 0, 50: 0, 51: time.Second, 56: 32 * time.Second, 57: time.Minute, 58: time.Minute, 1 << 40: time.Minute},
	} {
		for failures, want := range waits {
			if got := identity.WaitAfter(key, failures); got != want {
				t.Errorf("%s: wait after %d failures: got %s, want %s", key, failures, got, want)
			}
		}
	}
}
