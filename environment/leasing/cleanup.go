package leasing

import (
	"encoding/json"
	"time"

	"berth/environment"
)

// cleanup is what a lease's metadata remembers, under the key "cleanup", of a
// release that has not gone through yet.
type cleanup struct {
	Outcome  environment.LeaseStatus `json:"outcome,omitempty"`
	Attempts int                     `json:"attempts,omitempty"`
	NextAt   time.Time               `json:"nextAt,omitzero"`
	Error    string                  `json:"error,omitempty"` // code of the last attempt
}

const cleanupKey = "cleanup"

// cleanupOf reads it; zero when there is none.
func cleanupOf(metadata json.RawMessage) cleanup {
	var m struct {
		Cleanup cleanup `json:"cleanup"`
	}
	if json.Unmarshal(metadata, &m) != nil {
		return cleanup{}
	}
	return m.Cleanup
}

// into returns metadata with c in it; without any when c is zero.
func (c cleanup) into(metadata json.RawMessage) json.RawMessage {
	m := map[string]any{}
	if json.Unmarshal(metadata, &m) != nil || m == nil {
		m = map[string]any{}
	}
	delete(m, cleanupKey)
	if c != (cleanup{}) {
		m[cleanupKey] = c
	}
	if len(m) == 0 {
		return nil
	}
	out, err := json.Marshal(m)
	if err != nil {
		return metadata
	}
	return out
}

func (c cleanup) outcome() environment.LeaseStatus {
	if c.Outcome == "" {
		return environment.LeaseExpired
	}
	return c.Outcome
}

// due tells whether it is time for the next attempt.
func (c cleanup) due(now time.Time) bool { return !now.Before(c.NextAt) }

// givenUp is the number of attempts after which people are told that the
// clean-up failed. It is still tried.
const givenUp = 10

// pause is the wait after a number of attempts: 5 s, doubled up to 15 min.
func pause(attempts int) time.Duration {
	wait := 5 * time.Second
	for range attempts - 1 {
		if wait *= 2; wait > 15*time.Minute {
			return 15 * time.Minute
		}
	}
	return wait
}

// postpone notes a release that did not go through.
func (s *Service) postpone(l *environment.Lease, code string) {
	if l.Status.Ended() {
		return
	}
	plan := cleanupOf(l.Metadata)
	plan.Attempts++
	plan.Error = code
	plan.NextAt = s.now().Add(pause(plan.Attempts))
	l.Metadata = plan.into(l.Metadata)
	status := cleanupPending
	if plan.Attempts >= givenUp {
		status = cleanupFailed
	}
	l.Status, l.CleanupStatus = environment.LeasePendingCleanup, &status
	if l.FailureReason == nil {
		l.FailureReason = &code
	}
}
