package probing

import (
	"testing"
	"time"

	"berth/environment"
)

// TestSettle_CancelledStage: what a driver was cut off from was not late.
func TestSettle_CancelledStage(t *testing.T) {
	now := time.Now()
	late := environment.Stage{Name: "start", Status: environment.StageFailed, Code: environment.CodeTimedOut, Message: "not done in time", StartedAt: &now}
	stages := []environment.Stage{late, {Name: "cleanup", Status: environment.StageFailed, Code: environment.CodeEngineUnreachable}}
	got := settle(environment.Probe{State: environment.ProbeCancelled, Stages: stages}, now).Stages
	if got[0].Status != environment.StageSkipped || got[0].Message != "Cancelled." || got[0].Code != "" || got[1].Status != environment.StageFailed {
		t.Errorf("cancelled: %+v", got)
	}
	if got = settle(environment.Probe{State: environment.ProbeDone, Stages: stages}, now).Stages; got[0].Message != late.Message {
		t.Errorf("not cancelled: %+v", got)
	}
}
