package fake

import (
	"berth/environment"
)

// stage reports a stage around what it does.
func (d *Driver) stage(spec environment.Spec, name string, do func() (string, error)) error {
	s := environment.Stage{Name: name, Status: environment.StageRunning}
	began := d.opts.Now().UTC()
	s.StartedAt = &began
	d.tell(spec, s)
	said, err := do()
	s.Status, s.Message, s.DurationMs = environment.StageOK, said, d.opts.Now().Sub(began).Milliseconds()
	if err != nil {
		e := environment.AsError(err)
		s.Status, s.Severity, s.Code, s.Message, s.Remediation = environment.StageFailed, "error", e.Code, e.Message, e.Remediation
	}
	d.tell(spec, s)
	return err
}

func (d *Driver) tell(spec environment.Spec, s environment.Stage) {
	if s.Severity == "" {
		s.Severity = "info"
	}
	s.Measured, s.Limit = map[string]any{}, map[string]any{}
	spec.Tell(s)
}
