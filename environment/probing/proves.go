package probing

import "berth/environment"

// provesOf says what a probe's end proves and what not.
func provesOf(p environment.Probe) string {
	switch {
	case p.State != environment.ProbeDone:
		return "It did not come to its end, so it proves nothing."
	case p.Driver == environment.DriverLocal:
		return "Proves that this server's own machine and folder answer. It proves nothing of what an agent needs there."
	case p.Driver == environment.DriverSandbox && p.Draft:
		return "Proves whether the engine answers and the image can be had. No sandbox was made, so nothing is known of what runs in it, and a draft qualifies nothing."
	case p.Driver == environment.DriverSandbox:
		return "Proves whether a fresh sandbox of this configuration can be made, worked in and removed, for this company." +
			recordedProves(p) + " " + provesNot
	}
	return "Proves whether the target is reached, lets Berth in, and has the workspace and tools that are asked for. " + provesNot
}

func recordedProves(p environment.Probe) string {
	if p.Qualification == nil || !p.Qualification.Recorded {
		return ""
	}
	return " The record proves the platform of exactly this image, for this company only."
}

const provesNot = "A finished run proves more. It says nothing of a model account, an agent's harness, or a service in the workspace."
