package views

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"berth/environment"

	"github.com/google/uuid"
)

// FormValues are the fields of an environment's form, as typed. Names of fields
// are the JSON paths under which errors name them. Secrets are never rendered.
type FormValues struct {
	ID       *uuid.UUID // nil: a new environment
	Revision int        // that the form was made from; 0 for a new one

	Name        string
	Description string
	Driver      string

	Host, Port, Username, Workspace string

	PrivateKey, Passphrase, Password SecretChoice

	KnownHosts string
	FirstUse   bool // trust and pin what is presented first

	RequiredTools, MinFreeMB, ProxyJump, KeepAlive, Certificate string
	UseAgent                                                    bool

	// Provider and Config are of a sandbox: Config has the fields of the provider's
	// schema, each with what was typed.
	Provider string
	Config   []ConfigValue

	Budget   BudgetValues
	Budgeted bool // the form had the fields of the budget

	// OnlyVars is a form in which all but the variables is locked.
	OnlyVars bool

	Vars []VarValue
}

// NewFormValues are those of an empty ssh form.
func NewFormValues() FormValues {
	return FormValues{Driver: environment.DriverSSH, Port: strconv.Itoa(environment.DefaultSSHPort),
		KeepAlive: strconv.Itoa(environment.DefaultKeepAliveSec), MinFreeMB: strconv.Itoa(environment.DefaultMinFreeMB)}
}

// FormValuesOf are those of a saved environment.
func FormValuesOf(e environment.Environment) FormValues {
	v := NewFormValues()
	v.ID, v.Revision, v.Name, v.Description, v.Driver = &e.ID, e.Revision, e.Name, text(e.Description), e.Driver
	if e.Driver == environment.DriverSSH {
		v.readSSH(sshConfig(e))
	}
	if e.Driver == environment.DriverSandbox {
		v.Provider = environment.ProviderOf(e.Config)
	}
	v.Budget, v.Budgeted, v.OnlyVars = budgetValues(e.Budget), true, e.Managed
	for name, ev := range e.EnvVars {
		v.Vars = append(v.Vars, varValueOf(name, ev))
	}
	slices.SortFunc(v.Vars, func(a, b VarValue) int { return strings.Compare(a.Name, b.Name) })
	return v
}

// WithFields has the values of a config, read by the fields of its schema.
func (v FormValues) WithFields(fields []environment.ConfigField, config json.RawMessage) FormValues {
	v.Config = configValues(fields, config)
	return v
}

func (v *FormValues) readSSH(c environment.SSHConfig) {
	v.Host, v.Port, v.Username, v.Workspace = c.Host, strconv.Itoa(c.Port), c.Username, c.RemoteWorkspacePath
	v.KnownHosts, v.FirstUse = text(c.KnownHosts), !c.StrictHostKeyChecking
	v.RequiredTools, v.ProxyJump = strings.Join(c.RequiredTools, " "), text(c.ProxyJump)
	v.KeepAlive, v.MinFreeMB = strconv.Itoa(c.KeepAliveSec), strconv.Itoa(c.MinFreeMB)
	v.Certificate, v.UseAgent = text(c.Certificate), c.UseAgent
}

// Draft is what the values say, for the catalogue and for a test. What is not a
// number where one belongs is passed on as text, so that the driver names the
// field.
func (v FormValues) Draft() environment.Draft {
	d := environment.Draft{Name: v.Name, Description: optional(v.Description), Driver: v.Driver, Config: map[string]json.RawMessage{},
		NewSecrets: map[string]environment.NewCompanySecret{}}
	d.EnvVars = v.variables(d.NewSecrets)
	if v.Budgeted {
		d.Budget = v.Budget.budget()
		d.ClearBudget = d.Budget == nil
	}
	switch v.Driver {
	case environment.DriverSSH:
		v.draftSSH(&d)
	case environment.DriverSandbox:
		v.draftSandbox(&d)
	default:
		d.Config = nil
	}
	return d
}

// setter puts values into the config of a draft.
func setter(d *environment.Draft) func(key string, value any) {
	return func(key string, value any) {
		raw, err := json.Marshal(value)
		if err != nil {
			panic(err) // only text, numbers, lists and maps of text come here
		}
		d.Config[key] = raw
	}
}

func (v FormValues) draftSandbox(d *environment.Draft) {
	set := setter(d)
	set("provider", v.Provider)
	for _, c := range v.Config {
		if c.Field.Secret {
			c.Secret.into(d, c.Field.Name)
		} else {
			set(c.Field.Name, c.draft())
		}
	}
}

