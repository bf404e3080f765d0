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
	Vars          []VarValue         // plain ones; set over the environment's
	Stdin         environment.Secret // rendered only while it does not look secret
	StdinSealed   string             // stands for input that is not rendered
	Native        bool               // only from the qualified image
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

// Env are the variables, and what is wrong with their rows.
func (v RunValues) Env() (map[string]string, []environment.FieldError) {
	env, problems := map[string]string{}, []environment.FieldError(nil)
	for _, row := range v.Vars {
		if row.Remove || row.empty() {
			continue
		}
		if _, twice := env[row.Name]; twice {
			problems = append(problems, environment.FieldError{Field: "env." + row.Name, Message: "There are two variables of this name."})
		}
		env[row.Name] = row.Value.Reveal()
	}
	return env, problems
}

// Seal has seal stand in for what was typed and must not be rendered, so that a
// refused form loses none of it.
func (v *RunValues) Seal(seal func(environment.Secret) string) {
	if !v.Stdin.Empty() && v.stdin() == "" {
		v.StdinSealed = seal(v.Stdin)
	}
	sealRows(v.Vars, seal)
}

// stdin is the input as the form may show it.
func (v RunValues) stdin() string {
	if environment.LooksSecret("", v.Stdin.Reveal()) {
		return ""
	}
	return v.Stdin.Reveal()
}

// more tells whether the variables or the input hold something.
func (p RunFormProps) more() bool {
	if !p.values.Stdin.Empty() || p.values.StdinSealed != "" || p.errors["stdin"] != "" || p.errors["env"] != "" {
		return true
	}
	return len(p.varRows()) > spareRows
}

func (p RunFormProps) stdinPlaceholder() string {
	if p.values.StdinSealed != "" {
		return "typed before; empty keeps that"
	}
	return ""
}

func (p RunFormProps) varRows() []varRow {
	rows := make([]varRow, 0, len(p.values.Vars)+spareRows)
	for _, v := range p.values.Vars {
		if !v.empty() {
			rows = append(rows, varRow{VarValue: v, index: len(rows), err: p.errors["env."+v.Name], ofRun: true})
		}
	}
	for range spareRows {
		rows = append(rows, varRow{index: len(rows), ofRun: true})
	}
	return rows
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
	targets      []runTarget // what to know of sandboxes before something runs there
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
		if onBerthHost(e.Key()) && !mayLocal {
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

// onBerthHost: its work runs on the machine of the server.
func onBerthHost(key environment.DriverKey) bool {
	return key.Driver == environment.DriverLocal || key.Provider == environment.ProviderFake
}
