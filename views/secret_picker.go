package views

import (
	"strconv"

	"berth/environment"
	"berth/views/ui"

	"github.com/a-h/templ"
)

// SecretPickerState is what a field that takes a secret has now.
type SecretPickerState string

// The states of the picker.
const (
	PickerNone         SecretPickerState = "none"
	PickerOwned        SecretPickerState = "owned"
	PickerShared       SecretPickerState = "shared"
	PickerPinned       SecretPickerState = "pinned"
	PickerMissing      SecretPickerState = "missing"
	PickerDisabled     SecretPickerState = "disabled"
	PickerOtherCompany SecretPickerState = "other-company" // bound to another company than the one worked in
	PickerEmpty        SecretPickerState = "empty"         // nothing stored, and no company has a secret yet
	PickerRestricted   SecretPickerState = "restricted"    // companies' secrets may not be used
)

// SecretField is a field that takes a secret.
type SecretField struct {
	Name   string // "config.password"
	Label  string
	Choice SecretChoice
	Stored *environment.SecretReference // nil: nothing is stored
	Facts  string                       // what may be said of the stored value, "" for nothing
	Error  string
	Focus  bool
	Area   bool // the value is a private key, whose fingerprint takes its place
	Lines  bool // the value has lines
}

// SecretPickerProps chooses a secret: the stored one, one of a company, a new one
// of a company, or a pasted value.
type SecretPickerProps struct {
	state SecretPickerState
	field SecretField
	shelf Shelf
	pill  pill
	fact  string
	note  string
}

// NewSecretPicker makes the picker of a field.
func NewSecretPicker(f SecretField, shelf Shelf) SecretPickerProps {
	p := SecretPickerProps{field: f, shelf: shelf, state: pickerState(f.Stored, shelf)}
	if f.Choice.Source == "" {
		p.field.Choice.Source = SourceKeep
		if f.Stored == nil || !f.Choice.Value.Empty() || f.Choice.Sealed != "" {
			p.field.Choice.Source = SourcePaste
		}
	}
	if f.Stored != nil && f.Choice.SecretID == "" && f.Stored.Shared() {
		p.field.Choice.SecretID, p.field.Choice.Version = f.Stored.Secret.ID.String(), pinnedVersion(*f.Stored)
	}
	p.say(f.Stored)
	return p
}

func pinnedVersion(r environment.SecretReference) string {
	if r.Pinned() {
		return r.Ref.Version
	}
	return ""
}

// pickerState tells the worst of what there is to know.
func pickerState(r *environment.SecretReference, shelf Shelf) SecretPickerState {
	switch {
	case len(shelf.Companies) == 0:
		return PickerRestricted
	case r == nil && shelf.empty():
		return PickerEmpty
	case r == nil:
		return PickerNone
	case r.Missing():
		return PickerMissing
	case r.Secret.Disabled:
		return PickerDisabled
	case !r.Shared():
		return PickerOwned
	case shelf.Working != nil && !r.Of(*shelf.Working):
		return PickerOtherCompany
	case r.Pinned():
		return PickerPinned
	}
	return PickerShared
}

// say puts what is stored into words.
func (p *SecretPickerProps) say(r *environment.SecretReference) {
	switch p.state {
	case PickerEmpty:
		p.note = "No company has a secret yet. A new one is made with the save."
	case PickerRestricted:
		p.note = "Companies' secrets are offered to owners and admins of a company. A pasted value works without."
	case PickerMissing:
		p.note = "What this field refers to is gone, so a test stops with secret_missing. Choose another, or paste a value."
	case PickerDisabled:
		p.note = "Tests and runs stop with secret_disabled until it is enabled on its page."
	case PickerOtherCompany:
		p.note = "Only work of " + r.Company + " can use this environment; the rest is refused with environment_company_mismatch."
	}
	if r == nil {
		return
	}
	p.pill, p.fact = referencePill(*r), referenceFact(*r)
	if p.field.Facts != "" {
		p.fact += " · " + p.field.Facts
	}
}

// referencePill is what is stored, in a word.
func referencePill(r environment.SecretReference) pill {
	switch {
	case r.Missing():
		return pill{ui.Bad, "Missing"}
	case r.Secret.Disabled:
		return pill{ui.Warn, "Disabled"}
	case r.Shared():
		return pill{ui.OK, "Company's secret"}
	}
	return pill{ui.OK, "Stored"}
}

