package views

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"berth/environment"
	"berth/views/ui"
)

// EnvironmentFormState is how an environment's form stands.
type EnvironmentFormState string

// The states of the form. Saving and save-error are also set by the script.
const (
	FormNew               EnvironmentFormState = "new"
	FormEdit              EnvironmentFormState = "edit"
	FormCredentialMissing EnvironmentFormState = "credential-missing"
	FormInvalid           EnvironmentFormState = "invalid"
	FormStale             EnvironmentFormState = "stale"
	FormSaving            EnvironmentFormState = "saving"
	FormSaveError         EnvironmentFormState = "save-error"
	FormDriverMissing     EnvironmentFormState = "driver-missing"
	FormRestricted        EnvironmentFormState = "restricted"
	FormDeleted           EnvironmentFormState = "deleted" // somebody deleted what it was to change
	// FormProviderUnavailable is of a provider that is installed and may not be used
	// here: it can be saved, and not be tested.
	FormProviderUnavailable EnvironmentFormState = "provider-unavailable"
	FormManaged             EnvironmentFormState = "managed" // all but the variables is locked
)

// Form is what an environment's form is made from.
type Form struct {
	Values       FormValues
	Saved        *environment.EnvironmentView // nil: a new one
	Capabilities []environment.Capabilities
	MayManage    bool
	Failed       *environment.Error // why the last save was refused; nil: none
	Probe        *environment.Probe // of these values; nil: none
	// References are what the saved row's secret references lead to.
	References map[string]environment.SecretReference
	Shelf      Shelf
	DotEnv     *DotEnvResult // of a pasted text that was just read; nil: none
	Deleted    *Deletion     // of the row that was to be saved; nil: it is there, or new
	// Usage is what of the saved row's budget is used; nil: not known.
	Usage *environment.Usage
	// Switched tells that another driver or provider was chosen, and nothing saved.
	Switched bool
}

// EnvironmentFormProps is the form.
type EnvironmentFormProps struct {
	state   EnvironmentFormState
	values  FormValues
	saved   *environment.EnvironmentView
	config  environment.SSHConfig // what is stored
	errors  map[string]string
	failure string
	remedy  string
	stale   staleProps
	drivers []ui.Option
	caps    *environment.Capabilities
	cannot  string // why it can neither be saved nor tested
	pickers []SecretPickerProps
	shelf   Shelf
	dotEnv  *DotEnvResult
	deleted deletedProps
	probe   *ProbePanelProps
	pill    pill

	providers  []ProviderCardProps
	groups     []settingGroup
	fields     []environment.ConfigField
	refs       map[string]environment.SecretReference
	usage      *environment.Usage
	switched   bool
	locked     string // why all but the variables is locked
	cannotTest string
}

// NewEnvironmentForm makes the form.
func NewEnvironmentForm(f Form, now time.Time) EnvironmentFormProps {
	p := EnvironmentFormProps{values: f.Values.Resolve(f.References), saved: f.Saved, errors: fieldErrors(f.Failed), shelf: f.Shelf, dotEnv: f.DotEnv,
		refs: f.References, usage: f.Usage, switched: f.Switched}
	if f.Saved != nil {
		p.config, p.pill = sshConfig(f.Saved.Environment), healthPill(*f.Saved)
	}
	if i := slices.IndexFunc(f.Capabilities, func(c environment.Capabilities) bool {
		return c.Key() == environment.KeyOf(f.Values.Driver, f.Values.Provider)
	}); i >= 0 {
		p.caps = &f.Capabilities[i]
	}
	p.drivers = driverOptions(f, p.caps != nil)
	p.providers = providerCards(f)
	for _, v := range p.values.Config {
		p.fields = append(p.fields, v.Field)
	}
	if p.values.Driver == environment.DriverSSH {
		for _, s := range p.values.secretFields() {
			p.pickers = append(p.pickers, p.picker(s, f.References, f.Shelf))
		}
	} else {
		p.groups = p.settingGroups(f.References)
	}
	p.state = formState(f, p)
	if f.Saved != nil && f.Saved.Managed {
		p.locked = lockedText(*f.Saved)
	}
	switch p.state {
	case FormRestricted:
		p.cannot = "Only instance admins can change or test environments."
	case FormDriverMissing:
		p.cannot = strings.TrimSuffix(environment.NotInstalled(environment.KeyOf(f.Values.Driver, f.Values.Provider)).Message, ".") + ", so nothing can be checked or saved here."
	case FormStale:
		p.stale = newStale(f, now)
	case FormDeleted:
		p.deleted = newDeleted(f, now)
	}
	p.cannotTest = p.cannot
	if p.cannot == "" && p.caps != nil && p.caps.Unsupported != "" {
		p.cannotTest = p.caps.Unsupported
		if f.Saved == nil {
			p.cannot = p.caps.Unsupported
		}
	}
	if f.Failed != nil {
		p.failure, p.remedy = f.Failed.Message, f.Failed.Remediation
	}
	if f.Probe != nil {
		panel := NewProbePanel(*f.Probe, 0, f.MayManage, now)
		p.probe = &panel
	}
	return p
}

