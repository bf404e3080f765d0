package handlers

import (
	"berth/environment"
	"berth/handlers/api"
)

// probeShape is a probe as the API shows it: a result, with its job in details.
func probeShape(p environment.Probe) api.ProbeResult {
	outcome := qualificationOutcome(p.Qualification)
	return api.ProbeResult{
		OK: p.OK, Driver: p.Driver, Summary: p.Summary, QualificationOutcome: outcome,
		Details: api.ProbeDetails{
			ProbeID: p.ID, EnvironmentID: p.EnvironmentID, CompanyID: p.CompanyID, Draft: p.Draft,
			State: string(p.State), Health: string(p.Health()), Code: p.Code, Target: p.Target,
			Stages: each(p.Stages, stageShape), Host: p.Host, Platform: p.Platform,
			Presented: append([]environment.HostKey{}, p.Presented...), Trusted: append([]environment.HostKey{}, p.Trusted...),
			CreatedAt: api.Time(p.CreatedAt), StartedAt: api.TimePtr(p.StartedAt), FinishedAt: api.TimePtr(p.FinishedAt),
			DurationMs: p.DurationMs(), Image: p.Image, LeaseID: p.LeaseID, Proves: p.Proves, QualificationOutcome: outcome,
		},
	}
}

// qualificationOutcome is what became of a qualification; nothing for nil.
func qualificationOutcome(q *environment.QualificationResult) api.QualificationOutcome {
	if q == nil {
		return api.QualificationOutcome{}
	}
	return api.QualificationOutcome{Recorded: &q.Recorded, Diagnostic: &api.Diagnostic{Code: q.Code, Message: q.Message}}
}

func stageShape(st environment.Stage) api.Stage {
	return api.Stage{
		Name: st.Name, Status: string(st.Status), Code: st.Code, Severity: st.Severity, Message: st.Message,
		Measured: mapOrEmpty(st.Measured), Limit: mapOrEmpty(st.Limit), StartedAt: api.TimePtr(st.StartedAt),
		DurationMs: st.DurationMs, Remediation: st.Remediation,
	}
}

func mapOrEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}
