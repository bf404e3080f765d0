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
}

// spareRows is how many empty rows stand below the variables: without scripts
// they are the way to add one.
const spareRows = 2

func (p EnvironmentFormProps) varRows() []varRow {
	rows := make([]varRow, 0, len(p.values.Vars)+spareRows)
	for _, v := range p.values.Vars {
		if v.Name == "" && v.Value.Empty() && p.errors["envVars."] == "" {
			continue
		}
		rows = append(rows, varRow{VarValue: v, index: len(rows), err: p.errors["envVars."+v.Name]})
	}
	for range spareRows {
		rows = append(rows, varRow{index: len(rows)})
	}
	return rows
}

// name is the form's name of a part of a row: "env.3.name".
func (r varRow) name(part string) string { return VarField(r.index, part) }

func (r varRow) label(part string) string { return part + " of variable " + strconv.Itoa(r.index+1) }

func (r varRow) kind() string {
	if r.Secret {
		return "secret"
	}
	return "plain"
}

func (r varRow) placeholder() string {
	if r.Stored != "" {
		return "stored; empty keeps it"
	}
	return "value"
}

// VarField is the form's name of a part of the variable in row n.
func VarField(n int, part string) string { return "env." + strconv.Itoa(n) + "." + part }

// with changes a copy of a field's props.
func with(f ui.FieldProps, change func(*ui.FieldProps)) ui.FieldProps {
	change(&f)
	return f
}

func secretPlaceholder(isStored bool) string {
	if isStored {
		return "stored; empty keeps it"
	}
	return ""
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
func checkMessage(field string, err *environment.Error) string { return fieldErrors(err)[field] }