func formState(f Form, p EnvironmentFormProps) EnvironmentFormState {
	switch {
	case !f.MayManage:
		return FormRestricted
	case p.caps == nil:
		return FormDriverMissing
	case f.Deleted != nil:
		return FormDeleted
	case f.Failed != nil && f.Failed.Kind == environment.KindStale:
		return FormStale
	case f.Failed != nil && len(f.Failed.Fields) > 0:
		return FormInvalid
	case f.Failed != nil:
		return FormSaveError
	case p.caps.Unsupported != "":
		return FormProviderUnavailable
	case f.Saved == nil:
		return FormNew
	case f.Saved.Managed:
		return FormManaged
	case f.Saved.Driver == environment.DriverSSH && !hasCredential(p.config):
		return FormCredentialMissing
	}
	return FormEdit
}

// Saving is the form while a save is on its way.
func (p EnvironmentFormProps) Saving() EnvironmentFormProps {
	p.state = FormSaving
	return p
}

func hasCredential(c environment.SSHConfig) bool {
	return c.PrivateKeySecretRef != nil || c.PasswordSecretRef != nil || c.UseAgent
}

// driverOptions offers what can be chosen: local only to what is local already,
// and a driver that is gone only to what has it.
func driverOptions(f Form, installed bool) []ui.Option {
	var options []ui.Option
	for _, c := range f.Capabilities {
		if c.Driver == environment.DriverLocal && f.Values.Driver != environment.DriverLocal {
			continue
		}
		if f.Values.Driver == environment.DriverLocal && c.Driver != environment.DriverLocal {
			continue // the one local row stays local
		}
		if slices.ContainsFunc(options, func(o ui.Option) bool { return o.Value == c.Driver }) {
			continue // another provider of it
		}
		options = append(options, ui.Option{Value: c.Driver, Label: driverName(c.Driver)})
	}
	if !installed && !slices.ContainsFunc(options, func(o ui.Option) bool { return o.Value == f.Values.Driver }) {
		options = append(options, ui.Option{Value: f.Values.Driver, Label: driverName(f.Values.Driver) + " (not installed)"})
	}
	return options
}

func (p EnvironmentFormProps) title() string {
	if p.saved == nil {
		return "Add environment"
	}
	return p.saved.Name
}

func (p EnvironmentFormProps) action() string {
	if p.saved == nil {
		return Environments
	}
	return EnvironmentPath(p.saved.ID)
}

func (p EnvironmentFormProps) back() string {
	if p.saved == nil {
		return Environments
	}
	return EnvironmentPath(p.saved.ID)
}

func (p EnvironmentFormProps) id() string {
	if p.saved == nil {
		return ""
	}
	return p.saved.ID.String()
}

