package probing

import (
	"encoding/json"
	"testing"

	"berth/environment"
)

// TestConfirms judges receipts by themselves, whatever was made of them before.
func TestConfirms(t *testing.T) {
	t.Parallel()
	const kept = `{"archiveOnRelease":true}`
	tests := map[string]struct {
		config  string
		status  environment.LeaseStatus
		outcome string
		id      string
		want    bool
	}{
		"destroyed":             {`{}`, environment.LeaseReleased, "destroyed", "box-1", true},
		"destroyed, failed":     {`{}`, environment.LeaseFailed, "destroyed", "box-1", true},
		"destroyed, not ended":  {`{}`, environment.LeasePendingCleanup, "destroyed", "box-1", false},
		"destroyed, another":    {`{}`, environment.LeaseReleased, "destroyed", "box-2", false},
		"destroyed, no id":      {`{}`, environment.LeaseReleased, "destroyed", "", false},
		"gone":                  {`{}`, environment.LeaseReleased, "gone", "box-1", false},
		"asked for":             {`{}`, environment.LeaseReleased, "queued", "box-1", false},
		"stopped":               {`{}`, environment.LeaseRetained, "stopped", "box-1", false},
		"archived":              {kept, environment.LeaseRetained, "stopped", "box-1", true},
		"archived, another":     {kept, environment.LeaseRetained, "stopped", "box-2", false},
		"archived, still there": {kept, environment.LeaseReleasing, "stopped", "box-1", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			tr := &trial{env: environment.Environment{Config: json.RawMessage(test.config)}, ref: environment.Ref{ProviderID: "box-1"}}
			if got := tr.confirms(environment.Lease{Status: test.status}, environment.Receipt{Outcome: test.outcome, ProviderID: test.id}); got != test.want {
				t.Errorf("got %v", got)
			}
		})
	}
}
