package views

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"berth/environment"
	"berth/views/ui"
)

// DotEnvReadState is what became of a pasted .env text.
type DotEnvReadState string

// The states of a pasted text.
const (
	DotEnvTaken    DotEnvReadState = "taken"
	DotEnvProblems DotEnvReadState = "problems" // some lines need another look
	DotEnvNothing  DotEnvReadState = "nothing"
)

// DotEnvResult is what became of a pasted .env text: its variables are rows of
// the form.
type DotEnvResult struct {
	state    DotEnvReadState
	added    int
	secret   int
	problems []string
	rows     map[int]string // what is wrong with a row, by its place
}

// TakeDotEnv adds the variables of a pasted text to the rows of a form. What
// looks secret becomes a secret row.
func (v FormValues) TakeDotEnv(vars []environment.DotEnvVar, problems []environment.DotEnvProblem) (FormValues, DotEnvResult) {
	r := DotEnvResult{state: DotEnvTaken, rows: map[int]string{}}
	there := map[string]bool{}
	rows := make([]VarValue, 0, len(v.Vars)+len(vars))
	for _, row := range v.Vars {
		if !row.empty() {
			rows = append(rows, row)
			there[row.Name] = there[row.Name] || !row.Remove
		}
	}
	for _, n := range vars {
		row := VarValue{Name: n.Name, Kind: VarPlain, Value: n.Value}
		if environment.LooksSecret(n.Name, n.Value.Reveal()) && !n.Value.Empty() {
			row.Kind, row.Hint = VarSecret, "It looks secret, so it is stored as one; its value is kept out of sight."
			r.secret++
		}
		switch {
		case n.Problem != "":
			r.rows[len(rows)] = n.Problem
		case there[n.Name]:
			r.rows[len(rows)] = "There is a variable of this name above: remove one of the two."
			problems = append(problems, environment.DotEnvProblem{Line: n.Line, Message: n.Name + ": the form has a variable of this name already."})
		}
		rows = append(rows, row)
		r.added++
	}
	v.Vars = rows
	slices.SortStableFunc(problems, func(a, b environment.DotEnvProblem) int { return a.Line - b.Line })
	for _, p := range problems {
		r.problems = append(r.problems, "Line "+strconv.Itoa(p.Line)+": "+p.Message)
	}
	switch {
	case len(r.problems) > 0:
		r.state = DotEnvProblems
	case r.added == 0:
		r.state = DotEnvNothing
	}
	return v, r
}

func (r DotEnvResult) problemOf(row int) string { return r.rows[row] }

func (r DotEnvResult) tone() ui.Tone {
	switch r.state {
	case DotEnvTaken:
		return ui.OK
	case DotEnvProblems:
		return ui.Warn
	}
	return ui.Plain
}

func (r DotEnvResult) summary() string {
	if r.added == 0 {
		return "No variable was found in the text."
	}
	text := ui.Count(r.added, "variable was added below", "variables were added below")
	if r.secret > 0 {
		text += fmt.Sprintf(", %d as secret", r.secret)
	}
	text += ". Nothing is saved yet."
	if len(r.problems) > 0 {
		text += " These lines need another look:"
	}
	return text
}

// credentialParams are the fields that hold secrets of the config; secretParams
// are all whose values belong into no request but the save and the test.
func credentialParams() string {
	names := make([]string, 0, 12)
	for _, name := range []string{"config.privateKey", "config.passphrase", "config.password"} {
		names = append(names, name, name+".new", name+".held")
	}
	return strings.Join(append(names, "config.generatedKey"), ",")
}

func secretParams() string { return credentialParams() + ",dotenv" }
