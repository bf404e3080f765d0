package docker

import (
	"maps"
	"slices"
	"time"

	"berth/environment"
)

// board tells of the stages of an acquisition or a probe as they begin and end.
// They come one after the other.
type board struct {
	now    func() time.Time
	report func(environment.Stage)
	stages []environment.Stage
}

func newBoard(now func() time.Time, report func(environment.Stage)) *board {
	return &board{now: now, report: report}
}

// heard reports whether anybody listens.
func (b *board) heard() bool { return b.report != nil }

// began begins a stage.
func (b *board) began(name string) {
	now := b.now()
	b.stages = append(b.stages, environment.Stage{Name: name, Status: environment.StageRunning, Severity: "info",
		Measured: map[string]any{}, Limit: map[string]any{}, StartedAt: &now})
	b.tell()
}

// going says how far the running stage is.
func (b *board) going(message string, measured map[string]any) {
	s := b.last()
	s.Message = message
	maps.Copy(s.Measured, measured)
	b.tell()
}

// passed ends the running stage well.
func (b *board) passed(message string, measured map[string]any) {
	s := b.last()
	s.Message = message
	maps.Copy(s.Measured, measured)
	b.end(environment.StageOK)
}

// warned ends the running stage with a warning.
func (b *board) warned(message, remedy string) {
	s := b.last()
	s.Message, s.Remediation, s.Severity = message, remedy, "warning"
	b.end(environment.StageWarning)
}

// failed ends the running stage with an error, unless all ended.
func (b *board) failed(err error) {
	s := b.last()
	if s == nil || s.Status != environment.StageRunning {
		return
	}
	e := environment.AsError(err)
	s.Code, s.Message, s.Remediation, s.Severity = e.Code, e.Message, e.Remediation, "error"
	if s.Remediation == "" {
		s.Remediation = environment.Remedy(e.Code)
	}
	b.end(environment.StageFailed)
}

func (b *board) last() *environment.Stage {
	if len(b.stages) == 0 {
		return nil
	}
	return &b.stages[len(b.stages)-1]
}

func (b *board) end(status environment.StageStatus) {
	s := b.last()
	s.Status, s.DurationMs = status, b.now().Sub(*s.StartedAt).Milliseconds()
	b.tell()
}

// tell reports the last stage as it is now: its maps go on changing here.
func (b *board) tell() {
	if b.report == nil {
		return
	}
	told := *b.last()
	told.Measured, told.Limit = maps.Clone(told.Measured), maps.Clone(told.Limit)
	b.report(told)
}

func (b *board) result() []environment.Stage { return slices.Clone(b.stages) }
