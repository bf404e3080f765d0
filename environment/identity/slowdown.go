package identity

import (
	"strings"
	"time"
)

// ForgivenAfter is how long a failure counts.
const ForgivenAfter = time.Hour

// What the keys begin with under which failures count: of an account as it is tried
// from one network, of an account as it is tried from everywhere, of a network.
const (
	accountPrefix    = "account:"
	everywherePrefix = "everywhere:"
	addressPrefix    = "address:"
)

// WaitAfter is how long the next attempt under a key must wait after so many
// failures: none after the first few, then 1 s, doubled by each. A wait that
// grows stops a guesser, and somebody who forgot loses seconds. It grows long only
// for an account as it is tried from one network: else anybody could keep its owner
// out, by one wrong password each quarter of an hour. An address may be that of a
// whole office, and an account may be tried from many networks at once, so these
// fail more often before they wait, and never wait for long.
func WaitAfter(key string, failures int) time.Duration {
	free, longest := 5, 15*time.Minute
	switch {
	case strings.HasPrefix(key, addressPrefix):
		free, longest = 50, time.Minute
	case strings.HasPrefix(key, everywherePrefix):
		free, longest = 100, time.Minute
	}
	beyond := failures - free
	switch {
	case beyond <= 0:
		return 0
	case beyond > 10: // 2^10 s is more than the longest
		return longest
	}
	return min(longest, time.Second<<(beyond-1))
}
