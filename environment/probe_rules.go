package environment

import (
	"slices"
	"time"
)

// MaxRecent is how many marks a latency line has.
const MaxRecent = 12

// ProbeOverdue is how far past its deadline a running probe of a live server
// counts as lost: the server's own limit should have ended it long before.
const ProbeOverdue = time.Minute

// SetStage puts a stage in the place of the one of its name, or at the end.
func (p *Probe) SetStage(s Stage) {
	if i := slices.IndexFunc(p.Stages, func(have Stage) bool { return have.Name == s.Name }); i >= 0 {
		p.Stages[i] = s
		return
	}
	p.Stages = append(p.Stages, s)
}

// Remarks are the stages that warn or failed. They are all that a list of
// environments carries of a verdict's stages, and enough for its health.
func (p Probe) Remarks() []Stage {
	remarks := []Stage{}
	for _, s := range p.Stages {
		if s.Status == StageWarning || s.Status == StageFailed {
			remarks = append(remarks, s)
		}
	}
	return remarks
}

// Interrupt ends a probe whose server died: the stage that ran then failed with
// code interrupted, the later ones are skipped.
func (p *Probe) Interrupt(now time.Time) {
	p.State, p.OK, p.Code = ProbeInterrupted, false, CodeInterrupted
	p.Summary, p.FinishedAt = "The server stopped during the test.", &now
	for i := range p.Stages {
		s := &p.Stages[i]
		switch s.Status {
		case StageRunning:
			s.Status, s.Code, s.Severity, s.Message = StageFailed, CodeInterrupted, "error", "The server stopped during this stage."
			s.Remediation = Remedy(CodeInterrupted)
		case StageWaiting:
			s.Status, s.Message = StageSkipped, "Not tried: the server stopped."
		}
	}
}

// BecomesLast reports whether an ended probe is from now on the environment's
// last: never a draft nor one of an older config, and one that was interrupted
// or cancelled only when there is none yet.
func (p Probe) BecomesLast(configRevision int, hasLast bool) bool {
	if p.Draft || p.ConfigRevision != configRevision {
		return false
	}
	return p.State == ProbeDone || !hasLast
}

// Mark is the probe's bar in the latency line; false for one that was cut short
// or was a draft's.
func (p Probe) Mark() (ProbeMark, bool) {
	if p.Draft || p.State != ProbeDone || p.FinishedAt == nil {
		return ProbeMark{}, false
	}
	return ProbeMark{At: *p.FinishedAt, OK: p.OK, DurationMs: p.DurationMs()}, true
}
