package environmenttest_test

import (
	"testing"
	"time"

	"berth/environment"
	"berth/environment/environmenttest"
)

func TestFingerprintTellsAChange(t *testing.T) {
	s := environmenttest.NewStore(time.Now)
	before := s.Fingerprint()
	if again := s.Fingerprint(); again != before {
		t.Error("two of one state differ")
	}
	if err := s.Record(t.Context(), environment.Activity{Action: "x.y", EntityType: "x"}); err != nil {
		t.Fatal(err)
	}
	if s.Fingerprint() != before {
		t.Error("the activity log is part of it")
	}
	company := environment.Company{ID: environment.NewID(), Name: "Acme"}
	if err := s.CreateCompany(t.Context(), company, environment.Activity{}); err != nil {
		t.Fatal(err)
	}
	after := s.Fingerprint()
	agent := environment.Agent{ID: environment.NewID(), CompanyID: company.ID, Name: "a", AdapterType: "x", Status: environment.AgentActive}
	if err := s.CreateAgent(t.Context(), agent, environment.Activity{}); err != nil {
		t.Fatal(err)
	}
	if after == before || s.Fingerprint() == after {
		t.Error("a change does not show")
	}
}