func (v FormValues) draftSSH(d *environment.Draft) {
	set := setter(d)
	set("host", v.Host)
	set("port", number(v.Port))
	set("username", v.Username)
	set("remoteWorkspacePath", v.Workspace)
	set("knownHosts", optional(v.KnownHosts))
	set("strictHostKeyChecking", !v.FirstUse)
	set("requiredTools", tools(v.RequiredTools))
	set("minFreeMB", number(v.MinFreeMB))
	set("proxyJump", optional(v.ProxyJump))
	set("keepAliveSec", number(v.KeepAlive))
	set("certificate", optional(v.Certificate))
	set("useAgent", v.UseAgent)
	v.PrivateKey.into(d, "privateKey")
	v.Passphrase.into(d, "passphrase")
	v.Password.into(d, "password")
}

// Problem says what is wrong with the values as such, before anybody else looks
// at them: two variables of a name, of which only one could be saved, and a
// choice of a secret that chooses none. It is nil when nothing is.
func (v FormValues) Problem() error {
	var fields []environment.FieldError
	for _, s := range v.secretFields() {
		if problem := s.choice.problem(); problem != "" && v.Driver == environment.DriverSSH { // a sandbox's are below
			fields = append(fields, environment.FieldError{Field: s.field, Message: problem})
		}
	}
	if v.Driver == environment.DriverSandbox {
		for _, c := range v.Config {
			if problem := c.problem(); problem != "" {
				fields = append(fields, environment.FieldError{Field: c.name(), Message: problem})
			}
		}
	}
	fields = append(fields, v.Budget.problems()...)
	seen := map[string]bool{}
	for _, row := range v.Vars {
		if row.Remove || row.Name == "" {
			continue
		}
		if seen[row.Name] {
			fields = append(fields, environment.FieldError{Field: "envVars." + row.Name, Message: "There are two variables of this name."})
		} else if problem := row.problem(); problem != "" {
			fields = append(fields, environment.FieldError{Field: "envVars." + row.Name, Message: problem})
		}
		seen[row.Name] = true
	}
	return environment.InvalidFields(fields)
}

// secretField is a field of the config that takes a secret.
type secretField struct {
	field, label string
	choice       *SecretChoice
	lines        bool // a value may have several
}

// secretFields are those of the driver's config that take a secret. The choices
// are the values' own.
func (v *FormValues) secretFields() []secretField {
	if v.Driver == environment.DriverSandbox {
		var all []secretField
		for i := range v.Config {
			if c := &v.Config[i]; c.Field.Secret {
				all = append(all, secretField{field: c.name(), label: c.Field.Title, choice: &c.Secret, lines: c.Field.Multiline})
			}
		}
		return all
	}
	return []secretField{{field: "config.privateKey", label: "Private key", choice: &v.PrivateKey},
		{field: "config.passphrase", label: "Passphrase of the key", choice: &v.Passphrase}, {field: "config.password", label: "Password", choice: &v.Password}}
}

// Seal has seal stand in for each value that was typed and must not be rendered,
// so that a refused form loses none.
func (v *FormValues) Seal(seal func(environment.Secret) string) {
	for _, s := range v.secretFields() {
		if !s.choice.Value.Empty() {
			s.choice.Sealed = seal(s.choice.Value)
		}
	}
	sealRows(v.Vars, seal)
}

func sealRows(rows []VarValue, seal func(environment.Secret) string) {
	for i, row := range rows {
		if !row.Value.Empty() && row.shown() == "" {
			rows[i].Sealed = seal(row.Value)
		}
	}
}

// Patch is the change that saving the values makes.
func (v FormValues) Patch() environment.Patch {
	d := v.Draft()
	if v.OnlyVars {
		return environment.Patch{EnvVars: d.EnvVars, ReplaceEnvVars: true, NewSecrets: d.NewSecrets}
	}
	return environment.Patch{Budget: d.Budget, ClearBudget: d.ClearBudget, Name: &d.Name, Description: d.Description, SetDescription: true, Driver: &d.Driver, Config: d.Config,
		EnvVars: d.EnvVars, ReplaceEnvVars: true, NewSecrets: d.NewSecrets}
}

func optional(s string) *string {
	if strings.TrimSpace(s) == "" {
		return nil
	}
	return &s
}

// number is text as a number; the text itself when it is none, null when it is
// empty, so that the default comes back.
func number(s string) any {
	s = strings.TrimSpace(s)
	if s == "" {
		return nil
	}
	if n, err := strconv.Atoi(s); err == nil {
		return n
	}
	return s
}

func tools(s string) []string {
	list := strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == ',' || r == '\n' || r == '\t' || r == '\r' })
	if list == nil {
		return []string{}
	}
	return list
}
