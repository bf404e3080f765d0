package environment_test

import (
	"encoding/json"
	"testing"
	"time"

	"berth/environment"
)

func TestLeaseRulesOf(t *testing.T) {
	t.Parallel()
	day := 24 * time.Hour
	tests := map[string]struct {
		config string
		want   environment.LeaseRules
	}{
		"nothing":                {``, environment.LeaseRules{Policy: environment.PolicyEphemeral, Retain: day}},
		"no key of a lease":      {`{"image":"a"}`, environment.LeaseRules{Policy: environment.PolicyEphemeral, Retain: day}},
		"not a config":           {`[1]`, environment.LeaseRules{Policy: environment.PolicyEphemeral, Retain: day}},
		"reuse":                  {`{"reuseLease":true}`, environment.LeaseRules{Policy: environment.PolicyReuseEnvironment, Retain: day}},
		"no reuse":               {`{"reuseLease":false}`, environment.LeaseRules{Policy: environment.PolicyEphemeral, Retain: day}},
		"a policy wins":          {`{"reuseLease":true,"leasePolicy":"ephemeral"}`, environment.LeaseRules{Policy: environment.PolicyEphemeral, Retain: day}},
		"a policy alone":         {`{"leasePolicy":"reuse_by_execution_workspace"}`, environment.LeaseRules{Policy: environment.PolicyReuseWorkspace, Retain: day}},
		"kept on failure":        {`{"leasePolicy":"retain_on_failure"}`, environment.LeaseRules{Policy: environment.PolicyRetainOnFailure, Retain: day}},
		"a policy that is none":  {`{"reuseLease":true,"leasePolicy":"for_ever"}`, environment.LeaseRules{Policy: environment.PolicyReuseEnvironment, Retain: day}},
		"a policy of no type":    {`{"leasePolicy":7}`, environment.LeaseRules{Policy: environment.PolicyEphemeral, Retain: day}},
		"the least":              {`{"retainSec":60}`, environment.LeaseRules{Policy: environment.PolicyEphemeral, Retain: time.Minute}},
		"less than the least":    {`{"retainSec":59}`, environment.LeaseRules{Policy: environment.PolicyEphemeral, Retain: day}},
		"none":                   {`{"retainSec":0}`, environment.LeaseRules{Policy: environment.PolicyEphemeral, Retain: day}},
		"before":                 {`{"retainSec":-1}`, environment.LeaseRules{Policy: environment.PolicyEphemeral, Retain: day}},
		"the most":               {`{"retainSec":2592000}`, environment.LeaseRules{Policy: environment.PolicyEphemeral, Retain: environment.MaxRetained}},
		"more than the most":     {`{"retainSec":2592001}`, environment.LeaseRules{Policy: environment.PolicyEphemeral, Retain: day}},
		"archived":               {`{"archiveOnRelease":true}`, environment.LeaseRules{Policy: environment.PolicyEphemeral, Retain: day, Archive: true}},
		"one bad key of several": {`{"retainSec":"x","reuseLease":true}`, environment.LeaseRules{Policy: environment.PolicyReuseEnvironment, Retain: day}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := environment.LeaseRulesOf(json.RawMessage(test.config)); got != test.want {
				t.Errorf("%s: got %+v, want %+v", test.config, got, test.want)
			}
		})
	}
}

// What becomes of a sandbox, for every policy and outcome.
func TestLeaseRules_Next(t *testing.T) {
	t.Parallel()
	const (
		released, failed, expired = environment.LeaseReleased, environment.LeaseFailed, environment.LeaseExpired
		sound, broken             = true, false
	)
	hour := time.Hour
	rules := func(p environment.LeasePolicy, archive bool) environment.LeaseRules {
		return environment.LeaseRules{Policy: p, Retain: 2 * hour, Archive: archive}
	}
	tests := []struct {
		rules   environment.LeaseRules
		outcome environment.LeaseStatus
		sound   bool
		keep    bool
		retain  time.Duration
	}{
		{rules(environment.PolicyEphemeral, false), released, sound, false, 0},
		{rules(environment.PolicyEphemeral, false), failed, sound, false, 0},
		{rules(environment.PolicyEphemeral, false), expired, sound, false, 0},
		{rules(environment.PolicyEphemeral, true), released, sound, true, environment.ArchivedFor},
		{rules(environment.PolicyEphemeral, true), failed, broken, true, environment.ArchivedFor},
		{rules(environment.PolicyEphemeral, true), expired, sound, false, 0},
		{rules(environment.PolicyReuseEnvironment, false), released, sound, true, 2 * hour},
		{rules(environment.PolicyReuseEnvironment, false), failed, sound, true, 2 * hour},
		{rules(environment.PolicyReuseEnvironment, false), failed, broken, false, 0},
		{rules(environment.PolicyReuseEnvironment, true), failed, broken, true, environment.ArchivedFor},
		{rules(environment.PolicyReuseEnvironment, false), expired, sound, false, 0},
		{rules(environment.PolicyReuseWorkspace, false), released, sound, true, 2 * hour},
		{rules(environment.PolicyReuseWorkspace, false), expired, sound, false, 0},
		{rules(environment.PolicyRetainOnFailure, false), released, sound, false, 0},
		{rules(environment.PolicyRetainOnFailure, false), failed, broken, true, 2 * hour},
		{rules(environment.PolicyRetainOnFailure, true), released, sound, true, environment.ArchivedFor},
		{rules(environment.PolicyRetainOnFailure, false), expired, sound, false, 0},
	}
	for _, test := range tests {
		keep, retain := test.rules.Next(test.outcome, test.sound)
		if keep != test.keep || retain != test.retain {
			t.Errorf("%+v, %s, sound %v: got %v for %s, want %v for %s", test.rules, test.outcome, test.sound, keep, retain, test.keep, test.retain)
		}
	}
}
