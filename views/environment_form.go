package views

import (
	"fmt"
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
)

// Form is what an environment's form is made from.
type Form struct {
	Values       FormValues
	Saved        *environment.EnvironmentView // nil: a new one
	Capabilities []environment.Capabilities
	MayManage    bool
	Failed       *environment.Error // why the last save was refused; nil: none
	Probe        *environment.Probe // of these values; nil: none
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
	probe   *ProbePanelProps
	pill    pill
}

// staleProps says who changed what since the form was loaded.
type staleProps struct {
	by       string
	at       string
	versions []version
}

// version is a field whose value here is not the saved one.
type version struct{ name, yours, saved string }

// NewEnvironmentForm makes the form.
func NewEnvironmentForm(f Form, now time.Time) EnvironmentFormProps {
	p := EnvironmentFormProps{values: f.Values, saved: f.Saved, errors: fieldErrors(f.Failed)}
	if f.Saved != nil {
		p.config, p.pill = sshConfig(f.Saved.Environment), healthPill(*f.Saved)
	}
	if i := slices.IndexFunc(f.Capabilities, func(c environment.Capabilities) bool { return c.Driver == f.Values.Driver }); i >= 0 {
		p.caps = &f.Capabilities[i]
	}
	p.drivers = driverOptions(f, p.caps != nil)
	p.state = formState(f, p)
	switch p.state {
	case FormRestricted:
		p.cannot = "Only instance admins can change or test environments."
	case FormDriverMissing:
		p.cannot = "The driver " + f.Values.Driver + " is not installed on this server, so nothing can be checked or saved here."
	case FormStale:
		p.stale = newStale(f, now)
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
	case f.Failed != nil && f.Failed.Kind == environment.KindStale:
		return FormStale
	case f.Failed != nil && len(f.Failed.Fields) > 0:
		return FormInvalid
	case f.Failed != nil:
		return FormSaveError
	case f.Saved == nil:
		return FormNew
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
		options = append(options, ui.Option{Value: c.Driver, Label: c.DisplayName})
	}
	if !installed {
		options = append(options, ui.Option{Value: f.Values.Driver, Label: driverName(f.Values.Driver) + " (not installed)"})
	}
	return options
}

func newStale(f Form, now time.Time) staleProps {
	s := staleProps{by: "somebody"}
	if by := fmt.Sprint(f.Failed.Details["changedBy"]); f.Failed.Details["changedBy"] != nil && by != "" {
		s.by = by
	}
	if at, ok := f.Failed.Details["changedAt"].(time.Time); ok {
		s.at = ui.Ago(at, now)
	}
	if f.Saved != nil {
		s.versions = differences(f.Values, FormValuesOf(f.Saved.Environment))
	}
	return s
}

// differences lists the fields in which two forms differ. Secrets are not
// compared: their values are not known here.
func differences(yours, saved FormValues) []version {
	pairs := []version{
		{"Name", yours.Name, saved.Name}, {"Description", yours.Description, saved.Description},
		{"Host", yours.Host, saved.Host}, {"Port", yours.Port, saved.Port}, {"User", yours.Username, saved.Username},
		{"Workspace folder", yours.Workspace, saved.Workspace}, {"Trusted host keys", yours.KnownHosts, saved.KnownHosts},
		{"Jump hosts", yours.ProxyJump, saved.ProxyJump}, {"Required tools", yours.RequiredTools, saved.RequiredTools},
		{"Keep-alive", yours.KeepAlive, saved.KeepAlive}, {"Free disk", yours.MinFreeMB, saved.MinFreeMB},
		{"Variables", varNames(yours), varNames(saved)},
	}
	return slices.DeleteFunc(pairs, func(v version) bool {
		return strings.TrimSpace(v.yours) == strings.TrimSpace(v.saved)
	})
}

// varNames lists variables; plain values are compared through their names' "=".
func varNames(v FormValues) string {
	var parts []string
	for _, row := range v.Vars {
		if row.Name == "" || row.Remove {
			continue
		}
		part := row.Name
		if shown := row.shown(); shown != "" {
			part += "=" + shown
		}
		parts = append(parts, part)
	}
	slices.Sort(parts)
	return strings.Join(parts, "\n")
}

// shown is a variable's value as the form may show it: never one that is secret
// or looks it.
func (v VarValue) shown() string {
	if v.Secret || environment.LooksSecret(v.Name, v.Value.Reveal()) {
		return ""
	}
	return v.Value.Reveal()
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
	for _, name := range formOrder() {
		if p.errors[name] != "" {
			return name
		}
	}
	for name := range p.errors {
		if !strings.HasPrefix(name, "envVars") {
			return name
		}
	}
	return ""
}

// field is a text field of the form with its value, its error and the check
// that runs when it is left.
func (p EnvironmentFormProps) field(name, label, value string) ui.FieldProps {
	return ui.FieldProps{Name: name, Label: label, Value: value, Error: p.errors[name], Autofocus: p.firstBad() == name,
		Attrs: map[string]any{"hx-post": draftsPath + "/check?field=" + name}}
}

// general are errors that belong to no field of the form.
func (p EnvironmentFormProps) general() []string {
	known := append(formOrder(), "config.proxyJump", "config.keepAliveSec", "config.useAgent", "config.strictHostKeyChecking")
	var out []string
	for name, message := range p.errors {
		if !slices.Contains(known, name) && !p.isVar(name) {
			out = append(out, message)
		}
	}
	slices.Sort(out)
	return out
}

func (p EnvironmentFormProps) isVar(field string) bool {
	name, ok := strings.CutPrefix(field, "envVars.")
	return ok && slices.ContainsFunc(p.values.Vars, func(v VarValue) bool { return v.Name == name })
}

func (p EnvironmentFormProps) advancedOpen() bool {
	v := p.values
	return v.ProxyJump != "" || v.Certificate != "" || v.UseAgent || p.errors["config.proxyJump"] != "" ||
		p.errors["config.keepAliveSec"] != "" || p.errors["config.certificate"] != ""
}

// unsaved says that the form holds what was typed and refused.
func (p EnvironmentFormProps) unsaved() bool {
	return p.state == FormInvalid || p.state == FormStale || p.state == FormSaveError
}

// typedSecret says that a secret was typed that the form does not hold any more.
func (p EnvironmentFormProps) typedSecret() bool {
	return !p.values.Password.Empty() || !p.values.Passphrase.Empty()
}
