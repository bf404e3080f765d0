package running

import (
	"time"

	"berth/environment"
)

// The phases of a run.
const (
	phaseQueued  = "queued"
	phaseAcquire = "acquire"
	phasePrepare = "prepare"
	phaseRun     = "run"
	phaseCollect = "collect"
	phaseRelease = "release"
)

// enter ends the phase under way and begins another. A phase that is entered
// again, by a server that took the run over, goes on from its first start.
func enter(r *environment.Run, name string, now time.Time) {
	if n := len(r.Phases); n > 0 && r.Phases[n-1].Name == name && r.Phases[n-1].FinishedAt == nil {
		return
	}
	leave(r, now)
	r.Phases = append(r.Phases, environment.Phase{Name: name, StartedAt: now})
}

// leave ends the phase under way.
func leave(r *environment.Run, now time.Time) {
	if n := len(r.Phases); n > 0 && r.Phases[n-1].FinishedAt == nil {
		last := &r.Phases[n-1]
		last.FinishedAt = &now
		last.DurationMs = max(0, now.Sub(last.StartedAt).Milliseconds())
	}
}
