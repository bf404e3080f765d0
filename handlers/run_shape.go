package handlers

import (
	"berth/environment"
	"berth/handlers/api"
)

// runShape is a run as the API shows it; lease may be nil.
func runShape(r environment.Run, lease *environment.Lease) api.Run {
	shape := api.Run{
		ID: r.ID, CompanyID: r.CompanyID, Kind: r.Kind, Title: r.Title, Command: append([]string{}, r.Command...),
		Cwd: r.Cwd, WorkingDir: r.WorkingDir, EnvNames: append([]string{}, r.EnvNames...), TimeoutSec: r.TimeoutSec, Native: r.Native,
		Status: string(r.Status), ExitCode: r.ExitCode, Signal: r.Signal, Failure: r.Failure,
		Environment: api.RunEnvironment{ID: r.EnvironmentID, Name: r.EnvironmentName, Driver: r.Driver, Provider: r.Provider, Target: r.Target},
		Host:        r.Host, Phases: each(r.Phases, phaseShape), Termination: r.Termination,
		LogSize: r.LogSize, LogCut: r.LogCut, CreatedAt: api.Time(r.CreatedAt), StartedAt: api.TimePtr(r.StartedAt),
		Deadline: api.TimePtr(r.Deadline), FinishedAt: api.TimePtr(r.FinishedAt),
	}
	if lease != nil {
		l := leaseShape(*lease)
		shape.Lease = &l
	}
	return shape
}

func phaseShape(p environment.Phase) api.Phase {
	return api.Phase{Name: p.Name, StartedAt: api.Time(p.StartedAt), FinishedAt: api.TimePtr(p.FinishedAt), DurationMs: p.DurationMs}
}
