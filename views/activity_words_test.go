package views

import (
	"testing"

	"berth/environment"
)

// An entry about a key says so: what was made is a key, not the agent that has
// it, and the name that it gives is the key's.
func TestActivityInWords(t *testing.T) {
	for name, tc := range map[string]struct {
		entry             environment.Activity
		on, what, details string
	}{
		"an environment": {environment.Activity{Action: "environment.host_key_trusted", EntityType: "environment", Details: map[string]any{"name": "build-box"}},
			"environment build-box", "host key trusted", ""},
		"a key": {environment.Activity{Action: "agent_key.created", EntityType: "agent", EntityID: "01a229c7-4ef7", Details: map[string]any{"name": "ci", "agent": "coder", "hint": "zHjA"}},
			"agent coder", "key ci created", "hint: zHjA"},
		"a key, before the agent was named": {environment.Activity{Action: "agent_key.created", EntityType: "agent", EntityID: "01a229c7-4ef7", Details: map[string]any{"name": "ci"}},
			"agent 01a229c7", "key ci created", ""},
		"a key that is revoked": {environment.Activity{Action: "agent_key.revoked", EntityType: "agent", EntityID: "01a229c7-4ef7", Details: map[string]any{"agent": "coder", "keyId": "7"}},
			"agent coder", "key revoked", "keyId: 7"},
		"a token": {environment.Activity{Action: "token.created", EntityType: "person", EntityID: "01a229c7-4ef7", Details: map[string]any{"name": "laptop", "person": "Ada"}},
			"person Ada", "token laptop created", ""},
		"a link": {environment.Activity{Action: "person.link_revoked", EntityType: "link", EntityID: "01a229c7-4ef7", Details: map[string]any{}},
			"link 01a229c7", "link revoked", ""},
		"another thing called agent": {environment.Activity{Action: "run.started", EntityType: "run", EntityID: "01a229c7-4ef7", Details: map[string]any{"agent": "coder"}},
			"run 01a229c7", "started", "agent: coder"},
	} {
		if got := subjectText(tc.entry); got != tc.on {
			t.Errorf("%s: it is on %q, want %q", name, got, tc.on)
		}
		if got := actionText(tc.entry); got != tc.what {
			t.Errorf("%s: it says %q, want %q", name, got, tc.what)
		}
		if got := detailText(tc.entry); got != tc.details {
			t.Errorf("%s: details %q, want %q", name, got, tc.details)
		}
	}
}
