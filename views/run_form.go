package views

import (
	"strconv"
	"strings"

	"berth/environment"
	"berth/views/ui"
)

// RunFormState is whether a run can be started.
type RunFormState string

// The states of the form of a new run.
const (
	RunFormReady   RunFormState = "ready"
	RunFormInvalid RunFormState = "invalid"
	RunFormBlocked RunFormState = "blocked"
)

// RunValues are the fields of the form of a new run, as typed.
type RunValues struct {
	EnvironmentID string
	Command       string
	Shell         bool // Command is a script for /bin/sh; else one argument a line
	Title         string
	Cwd           string
	TimeoutSec    string
}

// NewRunValues are those of an empty form.
func NewRunValues() RunValues {
	return RunValues{Shell: true, TimeoutSec: strconv.Itoa(int(environment.DefaultRunTimeout.Seconds()))}
}

// Argv is the command: a script for /bin/sh, or one argument a line. A last line
// break adds no argument.
func (v RunValues) Argv() []string {
	if strings.TrimSpace(v.Command) == "" {
		return nil
	}
	if v.Shell {
		return []string{"/bin/sh", "-c", v.Command}
	}
	return strings.Split(strings.TrimSuffix(v.Command, "\n"), "\n")
}

// RunFormProps is the form of a new run.
type RunFormProps struct {
	state        RunFormState
	company      environment.Company
	values       RunValues
	environments []ui.Option
	errors       map[string]string
	failure      string
	blocked      string
}

// NewRunForm makes the form. usable are the environments that may be named, Local
// among them only in name where the actor may not run there; failed is why the
// last attempt was refused, nil for none.
func NewRunForm(company environment.Company, v RunValues, usable []environment.EnvironmentView, mayLocal bool, settings environment.Settings, failed *environment.Error) RunFormProps {
	p := RunFormProps{state: RunFormReady, company: company, values: v, errors: fieldErrors(failed)}
	p.environments = []ui.Option{{Label: "Choose an environment"}}
	offered := 0
	for _, e := range usable {
		if e.Status != environment.StatusActive {
			continue
		}
		if e.Driver == environment.DriverLocal && !mayLocal {
			p.environments = append(p.environments, ui.Option{Value: e.ID.String(), Label: e.Name + " · only instance admins run on the Berth host", Disabled: true})
			continue
		}
		offered++
		p.environments = append(p.environments, ui.Option{Value: e.ID.String(), Label: e.Name})
		if v.EnvironmentID == "" && settings.DefaultEnvironmentID != nil && *settings.DefaultEnvironmentID == e.ID {
			p.values.EnvironmentID = e.ID.String()
		}
	}
	switch {
	case !settings.EnableEnvironments:
		p.state, p.blocked = RunFormBlocked, "Environments are off, so no run can be started. An instance admin can turn them on under Instance, Experimental."
	case offered == 0 && mayLocal:
		p.state, p.blocked = RunFormBlocked, "There is no active environment to run in. Add one first."
	case offered == 0:
		p.state, p.blocked = RunFormBlocked, "There is no environment that you may run in. An instance admin can add one."
	case failed != nil:
		p.state = RunFormInvalid
		if len(p.errors) == 0 {
			p.failure = failed.Message
		}
	}
	return p
}

// fieldErrors sorts the messages of an error by field; the first of each counts.
func fieldErrors(e *environment.Error) map[string]string {
	m := map[string]string{}
	if e == nil {
		return m
	}
	for _, f := range e.Fields {
		if _, there := m[f.Field]; !there {
			m[f.Field] = f.Message
		}
	}
	return m
}
