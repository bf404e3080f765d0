package views

import (
	"slices"
	"strings"

	"berth/environment"
)

// VarKind is what a variable's row holds.
type VarKind string

// The kinds of rows.
const (
	VarPlain  VarKind = "plain"
	VarSecret VarKind = "secret" // owned by the environment
	VarChosen VarKind = "choose" // a company's secret
	VarFresh  VarKind = "create" // a new secret of a company
)

// VarValue is a variable's row in the form. The zero kind is plain.
type VarValue struct {
	Name   string
	Kind   VarKind
	Value  environment.Secret // rendered only while it is plain and does not look secret
	Sealed string             // stands for a value that is not rendered
	Stored string             // the name under which a secret value is stored; "" for none
	Remove bool

	SecretID, Version string // chosen
	CompanyID, Title  string // fresh

	Reference *environment.SecretReference // what is stored leads to; nil: nothing, or not known
	Hint      string                       // what to know of the row
}

// varValueOf is the row of a saved variable.
func varValueOf(name string, v environment.EnvVar) VarValue {
	if v.Ref == nil {
		return VarValue{Name: name, Kind: VarPlain, Value: environment.NewSecret(v.Value)}
	}
	return VarValue{Name: name, Kind: VarSecret, Stored: name}
}

// Resolve tells the rows of a form what the stored references lead to: one to a
// company's secret is shown as that choice.
func (v FormValues) Resolve(refs map[string]environment.SecretReference) FormValues {
	v.Vars, v.Config = slices.Clone(v.Vars), slices.Clone(v.Config)
	for i, row := range v.Vars {
		ref, stored := refs["envVars."+row.Stored]
		if row.Stored == "" || !stored {
			continue
		}
		v.Vars[i].Reference = &ref
		if ref.Shared() && row.Kind == VarSecret && row.Value.Empty() && row.Sealed == "" {
			v.Vars[i].Kind, v.Vars[i].SecretID, v.Vars[i].Version = VarChosen, ref.Secret.ID.String(), pinnedVersion(ref)
		}
	}
	return v
}

// choice is the row as a choice of a secret.
func (v VarValue) choice() SecretChoice {
	c := SecretChoice{Value: v.Value, Sealed: v.Sealed, SecretID: v.SecretID, Version: v.Version, CompanyID: v.CompanyID, Title: v.Title}
	switch v.Kind {
	case VarChosen:
		c.Source = SourceChoose
	case VarFresh:
		c.Source = SourceCreate
	}
	return c
}

func (v VarValue) problem() string { return v.choice().problem() }

// empty tells that nothing was typed into a row.
func (v VarValue) empty() bool { return v.Name == "" && v.Value.Empty() && v.Sealed == "" }

// shown is a variable's value as the form may show it: never one that is secret
// or looks it.
func (v VarValue) shown() string {
	if v.Kind != VarPlain && v.Kind != "" || environment.LooksSecret(v.Name, v.Value.Reveal()) {
		return ""
	}
	return v.Value.Reveal()
}

// variables are the rows as a draft has them; new companies' secrets go to fresh.
func (v FormValues) variables(fresh map[string]environment.NewCompanySecret) map[string]environment.EnvVarDraft {
	vars := make(map[string]environment.EnvVarDraft, len(v.Vars))
	for _, row := range v.Vars {
		if row.Remove || row.empty() {
			continue
		}
		d := environment.EnvVarDraft{Type: "plain", Value: row.Value}
		switch row.Kind {
		case VarSecret:
			d.Type = "secret"
			d.Keep = row.Value.Empty() && row.Stored == row.Name && row.Stored != ""
		case VarChosen:
			d = environment.EnvVarDraft{Type: "secret_ref"}
			if ref, problem := row.choice().ref(); problem == "" {
				d.Ref = &ref
			}
		case VarFresh:
			d = environment.EnvVarDraft{Type: "secret_ref"}
			if n, problem := row.choice().fresh(); problem == "" {
				fresh["envVars."+row.Name] = n
			}
		}
		vars[strings.TrimSpace(row.Name)] = d
	}
	return vars
}

// sealed tells whether something stands for a value that was typed.
func (v FormValues) sealed() bool {
	for _, s := range v.secretFields() {
		if s.choice.Sealed != "" {
			return true
		}
	}
	return slices.ContainsFunc(v.Vars, func(row VarValue) bool { return row.Sealed != "" })
}
