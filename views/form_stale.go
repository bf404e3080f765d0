package views

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"berth/environment"
	"berth/views/ui"
)

// staleProps says who changed what since the form was loaded.
type staleProps struct {
	by       string
	at       string
	versions []version
}

// version is a field whose value here is not the saved one.
type version struct{ name, yours, saved string }

func newStale(f Form, now time.Time) staleProps {
	s := staleProps{by: "somebody"}
	if by := fmt.Sprint(f.Failed.Details["changedBy"]); f.Failed.Details["changedBy"] != nil && by != "" {
		s.by = by
	}
	if at, ok := f.Failed.Details["changedAt"].(time.Time); ok {
		s.at = ui.Ago(at, now)
	}
	if f.Saved != nil {
		changed, _ := f.Failed.Details["changedFields"].([]string)
		s.versions = differences(f.Values, savedValues(f).Resolve(f.References), changed)
	}
	return s
}

// differences lists the fields in which two forms differ. Values of secrets are
// not known here: of one it is said where it is from, and whether somebody
// changed it, which changed tells.
func differences(yours, saved FormValues, changed []string) []version {
	pairs := []version{
		{"Name", yours.Name, saved.Name}, {"Description", yours.Description, saved.Description},
		{"Host", yours.Host, saved.Host}, {"Port", yours.Port, saved.Port}, {"User", yours.Username, saved.Username},
		{"Workspace folder", yours.Workspace, saved.Workspace}, {"Trusted host keys", yours.KnownHosts, saved.KnownHosts},
		{"Jump hosts", yours.ProxyJump, saved.ProxyJump}, {"Required tools", yours.RequiredTools, saved.RequiredTools},
		{"Keep-alive", yours.KeepAlive, saved.KeepAlive}, {"Free disk", yours.MinFreeMB, saved.MinFreeMB},
		{"Variables", varNames(yours, nil), varNames(saved, changed)},
	}
	pairs = append(pairs, settingPairs(yours, saved)...)
	for _, s := range yours.secretFields() {
		pairs = append(pairs, version{s.label, s.choice.words(), savedWords(s.field, changed)})
	}
	pairs = slices.DeleteFunc(pairs, func(v version) bool {
		return strings.TrimSpace(v.yours) == strings.TrimSpace(v.saved)
	})
	for i, v := range pairs {
		pairs[i].yours, pairs[i].saved = orNone(v.yours), orNone(v.saved)
	}
	return pairs
}

// savedValues are those of the saved row, by the fields of the form.
func savedValues(f Form) FormValues {
	var fields []environment.ConfigField
	for _, v := range f.Values.Config {
		fields = append(fields, v.Field)
	}
	return FormValuesOf(f.Saved.Environment).WithFields(fields, f.Saved.Config)
}

// settingPairs compare the settings of a schema, and the budget.
func settingPairs(yours, saved FormValues) []version {
	pairs := []version{
		{"Provider", providerName(yours.Provider), providerName(saved.Provider)},
		{"Account", yours.Budget.AccountLabel, saved.Budget.AccountLabel}, {"Most leases", yours.Budget.MaxLeases, saved.Budget.MaxLeases},
		{"Lease-minutes a day", yours.Budget.MinutesPerDay, saved.Budget.MinutesPerDay}, {"Note", yours.Budget.Note, saved.Budget.Note},
	}
	if !yours.Budgeted {
		pairs = pairs[:1]
	}
	for i, v := range yours.Config {
		if !v.Field.Secret && i < len(saved.Config) {
			pairs = append(pairs, version{v.Field.Title, v.words(), saved.Config[i].words()})
		}
	}
	return pairs
}

func orNone(value string) string {
	if strings.TrimSpace(value) == "" {
		return "none"
	}
	return value
}

const unchanged = "not changed"

// words say what a choice does with what is stored.
func (c SecretChoice) words() string {
	switch {
	case c.Source == SourceRemove:
		return "removed"
	case c.Source == SourceChoose:
		return "a company's secret"
	case c.Source == SourceCreate:
		return "a new company secret"
	case c.Source != SourceKeep && (!c.Value.Empty() || c.Sealed != ""):
		return "changed"
	}
	return unchanged
}

func savedWords(field string, changed []string) string {
	if slices.Contains(changed, field) || slices.Contains(changed, field+"SecretRef") {
		return "changed"
	}
	return unchanged
}

// varNames lists the variables of a form to compare two of them: a plain value
// after its "=", of a secret one where it is from. changed are fields that
// somebody changed.
func varNames(v FormValues, changed []string) string {
	var parts []string
	for _, row := range v.Vars {
		if row.Name == "" || row.Remove {
			continue
		}
		part := row.Name
		switch shown := row.shown(); {
		case shown != "":
			part += "=" + shown
		case row.Kind == VarPlain || row.Kind == "":
		case slices.Contains(changed, "envVars."+row.Name), !row.Value.Empty(), row.Sealed != "", row.Kind == VarFresh:
			part += " (secret, changed)"
		}
		parts = append(parts, part)
	}
	slices.Sort(parts)
	return strings.Join(parts, "\n")
}

// ofSecret is what an error says of a field that takes a secret: of its value,
// of its reference, or of the company's secret that it would make.
func ofSecret(errors map[string]string, field string) string {
	for _, name := range []string{field, field + "SecretRef"} {
		if errors[name] != "" {
			return errors[name]
		}
	}
	for _, name := range slices.Sorted(maps.Keys(errors)) {
		if made := "newSecrets." + field; name == made || strings.HasPrefix(name, made+".") {
			return errors[name]
		}
	}
	return ""
}

// picker makes the picker of a field of the config.
func (p EnvironmentFormProps) picker(s secretField, refs map[string]environment.SecretReference, shelf Shelf) SecretPickerProps {
	f := SecretField{Name: s.field, Label: s.label, Choice: *s.choice, Error: ofSecret(p.errors, s.field), Area: s.field == "config.privateKey", Lines: s.lines}
	if ref, stored := refs[s.field]; stored {
		f.Stored = &ref
	}
	if f.Area && p.config.KeyFingerprint != nil {
		f.Facts = strings.TrimSpace(text(p.config.KeyType) + " " + *p.config.KeyFingerprint)
	}
	f.Focus = p.firstBad() == s.field
	return NewSecretPicker(f, shelf)
}
