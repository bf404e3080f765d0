package views

import (
	"slices"
	"strings"

	"berth/environment"
)

// budgetOpen: it stands open where it holds something, or is wrong.
func (p EnvironmentFormProps) budgetOpen() bool {
	return p.values.Budget != BudgetValues{} || errorAt(p.errors, "budget") != ""
}

func (p EnvironmentFormProps) budgetNote() string {
	if line := budgetLine(p.values.Budget.budget()); line != "" {
		return line
	}
	return "no limit"
}

// usageText is what is used today.
func (p EnvironmentFormProps) usageText() string {
	var saved *environment.Budget
	if p.saved != nil {
		saved = p.saved.Budget
	}
	leases, minutes := usageWords(saved, *p.usage)
	text := "In use: " + leases + " leases. Today: " + minutes + " lease-minutes."
	if out := exhaustedWords(saved, *p.usage); out != "" {
		text += " " + out
	}
	return text
}

// hasBudget: whatever is made for a lease can cost something; a host of one's own
// does not, but keeps a budget that it has.
func (p EnvironmentFormProps) hasBudget() bool {
	return p.values.Driver == environment.DriverSandbox || p.values.Budget != BudgetValues{}
}

// lockedText says why all but the variables of the managed sandbox is locked.
func lockedText(v environment.EnvironmentView) string {
	if v.Provisioned {
		return "The instance's own configuration provisions this sandbox (--managed-sandbox), so its settings come from there. Its variables can be changed here."
	}
	return "The instance's own configuration provisioned this sandbox and does not name it any more, so it is locked and has no exception left. Name it again there, or delete it. Its variables can be changed here."
}

// shownKey says whose fields the form shows.
func (p EnvironmentFormProps) shownKey() string {
	return environment.KeyOf(p.values.Driver, p.values.Provider).String()
}

// lockedSettings are the settings of a locked row, to be read.
func (p EnvironmentFormProps) lockedSettings() EnvironmentPageProps {
	return EnvironmentPageProps{view: *p.saved, fields: p.fields, refs: p.refs}
}

// secretParams are the names of what holds a secret, which looks at single fields
// leave out.
func (p EnvironmentFormProps) secretParams() string {
	names := []string{secretParams()}
	for _, s := range p.values.secretFields() {
		if s.field != "config.privateKey" && s.field != "config.passphrase" && s.field != "config.password" {
			names = append(names, s.field, s.field+".new", s.field+".held")
		}
	}
	return strings.Join(names, ",")
}

// formLocked: nothing in it can be changed.
func (p EnvironmentFormProps) formLocked() bool { return p.cannot != "" && !p.switchable() }

// switchable: another provider can be chosen instead of one that cannot be used.
func (p EnvironmentFormProps) switchable() bool {
	return p.saved == nil && p.caps != nil && p.caps.Unsupported != ""
}

// Has reports whether name is a field of the form's schema.
func (v FormValues) Has(name string) bool {
	return slices.ContainsFunc(v.Config, func(c ConfigValue) bool { return c.name() == name })
}

// ImageAt takes the image of a field apart; nil where there is none.
func (v FormValues) ImageAt(name string) *ImagePartsProps {
	for _, c := range v.Config {
		if c.name() == name && c.Field.Name == "image" && c.Field.Role == "image" {
			parts := NewImageParts(c.Text)
			return &parts
		}
	}
	return nil
}

// BackTo are the values with the driver's settings of saved: its driver was
// chosen again.
func (v FormValues) BackTo(saved FormValues) FormValues {
	saved.Revision, saved.Name, saved.Description, saved.Vars = v.Revision, v.Name, v.Description, v.Vars
	if v.Budgeted {
		saved.Budget = v.Budget
	}
	return saved
}
