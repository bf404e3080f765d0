package identity

import "time"

// Numbers of the slow-down after failed sign-ins. A wait that grows stops a
// guesser, and somebody who forgot loses seconds; nobody is locked out for good.
const (
	freeFailures = 5
	longestWait  = 15 * time.Minute
	// ForgivenAfter is how long a failure counts.
	ForgivenAfter = time.Hour
)

// WaitAfter is how long the next attempt under a key must wait after so many
// failures: none after the first five, then 1 s, doubled by each.
func WaitAfter(failures int) time.Duration {
	beyond := failures - freeFailures
	switch {
	case beyond <= 0:
		return 0
	case beyond > 10: // 2^10 s is more than the longest
		return longestWait
	}
	return time.Second << (beyond - 1)
}
