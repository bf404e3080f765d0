package handlers

import (
	"net/url"
	"strings"

	"berth/environment"
	"berth/views"
)

// formSecrets reads the pickers and the rows of variables. What stands for a
// value that was typed before is opened; an error says at which field that did
// not work, after everything was read.
func (s *server) formSecrets(f url.Values, v *views.FormValues) error {
	var lost lostSecrets
	for i, c := range v.Config {
		if c.Field.Secret {
			v.Config[i].Secret = s.secretChoice(f, "config."+c.Field.Name, &lost)
		}
	}
	if v.Driver == environment.DriverSandbox {
		v.Vars = s.formVars(f, "envVars.", &lost)
		return lost.err()
	}
	for field, choice := range map[string]*views.SecretChoice{
		"config.privateKey": &v.PrivateKey, "config.passphrase": &v.Passphrase, "config.password": &v.Password,
	} {
		*choice = s.secretChoice(f, field, &lost)
	}
	if sealed := f.Get("config.generatedKey"); sealed != "" && v.PrivateKey.Value.Empty() &&
		(v.PrivateKey.Source == views.SourcePaste || v.PrivateKey.Source == "") {
		v.PrivateKey.Value = s.reopen(sealed, "config.privateKey", &lost)
	}
	v.Vars = s.formVars(f, "envVars.", &lost)
	return lost.err()
}

// secretChoice reads one picker.
func (s *server) secretChoice(f url.Values, field string, lost *lostSecrets) views.SecretChoice {
	c := views.SecretChoice{Source: views.SecretSource(f.Get(field + ".source")), SecretID: f.Get(field + ".secret"),
		Version: strings.TrimSpace(f.Get(field + ".version")), CompanyID: f.Get(field + ".company"), Title: f.Get(field + ".title")}
	switch c.Source {
	case views.SourceCreate:
		c.Value = secretOf(f, field+".new")
	case views.SourcePaste, "":
		c.Value = secretOf(f, field)
	case views.SourceKeep, views.SourceChoose, views.SourceRemove:
		return c
	default:
		c.Source = views.SourceKeep
		return c
	}
	if sealed := f.Get(field + ".held"); sealed != "" && c.Value.Empty() {
		c.Value = s.reopen(sealed, field, lost)
	}
	return c
}

// reopen opens what stands for a value that was typed before.
func (s *server) reopen(sealed, field string, lost *lostSecrets) environment.Secret {
	value, err := s.newKeys.open(sealed, field)
	if err != nil {
		*lost = append(*lost, err)
	}
	return value
}

// lostSecrets are the errors of what could not be opened again.
type lostSecrets []error

// err is one error that names every field; nil when nothing was lost.
func (l lostSecrets) err() error {
	if len(l) == 0 {
		return nil
	}
	whole := *environment.AsError(l[0])
	for _, err := range l[1:] {
		whole.Fields = append(whole.Fields, environment.AsError(err).Fields...)
	}
	return &whole
}

// formVars reads the rows of variables. Errors name a variable behind field.
func (s *server) formVars(f url.Values, field string, lost *lostSecrets) []views.VarValue {
	var vars []views.VarValue
	for i := range maxFormRows {
		part := func(name string) string { return f.Get(views.VarField(i, name)) }
		if !f.Has(views.VarField(i, "name")) {
			break
		}
		row := views.VarValue{Name: strings.TrimSpace(part("name")), Kind: varKind(part("type")), Value: environment.NewSecret(lines(part("value"))),
			Stored: part("stored"), Remove: f.Has(views.VarField(i, "remove")),
			SecretID: part("secret"), Version: strings.TrimSpace(part("version")), CompanyID: part("company"), Title: part("title")}
		if sealed := part("held"); sealed != "" && row.Value.Empty() && row.Kind != views.VarChosen {
			row.Value = s.reopen(sealed, field+row.Name, lost)
		}
		vars = append(vars, row)
	}
	return vars
}

func varKind(text string) views.VarKind {
	switch kind := views.VarKind(text); kind {
	case views.VarSecret, views.VarChosen, views.VarFresh:
		return kind
	}
	return views.VarPlain
}