// referenceFact is what is stored, in a few words.
func referenceFact(r environment.SecretReference) string {
	switch {
	case r.Missing():
		return "the secret that it refers to is gone"
	case !r.Shared():
		return "owned by this environment, serves every company"
	case r.Pinned():
		return r.Company + " · " + r.Secret.Name + " · pinned to version " + r.Ref.Version + " of " + strconv.Itoa(r.Secret.LatestVersion)
	}
	return r.Company + " · " + r.Secret.Name + " · latest, version " + strconv.Itoa(r.Secret.LatestVersion)
}

// sourceOption is one way to get a secret.
type sourceOption struct {
	source SecretSource
	label  string
}

func (p SecretPickerProps) sources() []sourceOption {
	var all []sourceOption
	paste := "Paste a value"
	if p.field.Stored != nil {
		all = append(all, sourceOption{SourceKeep, "Keep what is stored"})
		paste = "Paste another value"
	} else if p.field.Choice.Sealed != "" {
		all = append(all, sourceOption{SourceKeep, "None"})
	}
	all = append(all, sourceOption{SourcePaste, paste})
	if len(p.shelf.Companies) > 0 {
		if !p.shelf.empty() {
			all = append(all, sourceOption{SourceChoose, "Company's secret"})
		}
		all = append(all, sourceOption{SourceCreate, "New company secret"})
	}
	if p.field.Stored != nil {
		all = append(all, sourceOption{SourceRemove, "Remove"})
	}
	return all
}

func (p SecretPickerProps) id() string { return "pick" + ui.FieldID(p.field.Name)[1:] }

func (p SecretPickerProps) sourceID(s SecretSource) string {
	return ui.FieldID(p.field.Name + ".source." + string(s))
}

func (p SecretPickerProps) parts() secretParts {
	s := secretParts{prefix: p.field.Name, of: p.field.Label, choice: p.field.Choice, shelf: p.shelf, focus: p.field.Focus}
	if p.field.Error != "" {
		s.bad, s.error = p.field.Choice.refused(), ui.ErrorID(p.field.Name)
	}
	return s
}

// isBad reports whether the value of a source is what was refused.
func (p SecretPickerProps) isBad(source SecretSource) bool {
	return p.field.Error != "" && p.field.Choice.Source == source && p.field.Choice.refused() == partValue
}

// pastePlaceholder says what an empty field means.
func (p SecretPickerProps) pastePlaceholder(source SecretSource, otherwise string) string {
	if p.field.Choice.Sealed != "" && p.field.Choice.Source == source {
		return "typed before; empty keeps that"
	}
	return otherwise
}

// sample is how a value with lines begins; "" where that is not known.
func (p SecretPickerProps) sample() string {
	if p.field.Area {
		return "-----BEGIN OPENSSH PRIVATE KEY-----"
	}
	return ""
}

// secretParts are the fields of a company's secret, in a picker and in a row.
type secretParts struct {
	prefix, of string
	choice     SecretChoice
	shelf      Shelf
	bad        secretPart // what was refused of the choice; "" for nothing
	error      string     // the id of why
	focus      bool
}

// attrs mark the part that was refused, and put the cursor there.
func (s secretParts) attrs(part secretPart) templ.Attributes {
	if s.bad == "" || s.bad != part {
		return nil
	}
	return templ.Attributes{"aria-invalid": "true", "aria-describedby": s.error, "autofocus": s.focus}
}

// chosen is the chosen secret, when the shelf has it.
func (s secretParts) chosen(id string) bool { return id == s.choice.SecretID }

// unknown tells whether a secret is chosen that the shelf does not have.
func (s secretParts) unknown() bool {
	if s.choice.SecretID == "" {
		return false
	}
	for _, c := range s.shelf.Companies {
		for _, secret := range c.Secrets {
			if secret.ID.String() == s.choice.SecretID {
				return false
			}
		}
	}
	return true
}

func (s secretParts) version() string {
	if s.choice.Version == "latest" {
		return ""
	}
	return s.choice.Version
}
