package environment_test

import (
	"slices"
	"testing"

	"berth/environment"

	"pgregory.net/rapid"
)

func TestRunMoves(t *testing.T) {
	checkMoves(t, environment.RunStatuses(), environment.RunQueued,
		environment.RunStatus.CanBecome, environment.RunStatus.Ended,
		[]environment.RunStatus{environment.RunSucceeded, environment.RunFailed, environment.RunCancelled, environment.RunTimedOut, environment.RunLost})
}

func TestLeaseMoves(t *testing.T) {
	checkMoves(t, environment.LeaseStatuses(), environment.LeaseAcquiring,
		environment.LeaseStatus.CanBecome, environment.LeaseStatus.Ended,
		[]environment.LeaseStatus{environment.LeaseReleased, environment.LeaseExpired, environment.LeaseFailed})
}

// checkMoves states what holds of any table of moves: the ended states are the
// named ones and stay, every state can be reached, and from each an end can.
func checkMoves[S ~string](t *testing.T, all []S, first S, can func(S, S) bool, ended func(S) bool, ends []S) {
	t.Helper()
	for _, s := range all {
		if ended(s) != slices.Contains(ends, s) {
			t.Errorf("%s: ended is %v", s, ended(s))
		}
		reach := reachable(all, s, can)
		if !ended(s) && !slices.ContainsFunc(reach, ended) {
			t.Errorf("%s has no way out", s)
		}
	}
	if got := reachable(all, first, can); len(got) != len(all) {
		t.Errorf("from %s only %v can be reached", first, got)
	}
	rapid.Check(t, func(t *rapid.T) {
		state := first
		for _, next := range rapid.SliceOfN(rapid.SampledFrom(all), 0, 40).Draw(t, "asked") {
			if can(state, state) {
				t.Fatalf("%s can become itself", state)
			}
			if !can(state, next) {
				continue
			}
			if ended(state) {
				t.Fatalf("%s had ended and became %s", state, next)
			}
			state = next
		}
	})
}

func reachable[S ~string](all []S, from S, can func(S, S) bool) []S {
	seen := []S{from}
	for i := 0; i < len(seen); i++ {
		for _, next := range all {
			if can(seen[i], next) && !slices.Contains(seen, next) {
				seen = append(seen, next)
			}
		}
	}
	return seen
}
