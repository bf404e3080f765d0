package handlers

import (
	"berth/environment"
	"berth/handlers/api"
)

// runOperations are those of runs.
func runOperations() []operation {
	return []operation{
		{
			method: "GET", path: "/api/companies/:c/runs", id: "listRuns", who: whoMember,
			summary: "Runs, newest first, without their leases; an agent sees its own",
			query: windowed(text("q", "part of the title, the environment's name or the command, without regard to case"),
				word("status", "only those of this status", environment.RunStatuses()...),
				idParameter("environmentId", "only those in this environment")),
			answers: []reply{listOf[api.Run]()},
		},
		{
			method: "POST", path: "/api/companies/:c/runs", id: "startRun", who: whoMember,
			summary: "Queue a run; answers at once", body: typed[api.StartRun](),
			answers: []reply{made[api.Run]("Location")}, fails: []int{409, 422},
		},
		{
			method: "GET", path: "/api/runs/:id", id: "getRun", who: whoOwnRuns,
			summary: "One run", answers: []reply{ok[api.Run]()},
		},
		{
			method: "POST", path: "/api/runs/:id/cancel", id: "cancelRun", who: whoOwnRuns,
			summary: "Ask a run to end; answers at once", body: typed[struct{}](), optionalBody: true,
			answers: []reply{accepted[api.Run]()}, fails: []int{409},
		},
		{
			method: "GET", path: "/api/runs/:id/log", id: "readLog", who: whoOwnRuns,
			summary: "Output from an offset, which counts bytes",
			query: []parameter{
				count("offset", "where to begin; 0 when absent", 0, 1<<62), count("limit", "how many bytes", minLogRead, maxLogRead),
				word("stream", "only this one", environment.Stdout, environment.Stderr),
				yesOrNo("data", "adds the bytes of each chunk"), yesOrNo("raw", "answers the bytes alone"),
			},
			answers: []reply{ok[api.Log](), other("application/octet-stream", "X-Berth-Next-Offset", "X-Berth-Done", "X-Berth-Truncated")},
		},
		{
			method: "GET", path: "/api/runs/:id/events", id: "followRun", who: whoOwnRuns,
			summary: "A stream of output, state and end events; 204 behind the end",
			query:   []parameter{resumeAfter(), yesOrNo("raw", "adds the bytes of output")},
			answers: []reply{other("text/event-stream"), nothing()},
		},
		{
			method: "GET", path: "/api/runs/:id/workspace", id: "readWorkspace", who: whoOwnRuns,
			summary: "A folder's list or a file's text",
			query:   []parameter{text("path", "in the workspace; its root when absent"), yesOrNo("raw", "answers a file's bytes")},
			answers: []reply{ok[api.Workspace](), other("application/octet-stream", "Content-Disposition", "X-Berth-Size")},
			fails:   []int{409, 422, 504},
		},
	}
}
