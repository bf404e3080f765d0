package identity

import (
	"strings"
	"time"
)

// ForgivenAfter is how long a failure counts.
const ForgivenAfter = time.Hour

// accountPrefix and addressPrefix begin the keys under which failures count.
const (
	accountPrefix = "account:"
	addressPrefix = "address:"
)

// WaitAfter is how long the next attempt under a key must wait after so many
// failures: none after the first few, then 1 s, doubled by each. A wait that
// grows stops a guesser, and somebody who forgot loses seconds; nobody is locked
// out for good. An address may be that of a whole office, so it fails more often
// before it waits, and never waits for long.
func WaitAfter(key string, failures int) time.Duration {
	free, longest := 5, 15*time.Minute
	if strings.HasPrefix(key, addressPrefix) {
		free, longest = 50, time.Minute
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
