package views

import (
	"strconv"

	"berth/environment"
	"berth/views/ui"
)

// varRow is a variable's row with its place in the form.
type varRow struct {
	VarValue
	index int
	err   string
	shelf Shelf
	ofRun bool // of a run's own: nothing of it is stored as a secret
}

// maxRowChoices bounds how many secrets all rows together offer. Beyond it, rows
// that have a value offer none; a spare row does.
const maxRowChoices = 5000

// spareRows is how many empty rows stand below the variables: without scripts
// they are the way to add one.
const spareRows = 2

func (p EnvironmentFormProps) varRows() []varRow {
	rows, filled := make([]varRow, 0, len(p.values.Vars)+spareRows), p.shelf
	if p.shelf.size()*len(p.values.Vars) > maxRowChoices {
		filled = p.shelf.withoutSecrets()
	}
	for _, v := range p.values.Vars {
		if v.empty() && p.errors["envVars."] == "" {
			continue
		}
		row := varRow{VarValue: v, index: len(rows), err: ofSecret(p.errors, "envVars."+v.Name), shelf: filled}
		if v.Kind == VarChosen {
			row.shelf = p.shelf
		}
		if row.err == "" && p.dotEnv != nil {
			row.err = p.dotEnv.problemOf(len(rows))
		}
		rows = append(rows, row)
	}
	for range spareRows {
		rows = append(rows, varRow{index: len(rows), shelf: p.shelf})
	}
	return rows
}

// name is the form's name of a part of a row: "env.3.name".
func (r varRow) name(part string) string { return VarField(r.index, part) }

func (r varRow) label(part string) string { return part + " of variable " + strconv.Itoa(r.index+1) }

func (r varRow) kind() string {
	if r.Kind == "" {
		return string(VarPlain)
	}
	return string(r.Kind)
}

// kinds are what a row may hold; companies' secrets only where there are any.
func (r varRow) kinds() []ui.Option {
	if r.ofRun {
		return nil
	}
	options := []ui.Option{{Value: string(VarPlain), Label: "Plain"}, {Value: string(VarSecret), Label: "Secret"}}
	if !r.shelf.empty() || r.Kind == VarChosen {
		options = append(options, ui.Option{Value: string(VarChosen), Label: "Company's secret"})
	}
	if len(r.shelf.Companies) > 0 {
		options = append(options, ui.Option{Value: string(VarFresh), Label: "New company secret"})
	}
	return options
}

func (r varRow) placeholder() string {
	switch {
	case r.Sealed != "":
		return "typed before; empty keeps that"
	case r.Stored != "":
		return "stored; empty keeps it"
	}
	return "value"
}

// help is what to know of the row, "" for nothing.
func (r varRow) help() string {
	switch {
	case r.Hint != "":
		return r.Hint
	case r.ofRun && r.Name != "" && environment.LooksSecret(r.Name, r.Value.Reveal()):
		return "It looks secret, so its value is masked in the output."
	case r.Kind == VarSecret && r.Reference != nil && r.Reference.Missing():
		return "The stored secret is gone: type a value, or choose another."
	case r.Reference != nil && !r.Reference.Missing() && r.Reference.Secret.Disabled:
		return "The stored secret is disabled: runs are refused until it is enabled."
	case r.Kind != VarSecret && r.Kind != VarChosen && r.Kind != VarFresh && r.Name != "" && environment.LooksSecret(r.Name, r.Value.Reveal()):
		return "It looks secret, so it is stored as one."
	}
	return ""
}

func (r varRow) parts() secretParts {
	return secretParts{prefix: "env." + strconv.Itoa(r.index), of: "variable " + strconv.Itoa(r.index+1), choice: r.choice(), shelf: r.shelf}
}

// VarField is the form's name of a part of the variable in row n.
func VarField(n int, part string) string { return "env." + strconv.Itoa(n) + "." + part }

// with changes a copy of a field's props.
func with(f ui.FieldProps, change func(*ui.FieldProps)) ui.FieldProps {
	change(&f)
	return f
}

func backLabel(p EnvironmentFormProps) string {
	if p.saved == nil {
		return "Environments"
	}
	return p.saved.Name
}

func invalidText(n int) string {
	return ui.Count(n, "field needs", "fields need") + " another look."
}

// checkMessage is what an error says of a field; "" when it says nothing of it.
func checkMessage(field string, err *environment.Error) string {
	return errorAt(fieldErrors(err), field)
}

// offers tells whether a row lets choose a company's secret.
func (r varRow) offers() bool { return !r.shelf.empty() || r.Kind == VarChosen }