// revision is what the next save expects: after a stale one, the saved row's,
// since both versions were shown.
func (p EnvironmentFormProps) revision() string {
	if p.state == FormStale && p.saved != nil {
		return strconv.Itoa(p.saved.Revision)
	}
	return strconv.Itoa(p.values.Revision)
}

func (p EnvironmentFormProps) saveLabel() string {
	switch {
	case p.state == FormStale:
		return "Save mine over it"
	case p.state == FormDeleted:
		return "Save as new"
	case p.saved == nil:
		return "Save environment"
	}
	return "Save changes"
}

// CheckedFields are the fields that can be looked at one by one.
func CheckedFields() []string {
	return append(formOrder(), "config.proxyJump", "config.keepAliveSec")
}

// formOrder is the order of the fields on the form.
func formOrder() []string {
	return []string{"name", "description", "driver", "config.host", "config.port", "config.username", "config.privateKey", "config.passphrase",
		"config.password", "config.certificate", "config.knownHosts", "config.remoteWorkspacePath", "config.requiredTools", "config.minFreeMB"}
}

// firstBad is the first field with an error, in the order of the form.
func (p EnvironmentFormProps) firstBad() string {
	for _, name := range p.order() {
		if ofSecret(p.errors, name) != "" || errorAt(p.errors, name) != "" {
			return name
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.errors)) {
		if !strings.Contains(name, "envVars") {
			return name
		}
	}
	return ""
}

// order is formOrder for the driver of the form.
func (p EnvironmentFormProps) order() []string {
	if p.values.Driver != environment.DriverSandbox {
		return append(formOrder(), budgetFields()...)
	}
	names := []string{"name", "description", "driver", "config.provider"}
	for _, v := range p.values.Config {
		names = append(names, v.name())
	}
	return append(names, budgetFields()...)
}

func budgetFields() []string {
	return []string{"budget.accountLabel", "budget.maxLeases", "budget.leaseMinutesPerDay", "budget.note"}
}

// field is a text field of the form with its value, its error and the check
// that runs when it is left.
func (p EnvironmentFormProps) field(name, label, value string) ui.FieldProps {
	return ui.FieldProps{Name: name, Label: label, Value: value, Error: p.errors[name], Autofocus: p.firstBad() == name,
		Attrs: map[string]any{"hx-post": draftsPath + "/check?field=" + name}}
}

// general are errors that belong to no field of the form.
func (p EnvironmentFormProps) general() []string {
	known := append(p.order(), "config.proxyJump", "config.keepAliveSec", "config.useAgent", "config.strictHostKeyChecking")
	var out []string
	for name, message := range p.errors {
		if !slices.Contains(known, name) && !p.isVar(name) && !p.isSecret(name) && !p.values.fieldsKnown(name) {
			out = append(out, message)
		}
	}
	slices.Sort(out)
	return out
}

func (p EnvironmentFormProps) isVar(field string) bool {
	return slices.ContainsFunc(p.values.Vars, func(v VarValue) bool {
		return ofSecret(map[string]string{field: field}, "envVars."+v.Name) != ""
	})
}

func (p EnvironmentFormProps) isSecret(field string) bool {
	return slices.ContainsFunc(p.values.secretFields(), func(s secretField) bool {
		return ofSecret(map[string]string{field: field}, s.field) != ""
	})
}

func (p EnvironmentFormProps) advancedOpen() bool {
	v := p.values
	return v.ProxyJump != "" || v.Certificate != "" || v.UseAgent || p.errors["config.proxyJump"] != "" ||
		p.errors["config.keepAliveSec"] != "" || p.errors["config.certificate"] != ""
}

// unsaved says that the form holds what was typed and refused.
func (p EnvironmentFormProps) unsaved() bool {
	return p.switched || p.state == FormInvalid || p.state == FormStale || p.state == FormSaveError || p.state == FormDeleted
}

// keptSecret says that a secret was typed that the form does not show.
func (p EnvironmentFormProps) keptSecret() bool { return p.values.sealed() }
