package handlers

import "berth/handlers/api"

// probeOperations are those of probes.
func probeOperations() []operation {
	wait := yesOrNo("wait", "0 answers 202 at once; else the answer comes when the probe has ended")
	begun := []reply{ok[api.ProbeResult]("Location"), accepted[api.ProbeResult]("Location")}
	return []operation{
		{
			method: "POST", path: "/api/environments/:id/probe", id: "probeEnvironment", who: whoOperator,
			summary: "Test a saved environment in its target; 200 whether good or bad",
			query:   []parameter{idParameter("companyId", "for which company; the only one that it can be when absent"), wait},
			body:    typed[struct{}](), optionalBody: true, answers: begun, fails: []int{409, 422},
		},
		{
			method: "POST", path: "/api/companies/:c/environments/probe-config", id: "probeDraft", who: whoOperator,
			summary: "Test values that are not saved; secrets that are left out are those of environmentId",
			query:   []parameter{wait}, body: typed[draftBody](), answers: begun, fails: []int{409, 422},
		},
		{
			method: "GET", path: "/api/environments/:id/probes", id: "listProbes", who: whoOwnLeases,
			summary: "Stored results, newest first", query: windowed(), answers: []reply{listOf[api.ProbeResult]()},
		},
		{
			method: "GET", path: "/api/probes/:id", id: "getProbe", who: whoOwnLeases,
			summary: "One probe", answers: []reply{ok[api.ProbeResult]()},
		},
		{
			method: "POST", path: "/api/probes/:id/cancel", id: "cancelProbe", who: whoOperator,
			summary: "Ask a probe to end; answers at once", answers: []reply{accepted[api.ProbeResult]()}, fails: []int{409},
		},
		{
			method: "GET", path: "/api/probes/:id/events", id: "followProbe", who: whoOwnLeases,
			summary: "A stream of stage, state and end events; 204 behind the end",
			query:   []parameter{resumeAfter()}, answers: []reply{other("text/event-stream"), nothing()},
		},
	}
}

func resumeAfter() parameter {
	return count("after", "the number of the last event that was seen; Last-Event-ID goes first", 0, 1<<62)
}
