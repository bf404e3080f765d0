package ssh

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"berth/environment"
)

// board keeps the stages of a probe in their order and reports each change. It
// is the watcher of the probe's connection.
type board struct {
	now    func() time.Time
	report func(environment.Stage)
	stages []environment.Stage
}

var _ watcher = (*board)(nil)

func newBoard(now func() time.Time, report func(environment.Stage)) *board {
	b := &board{now: now, report: report}
	for _, name := range environment.SSHStages() {
		b.stages = append(b.stages, environment.Stage{
			Name: name, Status: environment.StageWaiting, Severity: "info", Measured: map[string]any{}, Limit: map[string]any{},
		})
	}
	return b
}

func (b *board) stage(name string) *environment.Stage {
	i := slices.IndexFunc(b.stages, func(s environment.Stage) bool { return s.Name == name })
	return &b.stages[i]
}

// began marks a stage as running. Behind jump hosts a stage begins once for
// each host and keeps its first time.
func (b *board) began(name string, ep endpoint) {
	s := b.stage(name)
	if s.Status == environment.StageWaiting {
		now := b.now()
		s.StartedAt = &now
	}
	s.Status = environment.StageRunning
	s.Message = ""
	if ep.jump {
		s.Message = ep.capital()
	}
	b.tell(s)
}

// passed ends a stage well. What a jump host passed stays running: the target
// has the same stage before it.
func (b *board) passed(name string, ep endpoint, message string, measured map[string]any) {
	s := b.stage(name)
	s.Message = message
	if ep.jump {
		hops, _ := s.Measured["jumpHosts"].([]any)
		s.Measured["jumpHosts"] = append(hops, withHost(measured, ep))
		b.tell(s)
		return
	}
	for key, value := range measured {
		s.Measured[key] = value
	}
	b.end(s, environment.StageOK)
}

func withHost(measured map[string]any, ep endpoint) map[string]any {
	m := map[string]any{"host": ep.address()}
	for key, value := range measured {
		m[key] = value
	}
	return m
}

// warned ends a stage with a warning.
func (b *board) warned(name, code, message, remedy string, measured, limit map[string]any) {
	s := b.stage(name)
	s.Code, s.Severity, s.Message, s.Remediation = code, "warning", message, remedy
	if remedy == "" {
		s.Remediation = environment.Remedy(code)
	}
	s.Measured, s.Limit = measured, limit
	b.end(s, environment.StageWarning)
}

// failed ends the stage of a failure; what a jump host had passed before is
// well, and everything after it is skipped.
func (b *board) failed(f *failure) {
	at := slices.IndexFunc(b.stages, func(s environment.Stage) bool { return s.Name == f.stage })
	for i := range b.stages {
		s := &b.stages[i]
		switch {
		case i < at && s.Status == environment.StageRunning:
			b.end(s, environment.StageOK)
		case i == at:
			if s.StartedAt == nil {
				now := b.now()
				s.StartedAt = &now
			}
			s.Code, s.Severity, s.Message, s.Remediation = f.err.Code, "error", f.err.Message, f.err.Remediation
			for key, value := range f.measured {
				s.Measured[key] = value
			}
			s.Limit = f.limit
			b.end(s, environment.StageFailed)
		case i > at && s.Status != environment.StageOK && s.Status != environment.StageWarning:
			s.Status, s.StartedAt, s.Message = environment.StageSkipped, nil, fmt.Sprintf("Skipped: %s failed.", f.stage)
			b.tell(s)
		}
	}
}

func (b *board) end(s *environment.Stage, status environment.StageStatus) {
	s.Status = status
	if s.StartedAt != nil {
		s.DurationMs = b.now().Sub(*s.StartedAt).Milliseconds()
	}
	b.tell(s)
}

// tell reports a stage as it is now: the maps go on changing here.
func (b *board) tell(s *environment.Stage) {
	told := *s
	told.Measured, told.Limit = maps.Clone(s.Measured), maps.Clone(s.Limit)
	b.report(told)
}

// running is the first stage that has not ended, for what fails anywhere.
func (b *board) running() string {
	for _, s := range b.stages {
		if s.Status == environment.StageRunning || s.Status == environment.StageWaiting {
			return s.Name
		}
	}
	return b.stages[len(b.stages)-1].Name
}

// result is a copy of the stages.
func (b *board) result() []environment.Stage { return slices.Clone(b.stages) }
