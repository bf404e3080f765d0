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

	PrivateKey, Passphrase, Password                   environment.Secret
	RemovePrivateKey, RemovePassphrase, RemovePassword bool

	KnownHosts string
	FirstUse   bool // trust and pin what is presented first

	RequiredTools, MinFreeMB, ProxyJump, KeepAlive, Certificate string
	UseAgent                                                    bool

	Vars []VarValue
}

// VarValue is a variable's row in the form.
type VarValue struct {
	Name   string
	Secret bool
	Value  environment.Secret // rendered only while it is not secret
	Stored string             // the name under which a secret value is stored; "" for none
	Remove bool
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
	for name, ev := range e.EnvVars {
		row := VarValue{Name: name}
		if ev.Type == "plain" {
			row.Value = environment.NewSecret(ev.Value)
		} else {
			row.Secret, row.Stored = true, name
		}
		v.Vars = append(v.Vars, row)
	}
	slices.SortFunc(v.Vars, func(a, b VarValue) int { return strings.Compare(a.Name, b.Name) })
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
	d := environment.Draft{Name: v.Name, Description: optional(v.Description), Driver: v.Driver, EnvVars: v.variables(),
		Config: map[string]json.RawMessage{}}
	if v.Driver != environment.DriverSSH {
		d.Config = nil
		return d
	}
	set := func(key string, value any) {
		raw, err := json.Marshal(value)
		if err != nil {
			panic(err) // only text, numbers and lists of text come here
		}
		d.Config[key] = raw
	}
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
	v.secrets(set)
	return d
}

// secrets sets what was typed, and null for what is to be removed.
func (v FormValues) secrets(set func(string, any)) {
	for _, s := range []struct {
		key    string
		value  environment.Secret
		remove bool
	}{{"privateKey", v.PrivateKey, v.RemovePrivateKey}, {"passphrase", v.Passphrase, v.RemovePassphrase}, {"password", v.Password, v.RemovePassword}} {
		switch {
		case !s.value.Empty():
			set(s.key, s.value.Reveal())
		case s.remove:
			set(s.key, nil)
		}
	}
}

func (v FormValues) variables() map[string]environment.EnvVarDraft {
	vars := make(map[string]environment.EnvVarDraft, len(v.Vars))
	for _, row := range v.Vars {
		if row.Remove || (row.Name == "" && row.Value.Empty()) {
			continue
		}
		d := environment.EnvVarDraft{Type: "plain", Value: row.Value}
		if row.Secret {
			d.Type = "secret"
			d.Keep = row.Value.Empty() && row.Stored == row.Name && row.Stored != ""
		}
		vars[strings.TrimSpace(row.Name)] = d
	}
	return vars
}

// Problem says what is wrong with the rows of variables as such: two of a name,
// where only one could be saved. It is nil when nothing is.
func (v FormValues) Problem() error {
	seen := map[string]bool{}
	for _, row := range v.Vars {
		if row.Remove || row.Name == "" {
			continue
		}
		if seen[row.Name] {
			return environment.InvalidFields([]environment.FieldError{{Field: "envVars." + row.Name, Message: "There are two variables of this name."}})
		}
		seen[row.Name] = true
	}
	return nil
}

// Patch is the change that saving the values makes.
func (v FormValues) Patch() environment.Patch {
	d := v.Draft()
	return environment.Patch{Name: &d.Name, Description: d.Description, SetDescription: true, Driver: &d.Driver, Config: d.Config,
		EnvVars: d.EnvVars, ReplaceEnvVars: true}
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
