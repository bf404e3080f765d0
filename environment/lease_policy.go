package environment

import (
	"encoding/json"
	"slices"
	"time"
)

// LeaseRules are what a sandbox's config says of its leases.
type LeaseRules struct {
	Policy  LeasePolicy
	Retain  time.Duration // how long what is stopped is kept for the next lease
	Archive bool          // keep what would be destroyed, stopped, for ArchivedFor
}

// LeaseRulesOf reads the rules out of a config. What cannot be read, and what is
// out of bounds, is as if it were not there: configs are checked when they are
// saved.
func LeaseRulesOf(config json.RawMessage) LeaseRules {
	var keys struct {
		Reuse   json.RawMessage `json:"reuseLease"`
		Policy  json.RawMessage `json:"leasePolicy"`
		Retain  json.RawMessage `json:"retainSec"`
		Archive json.RawMessage `json:"archiveOnRelease"`
	}
	_ = json.Unmarshal(config, &keys) // none of them, then
	rules := LeaseRules{Policy: PolicyEphemeral, Retain: RetainedFor}
	var reuse bool
	if json.Unmarshal(keys.Reuse, &reuse) == nil && reuse {
		rules.Policy = PolicyReuseEnvironment
	}
	var policy LeasePolicy
	if json.Unmarshal(keys.Policy, &policy) == nil && slices.Contains(LeasePolicies(), policy) {
		rules.Policy = policy
	}
	var seconds int64
	if json.Unmarshal(keys.Retain, &seconds) == nil && seconds >= 60 && seconds <= int64(MaxRetained.Seconds()) {
		rules.Retain = time.Duration(seconds) * time.Second
	}
	var archive bool
	rules.Archive = json.Unmarshal(keys.Archive, &archive) == nil && archive
	return rules
}

// Next is what becomes of a sandbox when a lease of these rules ends with an
// outcome: true when it is stopped and kept, for how long, and false when it is
// destroyed. Work that was cut short, or whose sandbox did not hold what it
// promised, leaves nothing that could be picked up.
func (r LeaseRules) Next(outcome LeaseStatus, sound bool) (keep bool, retain time.Duration) {
	switch {
	case outcome != LeaseReleased && outcome != LeaseFailed:
		return false, 0
	case r.Policy.Reuses() && sound, r.Policy == PolicyRetainOnFailure && outcome == LeaseFailed:
		return true, r.Retain
	case r.Archive:
		return true, ArchivedFor
	}
	return false, 0
}
